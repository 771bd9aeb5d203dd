"""A live server for each module, discord.py pointed at it, and a browser."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
from playwright.async_api import Browser

from tests.clients.activity_page import RELEASED, ActivityPage, Api, register, serve_activity
from tests.clients.client_pages import ClientPage, chromium, require_client
from tests.clients.example_front import build_front
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


@pytest.fixture(scope="module")
def front() -> Path:
    """The front of the example, built with the SDK from npm."""
    return build_front()


@pytest.fixture
async def api(server: Server) -> AsyncIterator[Api]:
    """Requests to the module's server, of no account yet."""
    async with aiohttp.ClientSession() as session:
        yield Api(session, server.url)


@pytest.fixture
async def activity(
    browser: Browser, server: Server, api: Api, front: Path, request: pytest.FixtureRequest
) -> AsyncIterator[ActivityPage]:
    """An Activity that its developer has launched in a guild of theirs."""
    assert front.exists()
    developer = await register(api, f"dev{abs(hash(request.node.name)) % 10**9}")
    app = await api.post("/applications", {"name": "Playground"})
    path = f"/applications/{app['id']}"
    await api.post(path, {"redirect_uris": ["https://127.0.0.1"]}, "PATCH")
    await api.post(f"{path}/set-embedded", {"embedded": True})
    await api.post(f"{path}/embedded-activity-config", RELEASED, "PATCH")
    guild = await api.post("/guilds", {"name": "Workshop", "system_channel_flags": 1})
    async with serve_activity(app["id"]) as port:
        await api.post(f"{path}/proxy-config", {"url_map": [{"prefix": "/", "target": f"localhost:{port}"}]})
        client = await ClientPage.logged_in(browser, server.url, developer, f"/channels/{guild['id']}")
        made = ActivityPage(client, app, guild["id"])
        await made.launch()
        yield made
