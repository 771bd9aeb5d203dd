"""A running server for each module."""

from collections.abc import Iterator

import pytest

from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that may reach the loopback interface, without rate limits."""
    data = tmp_path_factory.mktemp("activities") / "data"
    with ForkedServer(data, "--no-demo", "--no-rate-limits", "--allow-private-addresses") as running:
        yield running
