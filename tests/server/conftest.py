"""One server for the laws that leave no trace on it."""

from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest

from tests.server.load import PASSWORD
from tests.support.serving import RunningServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A running server without rate limits."""
    with RunningServer(tmp_path_factory.mktemp("server") / "data", "--no-demo", "--no-rate-limits") as running:
        yield running


@pytest.fixture(scope="module")
def token(server: RunningServer) -> str:
    """A person's session token on it."""
    answer = server.request("POST", "/auth/register", {"username": "person", "password": PASSWORD})
    return str(answer.json["token"])


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client."""
    async with aiohttp.ClientSession() as session:
        yield session
