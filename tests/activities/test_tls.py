"""Targets of Activities over TLS: the proxy checks their certificates, for requests and for WebSockets."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from moothall.activities.origin import ActivityOrigins
from moothall.activities.proxy import ActivityProxy
from moothall.api.address_limits import AddressLimits
from moothall.objects.ids import ApplicationId
from tests.activities.certificates import Authority
from tests.resources.activity.activities import make_launchable
from tests.support.harness import Platform

NAME = "game.example.com"
SIZE = 3 * 1024 * 1024


class SecureTarget:
    """An HTTPS and WSS server on a free port, which returns what it receives."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str | None]] = []
        """The paths of the requests, and the protocol that TLS has agreed on."""
        self.server_names: list[str | None] = []
        self._runners: list[web.AppRunner] = []

    async def serve(self, context: ssl.SSLContext) -> int:
        """Serve with a certificate; the port."""
        context.sni_callback = lambda _socket, name, _context: self.server_names.append(name)
        app = web.Application(client_max_size=2 * SIZE)
        app.router.add_get("/socket", self._socket)
        app.router.add_route("*", "/", self._echo)
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=1)
        self._runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        port: int = runner.addresses[0][1]
        return port

    async def stop(self) -> None:
        """End the servers."""
        for runner in self._runners:
            await runner.cleanup()

    def _note(self, request: web.Request) -> None:
        assert request.transport is not None
        tls = request.transport.get_extra_info("ssl_object")
        self.requests.append((request.path, tls.selected_alpn_protocol()))

    async def _echo(self, request: web.Request) -> web.Response:
        self._note(request)
        return web.Response(body=await request.read())

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        self._note(request)
        server = web.WebSocketResponse()
        await server.prepare(request)
        async for message in server:
            await server.send_str(f"echo {message.data}")
        return server


class Browser:
    """One request or WebSocket of a page, whose messages a test sends."""

    def __init__(self, kind: str, path: str = "/", body: bytes = b"", origin: str = "") -> None:
        headers = [(b"host", b"x"), (b"origin", origin.encode())]
        if body:
            headers.append((b"content-length", b"%d" % len(body)))
        self.scope: dict[str, Any] = {
            "type": kind, "method": "POST" if body else "GET", "path": path, "query_string": b"", "headers": headers,
            "client": ("127.0.0.1", 1), "subprotocols": [],
        }  # fmt: skip
        self.sending: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.received: asyncio.Queue[Any] = asyncio.Queue()
        if kind == "http":
            self.sending.put_nowait({"type": "http.request", "body": body, "more_body": False})
        else:
            self.sending.put_nowait({"type": "websocket.connect"})

    async def response(self) -> tuple[int, bytes]:
        """The status and the body of the response."""
        messages = []
        while not self.received.empty():
            messages.append(self.received.get_nowait())
        return messages[0]["status"], b"".join(each["body"] for each in messages[1:])


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """The one authority that this process trusts."""
    made = Authority(tmp_path / "authority")
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    return made


@pytest.fixture
async def target() -> AsyncIterator[SecureTarget]:
    running = SecureTarget()
    yield running
    await running.stop()


class Served:
    """The proxy with an application whose paths lead to a port of a host that resolves to this machine."""

    def __init__(self, proxy: ActivityProxy, application_id: ApplicationId) -> None:
        self.proxy = proxy
        self.id = application_id

    @property
    def origin(self) -> str:
        """The origin of the Activity."""
        return self.proxy.origins.of(self.id)

    async def request(self, body: bytes = b"") -> tuple[int, bytes]:
        """Make a request; the status and the body of the response."""
        browser = Browser("http", body=body)
        async with asyncio.timeout(10):
            await self.proxy.serve(browser.scope, browser.sending.get, browser.received.put, self.id)
        return await browser.response()

    def websocket(self) -> "tuple[Browser, asyncio.Task[None]]":
        """Open a WebSocket, which a task carries."""
        browser = Browser("websocket", "/socket", origin=self.origin)
        carrying = self.proxy.serve_websocket(browser.scope, browser.sending.get, browser.received.put, self.id)
        return browser, asyncio.ensure_future(carrying)


async def serve(platform: Platform, monkeypatch: pytest.MonkeyPatch, port: int) -> Served:
    """Map an application to a port of `NAME`, which resolves to this machine."""

    def look_up(_host: str, port: int, **_options: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    platform.allow_private_addresses()
    owner = await platform.person()
    bot = await platform.bot(owner)
    await make_launchable(owner, bot.id)
    url_map = [{"prefix": "/", "target": f"{NAME}:{port}"}]
    await owner.post(f"/applications/{bot.id}/proxy-config", {"url_map": url_map})
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    origins = ActivityOrigins("http://activities.localhost", "http://localhost")
    return Served(ActivityProxy(platform.services, origins, AddressLimits(None)), ApplicationId(bot.id))


async def test_requests_and_websockets_cross_tls(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, authority: Authority, target: SecureTarget
) -> None:
    served = await serve(platform, monkeypatch, await target.serve(authority.server_context(NAME)))
    large = bytes(range(256)) * (SIZE // 256)
    try:
        assert await served.request() == (200, b"")
        assert await served.request(large) == (200, large)
        browser, carrying = served.websocket()
        async with asyncio.timeout(10):
            assert (await browser.received.get())["type"] == "websocket.accept"
            await browser.sending.put({"type": "websocket.receive", "text": "hi"})
            assert (await browser.received.get())["text"] == "echo hi"
            await browser.sending.put({"type": "websocket.disconnect", "code": 1000})
            await carrying
    finally:
        await served.proxy.close()
    assert target.requests == [("/", "http/1.1"), ("/", "http/1.1"), ("/socket", "http/1.1")]
    assert target.server_names == [NAME] * 2  # the second request was made over the connection of the first


async def assert_refused(served: Served) -> None:
    """Check that neither a request nor a WebSocket reaches the target, and close the proxy."""
    try:
        status, body = await served.request()
        assert status == 502
        assert NAME.encode() not in body
        browser, carrying = served.websocket()
        async with asyncio.timeout(10):
            await carrying
        assert browser.received.get_nowait() == {"type": "websocket.close", "code": 1011}
    finally:
        await served.proxy.close()


@pytest.mark.parametrize("wrong", ["unknown authority", "other name", "expired"])
async def test_a_target_without_a_valid_certificate_receives_nothing(
    platform: Platform,
    monkeypatch: pytest.MonkeyPatch,
    authority: Authority,
    target: SecureTarget,
    tmp_path: Path,
    wrong: str,
) -> None:
    context = {
        "unknown authority": lambda: Authority(tmp_path / "other").server_context(NAME),
        "other name": lambda: authority.server_context("other.example.com"),
        "expired": lambda: authority.server_context(NAME, ends_in=timedelta(days=-1)),
    }[wrong]()
    await assert_refused(await serve(platform, monkeypatch, await target.serve(context)))
    assert target.requests == []


async def test_a_target_without_tls_receives_no_request_in_clear(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(1_000))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        writer.close()

    plain = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        await assert_refused(await serve(platform, monkeypatch, plain.sockets[0].getsockname()[1]))
    finally:
        plain.close()
    assert received
    assert all(b"HTTP/1.1" not in each for each in received)
