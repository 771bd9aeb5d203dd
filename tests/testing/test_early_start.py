"""When the plugin starts and ends the server, in runs of pytest of its own."""

import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.separate_runs import PLUGIN_SOURCE, PLUGINS

pytest_plugins = ["pytester"]

_NOTING: Final = """
import pathlib
from moothall_testing import server_process

EVENTS = pathlib.Path(__file__).with_name("events.txt")

def note(event):
    with EVENTS.open("a") as file:
        file.write(event + "\\n")

class NotedServer(server_process.ServerProcess):
    def __init__(self, *arguments, **options):
        note("started")
        super().__init__(*arguments, **options)

    def close(self):
        super().close()
        assert self._process.returncode is not None
        note("ended")

server_process.ServerProcess = NotedServer
"""
_AT: Final = PLUGINS.index("no:cacheprovider")
_OPTIONS: Final = (*PLUGINS[: _AT - 1], *PLUGINS[_AT + 1 :], "-p", "noting")
_BOT_TEST: Final = "import noting; noting.note('tests')\ndef test_it(moothall, alice): assert alice.name == 'alice'\n"
_GUILD_TEST: Final = "import noting; noting.note('tests')\ndef test_it(guild): assert guild.name == 'Guild'\n"
"""Its text does not say whose fixture it takes."""
_AT_ONCE: Final = ["started", "conftest", "tests", "ended"]
_WITH_THE_FILE: Final = ["conftest", "started", "tests", "ended"]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project that notes when its modules are imported and its server starts and ends."""
    # Set where this test runs in one of several processes, of which the project's knows nothing.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    pytester.makeini("[pytest]\nfilterwarnings = error\n")
    pytester.makepyfile(noting=_NOTING)
    pytester.makeconftest("import noting; noting.note('conftest')")
    pytester.syspathinsert()
    monkeypatch.setenv("PYTHONPATH", PLUGIN_SOURCE)
    return pytester


def events(project: pytest.Pytester, *arguments: str, **outcomes: int) -> list[str]:
    """Run the tests and check how many passed, failed and so on; returns what happened, in order."""
    path = project.path / "events.txt"
    path.unlink(missing_ok=True)
    # Not runpytest_subprocess: it adds an argument that is never the same.
    result = project.run(sys.executable, "-m", "pytest", *_OPTIONS, *arguments, timeout=110)
    if outcomes:
        result.assert_outcomes(**outcomes)
    return path.read_text(encoding="utf-8").splitlines()


def test_the_server_starts_before_anything_is_imported_if_the_text_of_a_test_takes_its_fixtures(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(test_bot=_BOT_TEST)

    assert events(project, passed=1) == _AT_ONCE
    assert events(project, "test_bot.py::test_it", passed=1) == _AT_ONCE


def test_the_text_of_a_conftest_above_counts_as_well(project: pytest.Pytester) -> None:
    bot = "import noting, pytest; noting.note('conftest')\n@pytest.fixture\ndef bot(moothall): return 1\n"
    project.makeconftest(bot)
    folder = project.mkdir("bots")
    (folder / "test_bot.py").write_text("import noting; noting.note('tests')\ndef test_it(bot, bob): pass\n")

    assert events(project, passed=1) == _AT_ONCE


def test_only_files_that_the_run_collects_count(project: pytest.Pytester) -> None:
    project.makepyfile(test_other="def test_other(): pass", bot_parts=_BOT_TEST)
    for name in ("node_modules", "bots"):
        (project.mkdir(name) / "test_bot.py").write_text(_BOT_TEST)

    assert events(project, "--ignore", "bots", "test_other.py", passed=1) == ["conftest"]
    assert events(project, "bot_parts.py", passed=1) == _AT_ONCE
    (project.path / "bots" / "test_bot.py").unlink()
    assert events(project, passed=1) == ["conftest"]


def test_in_a_project_of_many_files_the_server_starts_when_the_first_is_imported_that_takes_its_fixtures(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(**{f"test_a{number:03}": "" for number in range(100)}, test_bot=_BOT_TEST)

    assert events(project, passed=1) == _WITH_THE_FILE


def test_a_server_that_the_text_does_not_promise_starts_when_a_test_is_collected(project: pytest.Pytester) -> None:
    project.makepyfile(test_bot=_GUILD_TEST)

    assert events(project, passed=1) == ["conftest", "tests", "started", "ended"]


def test_a_project_with_fixtures_of_the_same_names_starts_no_server(project: pytest.Pytester) -> None:
    own = "import pytest\n@pytest.fixture\ndef guild(): return 1\n"
    project.makepyfile(test_own=f"{own}def test_moothall(guild): assert guild == 1, 'moothall'\n")

    assert events(project, passed=1) == ["conftest"]


def test_a_run_with_the_arguments_of_one_that_used_the_server_starts_it_at_once(project: pytest.Pytester) -> None:
    project.makepyfile(test_bot=_GUILD_TEST, test_other="def test_other(): pass")

    assert events(project, "test_bot.py", passed=1) == ["conftest", "tests", "started", "ended"]
    assert events(project, "test_bot.py", passed=1) == _AT_ONCE
    assert events(project, "test_other.py", passed=1) == ["conftest"]
    project.makepyfile(test_bot="def test_none(): pass")
    assert events(project, "test_bot.py", passed=1) == ["started", "conftest", "ended"]
    assert events(project, "test_bot.py", passed=1) == ["conftest"]


def test_a_server_that_no_test_needs_in_the_end_is_ended_too(project: pytest.Pytester) -> None:
    project.makepyfile(test_bot=_BOT_TEST)

    assert events(project, "-k", "none", deselected=1) == _AT_ONCE
    assert events(project, passed=1) == _AT_ONCE
    project.makepyfile(test_bot=f"{_BOT_TEST}raise ValueError")
    assert events(project, errors=1) == _AT_ONCE
    project.makeconftest("import noting; noting.note('conftest'); raise ValueError")
    assert events(project) == ["started", "conftest", "ended"]


@pytest.mark.parametrize(
    ("argument", "imported"),
    [
        ("--collect-only", ["conftest", "tests"]),
        ("--fixtures", ["conftest", "tests"]),
        ("--help", ["conftest"]),
        ("--markers", ["conftest"]),
    ],
)
def test_runs_without_tests_start_no_server(project: pytest.Pytester, argument: str, imported: list[str]) -> None:
    project.makepyfile(test_bot=_BOT_TEST)

    assert events(project, argument) == imported


def test_of_several_processes_only_those_that_run_tests_start_servers(project: pytest.Pytester) -> None:
    project.makepyfile(test_bot=_BOT_TEST)

    for _ in range(2):
        happened = events(project, "-n", "1", passed=1)
        assert happened == ["conftest", *_WITH_THE_FILE]


def test_a_run_without_a_cache_remembers_nothing(project: pytest.Pytester) -> None:
    project.makepyfile(test_bot=_GUILD_TEST)

    for _ in range(2):
        happened = events(project, "-p", "no:cacheprovider", passed=1)
        assert happened == ["conftest", "tests", "started", "ended"]
    assert not Path(project.path / ".pytest_cache").exists()
