"""When to start the server before tests are collected: by the text of their files, and by what earlier runs used."""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pytest

_KEY: Final = "moothall/runs"
"""Of pytest's cache: digests of the arguments of runs that used the server, the newest last."""
_MAX_RUNS: Final = 50
_ARGUMENT: Final = r"(?:\bdef\s+\w+\s*\(|\busefixtures\()[^)]*\b(?:{})\b"
_TAKES_FIXTURE: Final = re.compile(
    _ARGUMENT.format("moothall|moothall_(?:server|module|session)|guild|alice|bob|bot_app")
)
_TAKES_PLATFORM: Final = re.compile(_ARGUMENT.format("moothall|moothall_(?:server|module|session)|bot_app"))
_WITHOUT_TESTS: Final = (
    "collectonly", "setupplan", "showfixtures", "show_fixtures_per_test", "help", "version", "markers",
)  # fmt: skip
_DISTRIBUTED: Final = ("numprocesses", "tx")
_MAX_FILES: Final = 100
"""Files whose text is read before any is imported: a tenth of a millisecond each."""
_MAX_PATHS: Final = 2_000
"""Files and folders that are looked at for it."""


def runs_tests(config: pytest.Config) -> bool:
    """Whether this process runs the tests that it collects."""
    return not any(config.getoption(name, default=False) for name in _WITHOUT_TESTS)


def will_take_fixtures(config: pytest.Config) -> bool:
    """Whether functions in the first files of this run seem to take the plugin's fixtures.

    It works before the options are parsed. False for runs without tests, and for those of several processes, each of
    which starts its own.
    """
    options = config.known_args_namespace
    if any(getattr(options, name, None) for name in _WITHOUT_TESTS) or _is_distributed(config):
        return False
    return any(takes_fixtures(path, config.rootpath) for path in islice(_files_of_run(config), _MAX_FILES))


def _is_distributed(config: pytest.Config) -> bool:
    options = config.known_args_namespace
    return any(getattr(options, name, None) for name in _DISTRIBUTED) or "PYTEST_XDIST_WORKER" in os.environ


def _files_of_run(config: pytest.Config) -> Iterator[Path]:
    """The files of tests that pytest is going to collect, without those of its rules that few projects have."""
    base = config.invocation_params.dir
    arguments = [str(argument).partition("::")[0] for argument in config.known_args_namespace.file_or_dir]
    if not arguments and base == config.rootpath:
        arguments = config.getini("testpaths")
    named = [base / argument for argument in arguments or ["."]]
    patterns, without = config.getini("python_files"), config.getini("norecursedirs")
    paths = named[::-1]
    for _ in range(_MAX_PATHS):
        if not paths:
            return
        path = paths.pop()
        if path.is_dir():
            inside = sorted(path.iterdir(), reverse=True)
            paths += [each for each in inside if not any(fnmatch(each.name, pattern) for pattern in without)]
        elif path in named or any(fnmatch(path.name, pattern) for pattern in patterns):
            yield path


@cache
def takes_fixtures(path: Path, top: Path) -> bool:
    """Whether functions in a file of tests seem to take the plugin's fixtures.

    `guild` and `alice` may be a project's own: `moothall` or `bot_app` must be taken as well, there or in a
    `conftest.py` between the file and the folder `top`. Tests that this misses are those with fixtures of a project
    that use the plugin's.
    """
    text = _text(path)
    return bool(_TAKES_FIXTURE.search(text)) and (
        bool(_TAKES_PLATFORM.search(text)) or _conftests_take_platform(path.parent, top)
    )


@cache
def _conftests_take_platform(folder: Path, top: Path) -> bool:
    if _TAKES_PLATFORM.search(_text(folder / "conftest.py")):
        return True
    return folder != top and folder.is_relative_to(top) and _conftests_take_platform(folder.parent, top)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


class EarlierRuns:
    """Which runs of pytest used the server, by their arguments, in pytest's cache."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._run = hashlib.sha256("\0".join(arguments).encode(errors="replace")).hexdigest()[:16]

    def used_server(self, config: pytest.Config) -> bool:
        """Whether the last run with these arguments used it. No for runs of several processes, which start their own.

        It is asked before there is `config.cache`, and hence reads the file itself.
        """
        if _is_distributed(config):
            return False
        try:
            folder = Path(os.path.expandvars(str(config.getini("cache_dir"))))
            runs = json.loads(_text(config.rootpath / folder / "v" / _KEY))
        except ValueError:  # no cache, or nothing in it
            return False
        return isinstance(runs, list) and self._run in runs

    def remember(self, config: pytest.Config, *, uses_server: bool) -> None:
        """Remember whether this run uses it."""
        cached: Any = getattr(config, "cache", None)
        if cached is None or "PYTEST_XDIST_WORKER" in os.environ:
            return
        before = cached.get(_KEY, [])
        runs = [run for run in before if run != self._run] if isinstance(before, list) else []
        runs += [self._run] if uses_server else []
        if runs != before:
            cached.set(_KEY, runs[-_MAX_RUNS:])
