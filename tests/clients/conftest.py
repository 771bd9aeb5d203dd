"""A live server for each module, discord.py pointed at it, and a browser."""

from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest
from playwright.async_api import Browser

from tests.clients.client_pages import chromium, require_client
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


@pytest.fixture(scope="module")
async def running_browser() -> AsyncIterator[Browser]:
    """The module's Chromium, for its tests one after the other: they share the event loop that it belongs to."""
    async with chromium() as running:
        yield running


@pytest.fixture
async def pages_browser(running_browser: Browser) -> AsyncIterator[Browser]:
    """Chromium without any page or profile of an earlier test."""
    yield running_browser
    for context in list(running_browser.contexts):
        await context.close()


@pytest.fixture
def browser(pages_browser: Browser) -> Browser:
    """The same, for tests of the client for people."""
    require_client()
    return pages_browser
