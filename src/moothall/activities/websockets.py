"""WebSockets of Activities, passed on to a target: bounded in message size, in silence and in duration."""

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final

from moothall.activities.headers import Headers
from moothall.activities.upstream import CONNECT_SECONDS
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.outgoing import ConnectionFailed
from moothall.runtime.websocket_frames import (
    FRAMES_PER_TURN,
    IDLE_FRAMES_PER_MINUTE,
    FrameBudget,
    FrameScanner,
    frame_budget,
)

if TYPE_CHECKING:
    from aiohttp import ClientSession, ClientWebSocketResponse
    from yarl import URL

MESSAGE_BYTES: Final = 1024 * 1024
"""Maximum size of a message from a target. Those of browsers are bounded by the server that reads them, at 64 KiB."""
SILENCE_SECONDS: Final = 300.0
"""How long a WebSocket may carry no message in either direction."""
LIFETIME_SECONDS: Final = 6 * 3600.0
CLOSE_SECONDS: Final = 5.0

_GOING_AWAY: Final = 1001
_INTERNAL_ERROR: Final = 1011
_TRY_AGAIN: Final = 1013
_APPLICATION_CODES: Final = range(3000, 5000)
_STANDARD_CODES: Final = frozenset({1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014})


async def pass_websocket(
    session: "ClientSession", url: "URL", headers: Headers, scope: Scope, receive: Receive, send: Send
) -> None:
    """Open a WebSocket to a target, accept the browser's, and carry messages until one of them closes.

    Raises ConnectionFailed if the target accepts no WebSocket.
    """
    import aiohttp  # noqa: PLC0415 it takes long to import

    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            target = await session.ws_connect(
                url,
                headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers],
                protocols=scope.get("subprotocols", ()),
                max_msg_size=MESSAGE_BYTES,
                autoping=True,
                timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS),
            )
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as problem:
        raise ConnectionFailed(str(problem) or type(problem).__name__) from None
    _limit_frames(target)
    if (budget := frame_budget(scope)) is not None:
        # Its page and its target are known; it has no other way to identify.
        budget.identify()
    await send({"type": "websocket.accept", "subprotocol": target.protocol})
    try:
        await _Relay(target, receive, send).run()
    finally:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await target.close()


def _limit_frames(target: "ClientWebSocketResponse") -> None:
    """Close the WebSocket to a target, with 1008, when it sends too many frames without a message.

    aiohttp answers pings and joins fragments without a limit, and offers no place to count them but its parser.
    """
    protocol = None if target._conn is None else target._conn.protocol  # noqa: SLF001 see above
    if protocol is not None:
        protocol.set_parser(_LimitedParser(target._parser, target._reader), target._reader)  # noqa: SLF001


class _LimitedParser:
    """A parser of aiohttp that is fed no further once the peer's frames exceed a budget."""

    def __init__(self, parser: Any, messages: Any) -> None:
        self._parser = parser
        self._messages = messages
        self._scanner = FrameScanner()
        self._budget = FrameBudget(asyncio.get_running_loop().time)
        self._budget.identify()

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Count and parse frames; whether no more are taken, and what is left of the data."""
        from aiohttp import WebSocketError  # noqa: PLC0415

        position = 0
        while position < len(data):
            position, _, idle = self._scanner.scan(data, position, IDLE_FRAMES_PER_MINUTE)
            if idle and not self._budget.take_idle(idle):
                self._messages.set_exception(WebSocketError(self._budget.close_code, "Too many frames."))
                return True, b""
        rest: tuple[bool, bytes] = self._parser.feed_data(data)
        return rest

    def feed_eof(self) -> None:
        """Pass on the end."""
        self._parser.feed_eof()


class _Relay:
    """Carries the messages of one WebSocket in both directions."""

    def __init__(self, target: "ClientWebSocketResponse", receive: Receive, send: Send) -> None:
        self._target = target
        self._receive = receive
        self._send = send
        self._last_message_at = asyncio.get_running_loop().time()
        self._disconnected = False

    async def run(self) -> None:
        """Carry messages until an end closes, then close the other one."""
        tasks = [asyncio.ensure_future(work) for work in (self._from_browser(), self._from_target(), self._limit())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        code = _INTERNAL_ERROR
        for task in done:
            if not task.cancelled() and task.exception() is None:
                code = task.result()
        if not self._disconnected:
            await self._send({"type": "websocket.close", "code": _allowed(code)})

    async def _from_browser(self) -> int:
        """Send the browser's messages to the target; the code with which the browser closed."""
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                self._disconnected = True
                code = _allowed(int(message.get("code") or 1005))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await self._target.close(code=code)
                return code
            self._note_message()
            text = message.get("text")
            if text is not None:
                await self._target.send_str(text)
            else:
                await self._target.send_bytes(message.get("bytes") or b"")

    async def _from_target(self) -> int:
        """Send the target's messages to the browser; the code with which the target closed."""
        from aiohttp import WSMsgType  # noqa: PLC0415

        count = 0
        while True:
            message = await self._target.receive()
            count += 1
            if not count % FRAMES_PER_TURN:
                # Neither receiving nor sending waits while there is enough of both.
                await asyncio.sleep(0)
            if message.type is WSMsgType.TEXT:
                self._note_message()
                await self._send({"type": "websocket.send", "text": message.data})
            elif message.type is WSMsgType.BINARY:
                self._note_message()
                await self._send({"type": "websocket.send", "bytes": message.data})
            else:
                return self._target.close_code or _INTERNAL_ERROR

    async def _limit(self) -> int:
        """Wait until the WebSocket is silent or open for too long; the code to close with."""
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + LIFETIME_SECONDS
        while True:
            next_check = min(self._last_message_at + SILENCE_SECONDS, ends_at)
            if loop.time() >= next_check:
                return _TRY_AGAIN if loop.time() >= ends_at else _GOING_AWAY
            await asyncio.sleep(next_check - loop.time())

    def _note_message(self) -> None:
        self._last_message_at = asyncio.get_running_loop().time()


def _allowed(code: int) -> int:
    """A code that a close frame may carry: others stand for a connection that ended without one."""
    return code if code in _STANDARD_CODES or code in _APPLICATION_CODES else _GOING_AWAY
