"""Targets of Activities that are not public: refused by their text, by what they resolve to, and when it changes."""

import asyncio
import socket
from typing import Any

import pytest
from aiohttp import WSMessage, WSMsgType

from moothall.activities import websockets
from moothall.activities.targets import Targets
from moothall.activities.upstream import Request
from moothall.activities.websockets import _Relay
from moothall.objects.url_mapping import MappedPath
from moothall.runtime.outgoing import AddressRefused, UrlRefused
from tests.support.harness import Platform


@pytest.mark.parametrize("authority", ["127.0.0.1", "[::1]:8080", "localhost", "10.0.0.1", "[::ffff:10.0.0.1]"])
async def test_private_authorities_are_refused(platform: Platform, authority: str) -> None:
    with pytest.raises(AddressRefused):
        Targets(platform.services).url(MappedPath(authority, "/"), "")


async def test_ports_of_other_protocols_are_refused(platform: Platform) -> None:
    platform.allow_private_addresses()
    with pytest.raises(UrlRefused):
        Targets(platform.services).url(MappedPath("example.com:25", "/"), "")


async def test_local_targets_are_plain_and_public_ones_encrypted(platform: Platform) -> None:
    targets = Targets(platform.services)
    assert str(targets.url(MappedPath("example.com", "/a%2Fb"), "x=%20")) == "https://example.com/a%2Fb?x=%20"
    assert targets.url(MappedPath("example.com", "/"), "", websocket=True).scheme == "wss"
    platform.allow_private_addresses()
    for authority in ("localhost:5173", "127.0.0.1:80", "whiteboard:3000", "[::1]:80", "game.internal"):
        assert targets.url(MappedPath(authority, "/"), "").scheme == "http"
    assert targets.url(MappedPath("localhost:5173", "/"), "", websocket=True).scheme == "ws"
    assert targets.url(MappedPath("8.8.8.8", "/"), "").scheme == "https"


async def test_a_name_that_resolves_to_a_private_address_is_not_connected_to(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither at first, nor once a public name is resolved again (DNS rebinding)."""
    import aiohttp  # noqa: PLC0415 as the proxy

    names: list[str] = []

    def look_up(host: str, port: int, **_options: Any) -> list[Any]:
        names.append(host)
        address = "10.0.0.1" if host == "private.example" else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    targets = Targets(platform.services)
    request = Request(b"GET / HTTP/1.1\r\n\r\n", is_head=False, repeatable=True, body=None, chunked=False)
    for name in ("private.example", "rebound.example"):
        with pytest.raises(aiohttp.ClientConnectorError):
            await targets.session().get(targets.url(MappedPath(name, "/"), ""))
        with pytest.raises(OSError, match="not public"):
            await targets.request(targets.address(name), request, seconds=5)
    assert names == ["private.example"] * 2 + ["rebound.example"] * 2
    await targets.close()


class _Silent:
    """A target's WebSocket that never sends."""

    close_code = None

    async def receive(self) -> Any:
        await asyncio.Event().wait()

    async def close(self, **_options: Any) -> None:
        return


@pytest.mark.parametrize(("limit", "code"), [("SILENCE_SECONDS", 1001), ("LIFETIME_SECONDS", 1013)])
async def test_a_websocket_ends_by_itself(monkeypatch: pytest.MonkeyPatch, limit: str, code: int) -> None:
    monkeypatch.setattr(websockets, limit, 0.05)
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async with asyncio.timeout(5):
        await _Relay(_Silent(), receive, send).run()  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": code}]


class _Counting(_Silent):
    """A target's WebSocket that counts what it receives, and sends as many messages as it is told to."""

    def __init__(self, messages: int) -> None:
        self.received = 0
        self._left = messages

    async def receive(self) -> Any:
        return WSMessage(WSMsgType.TEXT, await _next(self), None)

    async def send_str(self, _text: str) -> None:
        self.received += 1


async def _next(speaker: Any) -> str:
    """The next message of a side, after a while, as long as it has any left."""
    if not speaker._left:
        await asyncio.Event().wait()
    speaker._left -= 1
    await asyncio.sleep(0.1)
    return "tick"


class _Browser:
    """The browser's side, which sends as many messages as it is told to."""

    def __init__(self, messages: int) -> None:
        self.sent: list[Any] = []
        self._left = messages

    async def receive(self) -> Any:
        return {"type": "websocket.receive", "text": await _next(self)}

    async def send(self, message: Any) -> None:
        self.sent.append(message)


@pytest.mark.parametrize(("from_browser", "from_target"), [(8, 0), (0, 8)])
async def test_messages_of_one_side_keep_a_websocket_open(
    monkeypatch: pytest.MonkeyPatch, from_browser: int, from_target: int
) -> None:
    monkeypatch.setattr(websockets, "SILENCE_SECONDS", 0.5)
    browser, target = _Browser(from_browser), _Counting(from_target)
    async with asyncio.timeout(10):
        await _Relay(target, browser.receive, browser.send).run()  # type: ignore[arg-type]
    assert target.received == from_browser
    assert browser.sent == [
        *[{"type": "websocket.send", "text": "tick"}] * from_target,
        {"type": "websocket.close", "code": 1001},
    ]
