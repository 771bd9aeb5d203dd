"""A target of an Activity that records what it receives, and a server in front of it."""

import asyncio
from typing import Any, Self

import aiohttp
from aiohttp import web
from yarl import URL

from tests.support.serving import RunningServer

PASSWORD = "correct horse battery staple"
FLOODS = {"pings": b"\x89\x00" * 500, "fragments": b"\x01\x00" + b"\x00\x00" * 500}
"""Frames of a server without a message, by the message that asks for them."""


class Target:
    """An HTTP and WebSocket server on a free port."""

    def __init__(self) -> None:
        self.requests: list[web.Request] = []
        self.bodies: list[bytes] = []
        self.port = 0
        self.closed_with: list[int | None] = []
        self.closed = asyncio.Event()
        """Set when a WebSocket has closed."""
        self.left = asyncio.Event()
        """Set when a client has left an endless response."""
        app = web.Application(client_max_size=1 << 30)
        app.router.add_get("/endless", self._endless)
        app.router.add_get("/events", self._endless)
        app.router.add_get("/socket", self._socket)
        app.router.add_get("/huge", self._huge)
        app.router.add_route("*", "/{path:.*}", self._echo)
        self._runner = web.AppRunner(app, handle_signals=False)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _echo(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        self.bodies.append(await request.read())
        if request.path == "/redirect":
            return web.Response(status=302, headers={"location": request.query["to"]})
        headers = {
            "x-frame-options": "DENY",
            "content-security-policy": "default-src 'none'",
            "strict-transport-security": "max-age=1",
            "connection": "keep-alive, x-secret",
            "x-secret": "hop",
            "etag": '"kept"',
        }
        response = web.Response(text=request.raw_path, headers=headers)
        response.headers.add("set-cookie", "game=1; Domain=.localhost; Path=/; HttpOnly")
        response.headers.add("set-cookie", "moothall_session=stolen; Path=/")
        response.headers.add("set-cookie", "__Host-moothall_session=stolen; Secure; Path=/")
        return response

    async def _endless(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        if request.path == "/events":
            response.content_type = "text/event-stream"
        await response.prepare(request)
        try:
            while True:
                await response.write(b"tick\n" * 100)
                await asyncio.sleep(0.01)
        except (ConnectionError, asyncio.CancelledError):
            self.left.set()
            raise

    async def _huge(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(int(request.query["chunks"])):
            await response.write(bytes(65_536))
        return response

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        socket = web.WebSocketResponse(protocols=("game", "chat"), max_msg_size=1 << 24)
        await socket.prepare(request)
        async for message in socket:
            if message.data == "close":
                await socket.close(code=4321)
            elif message.data in FLOODS and request.transport is not None:
                request.transport.write(FLOODS[message.data])
            elif message.data == "large":
                await socket.send_bytes(bytes(2 * 1024 * 1024))
            elif message.type is aiohttp.WSMsgType.BINARY:
                await socket.send_bytes(message.data[::-1])
            else:
                await socket.send_str(f"echo {message.data}")
        self.closed_with.append(socket.close_code)
        self.closed.set()
        return socket


class Activity:
    """An application with an Activity on a running server, whose paths lead to a target."""

    def __init__(self, server: RunningServer, session: aiohttp.ClientSession) -> None:
        self.server = server
        self.session = session
        self.id = ""
        self.token = ""
        self.bot_token = ""

    async def create(self, username: str) -> None:
        """Register an account and create an application of it."""
        register = {"username": username, "password": PASSWORD}
        self.token = (await self.api("POST", "/auth/register", register))["token"]
        application = await self.api("POST", "/applications", {"name": "Game"})
        self.id, self.bot_token = application["id"], application["bot"]["token"]
        await self.api("POST", f"/applications/{self.id}/set-embedded", {"embedded": True})

    async def map(self, **mappings: str) -> None:
        """Replace the URL mappings; the argument `root` stands for the prefix `/`."""
        url_map = [
            {"prefix": "/" if name == "root" else f"/{name}", "target": target} for name, target in mappings.items()
        ]
        await self.api("POST", f"/applications/{self.id}/proxy-config", {"url_map": url_map})

    async def api(self, method: str, path: str, body: Any) -> Any:
        """Make a request to the platform's API; the response."""
        headers = {"authorization": self.token} if self.token else {}
        async with self.session.request(
            method, f"{self.server.url}/api/v10{path}", json=body, headers=headers
        ) as response:
            assert response.status < 300, await response.text()
            return None if response.status == 204 else await response.json()

    @property
    def port(self) -> str:
        """The server's port."""
        return self.server.url.rpartition(":")[2]

    @property
    def host(self) -> str:
        """The Activity's host, with the port."""
        return f"{self.id}.activities.localhost:{self.port}"

    @property
    def origin(self) -> str:
        """The Activity's origin."""
        return f"http://{self.host}"

    def url(self, path: str) -> URL:
        """A URL by which the server is reached; `headers` names the Activity."""
        return URL(f"http://127.0.0.1:{self.port}{path}", encoded=True)

    def request(self, method: str, path: str, **options: Any) -> Any:
        """Make a request to the Activity's origin."""
        headers = {"host": self.host} | options.pop("headers", {})
        return self.session.request(method, self.url(path), headers=headers, allow_redirects=False, **options)

    def websocket(self, path: str, *, origin: str | None = None, **options: Any) -> Any:
        """Open a WebSocket of the Activity's origin."""
        headers = {"host": self.host, "origin": self.origin if origin is None else origin}
        return self.session.ws_connect(self.url(path), headers=headers | options.pop("headers", {}), **options)
