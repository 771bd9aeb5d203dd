"""The pytest plugin: fixtures, the transcript of failed tests, and warnings about bots."""

import hashlib
import re
import traceback
import warnings
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from moothall_testing.early_start import EarlierRuns, runs_tests, takes_fixtures, will_take_fixtures

if TYPE_CHECKING:
    from moothall_testing.people import Person
    from moothall_testing.platform import BotApp, Guild, Moothall
    from moothall_testing.server_process import ServerProcess

_SERVER: "pytest.StashKey[ServerProcess]" = pytest.StashKey()
_RUNS: pytest.StashKey[EarlierRuns] = pytest.StashKey()

# The rest is imported when a test uses it: pytest loads plugins in every project that has this package.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's settings."""
    group = parser.getgroup("moothall")
    group.addoption("--moothall-artifacts", metavar="FOLDER", help="Write transcripts of failed tests there.")
    group.addoption(
        "--moothall-trace", metavar="FOLDER", help="Write a page for each test there: what people see, step by step."
    )
    group.addoption("--moothall-seas", metavar="SEED", type=int, help="Run every test in rough seas with this seed.")
    parser.addini("moothall_fixture", "The community of every test: a JSON or YAML file.", type="string", default="")
    parser.addini("moothall_heartbeat_ms", "The heartbeat interval of the gateway.", type="string", default="41250")


def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Start the server if the last run with these arguments used it, or the text of the tests says that this one does.

    It gets ready while the tests are imported.
    """
    runs = early_config.stash[_RUNS] = EarlierRuns(args)
    if runs.used_server(early_config) or will_take_fixtures(early_config):
        _start_early(early_config)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "moothall(fixture): the file of a community that the test has as well")


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Start the server when the first file is about to be imported whose tests use it."""
    config = collector.config
    is_imported_next = isinstance(collector, pytest.Module) and _SERVER not in config.stash and runs_tests(config)
    if is_imported_next and takes_fixtures(collector.path, config.rootpath):
        _start_early(config)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Start the server with the first test that uses it, where the text of its file did not say so."""
    if _uses_server(item) and runs_tests(item.config):
        _start_early(item.config)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Remember whether runs with these arguments use the server, unless files could not be imported."""
    config = session.config
    if _RUNS in config.stash and runs_tests(config) and not session.testsfailed:
        config.stash[_RUNS].remember(config, uses_server=any(map(_uses_server, session.items)))


def _uses_server(item: pytest.Item) -> bool:
    return "moothall_server" in getattr(item, "fixturenames", ())


def _start_early(config: pytest.Config) -> None:
    """Start the server if there is one to start; else the first test that takes it fails."""
    from moothall_testing.finding import PlatformMissing  # noqa: PLC0415 as above

    with suppress(PlatformMissing):
        _started_server(config)


def _started_server(config: pytest.Config) -> "ServerProcess":
    from moothall_testing.server_process import ServerProcess  # noqa: PLC0415 as above

    server = config.stash.get(_SERVER, None)
    if server is None:
        name = str(config.getini("moothall_fixture"))
        fixture = config.rootpath / name if name else None
        server = ServerProcess(fixture, heartbeat_ms=int(config.getini("moothall_heartbeat_ms")))
        config.stash[_SERVER] = server
        config.add_cleanup(server.close)
    return server


@pytest.fixture(scope="session")
def moothall_server(pytestconfig: pytest.Config) -> "ServerProcess":
    """The server of this test process. Each test restores its snapshot."""
    from moothall_testing.finding import PlatformMissing  # noqa: PLC0415 as above
    from moothall_testing.http import RefusedError  # noqa: PLC0415 as above

    try:
        server = _started_server(pytestconfig)
    except PlatformMissing as error:
        pytest.fail(str(error), pytrace=False)
    server.wait()
    folder = pytestconfig.getoption("--moothall-trace")
    if folder:
        try:
            server.trace(Path(folder))
        except RefusedError as error:
            pytest.fail(f"--moothall-trace: {error}", pytrace=False)
    return server


@pytest.fixture
def moothall(moothall_server: "ServerProcess", request: pytest.FixtureRequest) -> "Iterator[Moothall]":
    """A platform, fresh for the test; where a module or session shares bots, fresh guilds of theirs."""
    from moothall_testing.platform import Moothall  # noqa: PLC0415 as above

    for name in ("moothall_session", "moothall_module"):  # before this test's guilds, whatever the order of fixtures
        if name in request.fixturenames:
            request.getfixturevalue(name)
    shared = moothall_server.shared
    if shared is None:
        platform = Moothall(moothall_server, snapshot=_snapshot(moothall_server, request))
    else:
        platform = Moothall(moothall_server, beside=shared)
        if (path := _marked_file(request)) is not None:
            platform.load(path).wait()
    seed = request.config.getoption("--moothall-seas")
    if seed is not None:
        platform.rough_seas(seed).wait()
    yield platform
    platform.close()
    # Raised here, where a filter that makes them errors fails the test.
    for warning in platform.warnings():
        warnings.warn(warning, stacklevel=1)


def _share(server: "ServerProcess") -> "Iterator[Moothall]":
    """Have a platform for several tests, unless there is one."""
    from moothall_testing.platform import Moothall  # noqa: PLC0415 as above

    if server.shared is not None:
        yield server.shared
        return
    server.shared = Moothall(server)
    yield server.shared
    server.shared.close()
    server.shared = None


@pytest.fixture(scope="session")
def moothall_session(moothall_server: "ServerProcess") -> "Iterator[Moothall]":
    """A platform whose bots all tests share, from the first that takes it; each has fresh guilds in `moothall`."""
    yield from _share(moothall_server)


@pytest.fixture(scope="module")
def moothall_module(moothall_server: "ServerProcess") -> "Iterator[Moothall]":
    """A platform whose bots the tests of a module share; each has fresh guilds in `moothall`."""
    yield from _share(moothall_server)


def _snapshot(server: "ServerProcess", request: pytest.FixtureRequest) -> str:
    """The snapshot that a test begins with: with the community of its marker, loaded once."""
    from moothall_testing.platform import read_file  # noqa: PLC0415 as above

    path = _marked_file(request)
    if path is None:
        return "start"
    name = hashlib.sha256(f"{path}{path.stat().st_mtime_ns}".encode()).hexdigest()[:32]
    if name not in server.snapshots:
        server.control("POST", "/restore", {"name": "start"})
        server.control("POST", "/load", read_file(path))
        server.control("POST", "/snapshots", {"name": name})
        server.snapshots.add(name)
    return name


def _marked_file(request: pytest.FixtureRequest) -> Path | None:
    """The file of a community that the marker of a test names."""
    marker = request.node.get_closest_marker("moothall")
    return None if marker is None else request.path.parent / str(marker.kwargs.get("fixture") or marker.args[0])


@pytest.fixture
def guild(moothall: "Moothall") -> "Guild":
    """The first guild."""
    return moothall.guild()


@pytest.fixture
def alice(moothall: "Moothall") -> "Person":
    """The person who owns the guild."""
    return moothall.person("alice")


@pytest.fixture
def bob(moothall: "Moothall") -> "Person":
    """A member."""
    return moothall.person("bob")


@pytest.fixture
def bot_app(moothall: "Moothall") -> "BotApp":
    """The application of the first bot."""
    return moothall.bot_app()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Fail a test whose bot has failed, although no step of the test has waited for it since."""
    outcome = yield
    platform: Any = getattr(item, "funcargs", {}).get("moothall")
    if platform is None or outcome.excinfo is not None:
        return
    try:
        platform.check_errors()
    except AssertionError as error:
        cause = "".join(traceback.format_exception(error.__cause__)) if error.__cause__ else ""
        failure = pytest.fail.Exception(f"{cause}\n{error}".strip(), pytrace=False)
        if hasattr(outcome, "force_exception"):  # since pluggy 1.1
            outcome.force_exception(failure)
        else:
            outcome._result, outcome._excinfo = None, (type(failure), failure, None)  # noqa: SLF001


@pytest.hookimpl(hookwrapper=True)  # as pytest 7 has it too
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Show a failure without frames of this package, and add the transcript to the report of a failed test."""
    if call.excinfo is not None:
        from moothall_testing.tracebacks import strip  # noqa: PLC0415 as above

        error = call.excinfo.value
        strip(error)
        if error.__traceback__ is not None:
            call.excinfo = pytest.ExceptionInfo.from_exc_info((type(error), error, error.__traceback__))
    outcome = yield
    report = outcome.get_result()
    platform: Any = getattr(item, "funcargs", {}).get("moothall")
    if call.when != "call" or platform is None:
        return
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", item.nodeid).strip("-")
    traces = item.config.getoption("--moothall-trace")
    if traces:
        platform.write_trace(Path(traces) / f"{name}.html", item.nodeid, report.outcome)
    if report.failed:
        report.sections.append(("Moothall transcript", platform.transcript()))
        folder = item.config.getoption("--moothall-artifacts")
        if folder:
            platform.write_transcript(Path(folder) / f"{name}.html")
            platform.write_transcript(Path(folder) / f"{name}.json")
            platform.write_screenshots(Path(folder), name)
