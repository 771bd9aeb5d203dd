"""A live server for each module, and discord.py pointed at it."""

from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest

from tests.clients.live import Server, World


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    """The settings of the module's server; a module that needs others overrides this."""
    return {}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, server_settings: dict[str, str]) -> Iterator[Server]:
    """The module's server, running."""
    started = Server(tmp_path_factory.mktemp("server"), **server_settings)
    started.start()
    yield started
    started.stop()


@pytest.fixture
async def world(server: Server) -> AsyncIterator[World]:
    """People on the module's server."""
    server.point_discord_py()
    async with aiohttp.ClientSession() as session:
        yield World(server, session)
