"""Activities in the client: the example with the unmodified SDK, which two people launch, join, allow and leave."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Browser, FrameLocator, expect

from tests.clients.client_pages import PASSWORD, ClientPage
from tests.clients.live import Server
from tests.suites import leave_out

EXAMPLE = Path(__file__).parents[2] / "examples" / "activity"
GLOBAL = {"client_platform_config": {"web": {"release_phase": "global_launch"}}}


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "allow_private_addresses": "true"}


@pytest.fixture(scope="module")
def front() -> Path:
    """The front of the example, built with the SDK from npm."""
    npm = shutil.which("npm")
    if not (EXAMPLE / "dist" / "index.html").exists():
        if npm is None:
            leave_out("node", "npm is not installed")
        for command in ("ci", "run build"):
            subprocess.run([str(npm), *command.split(), "--silent"], cwd=EXAMPLE, check=True, capture_output=True)
    return EXAMPLE / "dist"


class Api:
    """Requests of one account."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self.session = session
        self.url = f"{url}/api/v10"
        self.token = ""

    async def log_in(self, username: str) -> None:
        """Log in with the password of all accounts."""
        self.token = (await self.post("/auth/login", {"login": username, "password": PASSWORD}))["token"]

    async def post(self, path: str, body: Any, method: str = "POST") -> Any:
        """Send a request; its response."""
        headers = {"authorization": self.token} if self.token else {}
        async with self.session.request(method, self.url + path, json=body, headers=headers) as response:
            assert response.status < 300, await response.text()
            return None if response.status == 204 else await response.json()


@pytest.fixture
async def api(server: Server) -> AsyncIterator[Api]:
    async with aiohttp.ClientSession() as session:
        yield Api(session, server.url)


class Whiteboard:
    """The example's server in a process of its own, for an application of an account."""

    def __init__(self, api: Api, server: Server) -> None:
        self.api = api
        self.server = server
        self.id = ""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Create the application, enable and release its Activity, and start its server."""
        app = await self.api.post("/applications", {"name": "Whiteboard"})
        self.id = app["id"]
        path = f"/applications/{self.id}"
        await self.api.post(path, {"redirect_uris": ["https://127.0.0.1"]}, "PATCH")
        await self.api.post(f"{path}/set-embedded", {"embedded": True})
        mapping = {"prefix": "/", "target": f"localhost:{self.port}"}
        await self.api.post(f"{path}/proxy-config", {"url_map": [mapping]})
        await self.api.post(f"{path}/embedded-activity-config", GLOBAL, "PATCH")
        environ = os.environ | {
            "CLIENT_ID": self.id,
            "CLIENT_SECRET": app["secret"],
            "BOT_TOKEN": app["bot"]["token"],
            "MOOTHALL_URL": self.server.url,
            "PORT": str(self.port),
        }
        self._process = await asyncio.create_subprocess_exec(sys.executable, str(EXAMPLE / "server.py"), env=environ)
        async with asyncio.timeout(30):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    return

    async def stop(self) -> None:
        """End the server."""
        if self._process is not None:
            self._process.terminate()
            await self._process.wait()


@pytest.fixture
async def whiteboard(api: Api, server: Server, front: Path) -> AsyncIterator[Whiteboard]:
    assert front.exists()
    made = Whiteboard(api, server)
    try:
        yield made
    finally:
        await made.stop()


def board(client: ClientPage) -> FrameLocator:
    """The Activity, in its frame inside that of the relay page."""
    return client.page.frame_locator(".activity-frame iframe").frame_locator("iframe")


async def open_activity(client: ClientPage, button: str) -> None:
    """Launch or join the Activity from the shelf, and allow what it asks for."""
    await client.page.get_by_role("button", name="Activities").click()
    await client.page.get_by_role("button", name=button, exact=True).click()
    await client.page.get_by_role("button", name="Allow").click()


async def inked(client: ClientPage) -> int:
    """How many pixels of the board are drawn on."""
    script = """(canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
        .data.filter((value, index) => index % 4 === 3 && value > 0).length"""
    count: int = await board(client).locator("#board").evaluate(script)
    return count


async def draw(client: ClientPage) -> None:
    """Draw a line."""
    box = await board(client).locator("#board").bounding_box()
    assert box is not None
    mouse = client.page.mouse
    await mouse.move(box["x"] + 40, box["y"] + 40)
    await mouse.down()
    for step in range(10):
        await mouse.move(box["x"] + 40 + 20 * step, box["y"] + 40 + 10 * step)
    await mouse.up()


async def test_two_people_draw_together(
    browser: Browser, server: Server, api: Api, whiteboard: Whiteboard, tmp_path: Path
) -> None:
    ada, ben = await ClientPage.open(browser, server.url), await ClientPage.open(browser, server.url)
    await ada.register("adaactivity")
    await ada.create_guild("The Moot")
    await ben.register("benactivity")
    await ben.join(await ada.invite_link())
    await api.log_in("adaactivity")
    await whiteboard.start()

    await open_activity(ada, "Launch")
    await expect(board(ada).locator("#status")).to_have_text("adaactivity in The Moot")
    await open_activity(ben, "Join")
    await expect(board(ben).locator("#status")).to_have_text("benactivity in The Moot")
    for client in (ada, ben):
        await expect(board(client).locator("#participants li")).to_have_text(["adaactivity", "benactivity"])
        await expect(board(client).locator("#board[data-shared]")).to_be_visible()
    assert await inked(ben) == 0
    await draw(ada)
    await expect(board(ben).locator("#board[data-inked]")).to_be_visible()
    assert await inked(ben) > 0
    await ada.page.screenshot(path=tmp_path / "focused.png")

    await ada.page.get_by_role("button", name="Make small").click()
    await expect(ada.page.locator(".activity-pip")).to_be_visible()
    await expect(board(ada).locator("#status")).to_have_text("adaactivity in The Moot")
    await ada.page.get_by_role("button", name="Show beside the conversation").click()
    await ada.say("I drew something")
    await ada.page.get_by_role("button", name="Leave the Activity").click()
    await expect(ada.page.locator(".activity")).to_have_count(0)
    await expect(board(ben).locator("#participants li")).to_have_text(["benactivity"])
    assert ada.errors == []
