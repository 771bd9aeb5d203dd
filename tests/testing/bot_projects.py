"""Projects of bots, whose tests run in a process of their own."""

from pathlib import Path

import pytest

from tests.support.separate_runs import PLUGIN_SOURCE, PLUGINS

_BOT = Path(__file__).with_name("sample_bot.py")
INI = f"""
[pytest]
anyio_mode = auto
addopts = {" ".join(PLUGINS)}
filterwarnings =
    error
    ignore:'audioop' is deprecated:DeprecationWarning
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with a bot of discord.py, whose tests anyio runs on asyncio."""
    pytester.makeini(INI)
    pytester.makepyfile(mybot=_BOT.read_text(encoding="utf-8"))
    pytester.makeconftest("import pytest\n@pytest.fixture\ndef anyio_backend(): return 'asyncio'\n")
    pytester.syspathinsert()
    monkeypatch.setenv("PYTHONPATH", PLUGIN_SOURCE)
    return pytester


def run(project: pytest.Pytester, source: str, *arguments: str, **outcomes: int) -> pytest.RunResult:
    """Run a file of tests and check how many passed, failed and so on."""
    project.makepyfile(test_bot=source)
    result = project.runpytest_subprocess(*arguments, timeout=110)
    result.assert_outcomes(**outcomes)
    return result
