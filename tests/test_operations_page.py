"""What docs/operations.md says of a running server."""

import re
import signal
import stat
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.serving import RunningServer, moothall

_PAGE = (Path(__file__).parents[1] / "docs" / "operations.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server without a demo, which watches its event loop."""
    data = tmp_path_factory.mktemp("operations") / "data"
    with RunningServer(data, "--no-demo", within=["env", "MOOTHALL_SLOW_TURN_MS=60000"]) as running:
        yield running


def get(server: RunningServer, path: str) -> str:
    """What is at a path."""
    with urllib.request.urlopen(server.url + path, timeout=30) as answer:  # noqa: S310 its own URL
        return str(answer.read().decode())


def test_exactly_the_metrics_of_the_server_are_documented(server: RunningServer) -> None:
    documented = set(re.findall(r"`(moothall_[a-z_]+?)(?:\{[a-z,]+\})?`", _PAGE.partition("## Metrics")[2]))
    shown = set(re.findall(r"^# HELP (moothall_\w+) ", get(server, "/metrics"), re.MULTILINE))

    assert documented == shown


def test_health_is_what_the_page_says(server: RunningServer) -> None:
    assert f"`{get(server, '/healthz')}`" in _PAGE


def test_a_port_that_is_taken_is_a_clear_error_and_exit_code_1(server: RunningServer, tmp_path: Path) -> None:
    port = server.url.rpartition(":")[2]

    result = moothall("serve", "--port", port, "--data", str(tmp_path / "data"))

    assert result.returncode == 1
    assert result.stderr == f"moothall: cannot listen at 127.0.0.1 port {port}: Address already in use\n"
    assert not (tmp_path / "data").exists()


def test_the_data_folder_is_its_owners_alone(server: RunningServer) -> None:
    paths = [server.data, *server.data.rglob("*")]

    assert len(paths) > 3
    assert [path.name for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_asked_to_stop_ends_with_0_and_leaves_no_journal(
    number: signal.Signals, tmp_path: Path
) -> None:
    with RunningServer(tmp_path / "data", "--no-demo") as running:
        assert running.stop(number) == 0

    left = {path.name for path in (tmp_path / "data").iterdir()}
    assert left == {"moothall.sqlite3", "moothall.sqlite3.lock", "server.key", "files"}
    # Where it serves, and the link that makes the first operator.
    assert running.printed.count("\n") == 4
