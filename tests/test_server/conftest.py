"""One test server for a module, fresh for each test."""

from collections.abc import Iterator

import pytest

from tests.test_server.controlled import ControlledServer


@pytest.fixture(scope="module")
def running() -> Iterator[ControlledServer]:
    """The module's server."""
    with ControlledServer("--heartbeat-ms", "1000") as server:
        yield server


@pytest.fixture
def server(running: ControlledServer) -> ControlledServer:
    """The server, restored to its start."""
    running.info = running.control("POST", "/restore")
    return running
