"""Every code block of the documentation is run, parsed, or named here with the reason why it is not."""

import ast
import configparser
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest
import yaml

from moothall.cli import cli
from moothall.settings import TABLE
from tests.support.separate_runs import PLUGIN_SOURCE, PLUGINS
from tests.support.suites import leave_out

pytest_plugins = ["pytester"]

_ROOT = Path(__file__).parents[2]
_PAGES = [
    *sorted(_ROOT.glob("*.md")),
    *sorted((_ROOT / "docs").rglob("*.md")),
    *sorted(_ROOT.glob("packages/*/README.md")),
    *sorted(_ROOT.glob("examples/**/README.md")),
    _ROOT / "web" / "README.md",
]
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_NOT_CHECKED = {
    "": "what a program prints",
    "text": "what a program prints, or a file of another program",
    "mermaid": "drawn by the site, whose build fails where it is none",
    "http": "a request on the wire, shown in the order in which it is read",
    "go": "tests/clients runs this library with the same two lines",
    "caddyfile": "needs Caddy, which is installed nowhere here",
    "nginx": "needs nginx, which is installed nowhere here",
}
_SETTINGS = {"docs/operations.md", "docs/themes.md"}
"""Pages whose blocks of TOML are files of settings."""


class Block(NamedTuple):
    """A code block and where it begins."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def _blocks() -> Iterator[Block]:
    for path in _PAGES:
        text = path.read_text(encoding="utf-8")
        for match in _FENCE.finditer(text):
            indent, language, code = match.groups()
            code = "".join(line.removeprefix(indent) for line in code.splitlines(keepends=True))
            line = text.count("\n", 0, match.start()) + 1
            yield Block(path.relative_to(_ROOT).as_posix(), line, language, code)


BLOCKS = list(_blocks())


def _of(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


def test_every_language_is_checked_or_has_a_reason() -> None:
    checked = {"py", "python", "json", "yaml", "toml", "ini", "sh", "js", "css", "diff"}

    assert len(BLOCKS) > 100
    assert {block.language for block in BLOCKS} <= checked | set(_NOT_CHECKED)
    assert checked.isdisjoint(_NOT_CHECKED)


@pytest.mark.parametrize("block", _of("py", "python"), ids=str)
def test_python_is_python(block: Block) -> None:
    compile(block.text, str(block), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("block", _of("json", "yaml", "toml", "ini"), ids=str)
def test_data_is_data_and_settings_are_settings(block: Block) -> None:
    if block.language == "json":
        json.loads(block.text)
    elif block.language == "yaml":
        assert yaml.safe_load(block.text)
    elif block.language == "ini":
        configparser.ConfigParser(interpolation=None).read_string(block.text)
    else:
        names = set(tomllib.loads(block.text))
        if block.page in _SETTINGS:
            assert names <= set(TABLE)


@pytest.mark.parametrize("block", _of("sh"), ids=str)
def test_shell_is_shell_and_its_commands_take_their_arguments(block: Block) -> None:
    checked = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)

    assert checked.stderr == ""
    for words in _moothall_commands(block.text):
        _parse(cli, words)


def _moothall_commands(text: str) -> Iterator[list[str]]:
    """The arguments of each `moothall` of a script."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        for number, word in enumerate(words):
            if word == "moothall" or word.endswith("bin/moothall"):
                if words[number - 1 : number] and words[number - 1] in {"--tag", "clone", "createdb", "useradd"}:
                    continue
                if number and words[number - 1] not in {"hall", "sudo"} and "=" not in words[number - 1]:
                    continue
                yield words[number + 1 :]


def _parse(command: click.Command, words: list[str]) -> None:
    """Parse arguments as the command line does, without doing anything. Raises click.UsageError."""
    while isinstance(command, click.Group):
        with command.make_context("moothall", list(words), resilient_parsing=True) as context:
            name, subcommand, words = command.resolve_command(context, list(words))
        assert subcommand is not None, name
        command = subcommand
    command.make_context(command.name, list(words)).close()


@pytest.mark.parametrize("block", _of("js"), ids=str)
def test_javascript_is_javascript(block: Block, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        leave_out("node", "Node is not installed")
    is_module = re.search(r"^(?:import|export) |^await ", block.text, re.MULTILINE) is not None
    file = tmp_path / ("block.mjs" if is_module else "block.cjs")
    file.write_text(block.text, encoding="utf-8")

    assert subprocess.run([node, "--check", file], capture_output=True, text=True, check=False).stderr == ""


@pytest.mark.parametrize("block", _of("css"), ids=str)
def test_a_style_sets_what_the_client_has(block: Block) -> None:
    tokens = (_ROOT / "src" / "moothall" / "pages" / "tokens.css").read_text(encoding="utf-8")

    names = re.findall(r"^ +(--[\w-]+):", block.text, re.MULTILINE)
    assert names
    assert [name for name in names if f" {name}:" not in tokens] == []


@pytest.mark.parametrize("block", _of("diff"), ids=str)
def test_a_worked_change_fits_its_file(block: Block) -> None:
    """The lines that it keeps stand in the file that it names, with all that it removes, or all that it adds."""
    for name, lines in _changes(block.text):
        text = (_ROOT / name).read_text(encoding="utf-8").splitlines()
        before = [line[1:] for line in lines if line[0] in " -"]
        after = [line[1:] for line in lines if line[0] in " +"]
        assert _stand_in_order(before, text) or _stand_in_order(after, text), name


def _changes(diff: str) -> Iterator[tuple[str, list[str]]]:
    """The files of a diff with their lines, without empty ones."""
    name, lines = "", list[str]()
    for line in [*diff.splitlines(), " # .py"]:
        if (heading := re.match(r" ?# ([\w/]*\.py)", line)) is not None:
            if name:
                yield name, lines
            name, lines = heading[1], []
        elif line[1:].strip():
            lines.append(line)


def _stand_in_order(lines: list[str], text: list[str]) -> bool:
    rest = iter(text)
    return all(line in rest for line in lines)


# The tests that the pages show

_INI = f"[pytest]\nanyio_mode = auto\naddopts = {' '.join(PLUGINS)}\n"
_ELSEWHERE = {
    "hears": "tests/testing/test_voice.py",
    "launches_activity": "tests/testing/test_activities.py",
    "random_people": "tests/testing/test_random_people.py",
}
"""What the shown tests do that needs a bot of its own, and where that is tested."""


def _bot() -> str:
    """The bot of the tutorial."""
    (bot,) = (each.text for each in _of("py") if each.page == "docs/tutorials/first-bot.md" and "discord" in each.text)
    return bot


def _shown_tests() -> list[Block]:
    shown = [block for block in _of("py") if re.search(r"^(?:async )?def test_", block.text, re.MULTILINE)]
    return [block for block in shown if not any(name in block.text for name in _ELSEWHERE)]


def test_the_tests_that_pages_show_pass_with_the_bot_of_the_tutorial(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = _shown_tests()
    package = pytester.mkpydir("mybot")
    (package / "__init__.py").write_text(_bot(), encoding="utf-8")
    (package / "main.py").write_text(_bot(), encoding="utf-8")
    pytester.makeini(_INI)
    pytester.makeconftest("import pytest\n@pytest.fixture\ndef anyio_backend(): return 'asyncio'\n")
    for number, block in enumerate(shown):
        (pytester.path / f"test_shown_{number}.py").write_text(block.text, encoding="utf-8")
    pytester.syspathinsert()
    monkeypatch.setenv("PYTHONPATH", PLUGIN_SOURCE)

    assert {block.page for block in shown} >= {"README.md", "docs/testing-bots.md", "docs/tutorials/first-bot.md"}
    pytester.runpytest_subprocess(timeout=110).assert_outcomes(passed=len(shown))


def test_what_is_tested_elsewhere_is_shown_somewhere() -> None:
    text = "\n".join(block.text for block in _of("py"))

    assert [name for name, file in _ELSEWHERE.items() if name not in text or not (_ROOT / file).exists()] == []
