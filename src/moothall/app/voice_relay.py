"""WebSockets of the voice gateway: carried over the local socket to the voice process."""

import asyncio
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qs

from moothall.app.voice_process import VoiceSocket
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.websocket_frames import FrameBudget, frame_budget
from moothall.voice.link import BINARY, CLOSE, TEXT, Hello, framed, read_frame
from moothall.voice.opcodes import VERSIONS, CloseCode

_STARTING_SECONDS: Final = 10.0
"""How long a client waits for a voice process that is starting."""
_LOOK_SECONDS: Final = 0.2
_TAKEN_OVER_SECONDS: Final = 30.0
"""After the end of the voice process, how long a client has to follow a VOICE_SERVER_UPDATE of the next one.

The next one has to start meanwhile, which takes seconds on a busy machine.
"""
_MAX_MESSAGE: Final = 64 * 1024
_PER_NETWORK: Final = 128
_TRY_AGAIN: Final = 1013
_NO_STATUS: Final = 1005
_VERSIONS: Final = {str(number): number for number in VERSIONS}


def voice_version(scope: Scope) -> int | None:
    """The version of the voice gateway that a WebSocket asks for; None if it asks for the gateway.

    The gateway of events has other versions, and its clients name their encoding.
    """
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return None if "encoding" in query else _VERSIONS.get(query.get("v", [""])[0])


class VoiceRelay:
    """Carries WebSockets to the voice process. `network_of` returns the network of a client, "" for loopback."""

    def __init__(self, socket: VoiceSocket, network_of: Callable[[Scope], str]) -> None:
        self._socket = socket
        self._network_of = network_of
        self._open: dict[str, int] = {}
        """Open WebSockets by network."""

    async def serve(self, scope: Scope, receive: Receive, send: Send, version: int) -> None:
        """Serve one WebSocket from its handshake to its end (ASGI)."""
        await receive()
        network = self._network_of(scope)
        if network and self._open.get(network, 0) >= _PER_NETWORK:
            await send({"type": "websocket.close"})
            return
        self._open[network] = self._open.get(network, 0) + 1
        try:
            server = scope.get("server")
            hello = Hello(
                key=self._socket.key,
                control=False,
                network=network,
                address="" if server is None else str(server[0]),
                version=version,
            )
            budget = frame_budget(scope)
            if budget is not None:
                budget.close_code = CloseCode.RATE_LIMITED
            await send({"type": "websocket.accept"})
            await self._relay(hello, receive, send, budget)
        finally:
            self._open[network] -= 1
            if not self._open[network]:
                del self._open[network]

    async def _relay(self, hello: Hello, receive: Receive, send: Send, budget: FrameBudget | None) -> None:
        try:
            reader, writer = await self._connect(hello)
        except (OSError, TimeoutError):
            await send({"type": "websocket.close", "code": _TRY_AGAIN, "reason": "Voice is starting."})
            return
        try:
            await _Relay(reader, writer, receive, send, budget).run()
        finally:
            writer.close()

    async def _connect(self, hello: Hello) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the voice process, which may be starting. Raises OSError, TimeoutError."""
        async with asyncio.timeout(_STARTING_SECONDS):
            while True:
                try:
                    return await self._socket.connect(hello)
                except OSError:
                    await asyncio.sleep(_LOOK_SECONDS)


class _Relay:
    """Carries the messages of one WebSocket in both directions."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        receive: Receive,
        send: Send,
        budget: FrameBudget | None,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._receive = receive
        self._send = send
        self._budget = budget
        self._client_closed = False

    async def run(self) -> None:
        """Carry messages until an end closes."""
        tasks = [asyncio.ensure_future(work) for work in (self._from_client(), self._from_process())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[1] in done and not self._client_closed:
                closing = tasks[1].result()
                if closing is None:
                    # The process has crashed: the next one lets the client connect anew.
                    await asyncio.wait([tasks[0]], timeout=_TAKEN_OVER_SECONDS)
                    # One that has not heard of it begins anew: its session was the process's, and cannot be resumed.
                    closing = (CloseCode.SESSION_INVALID, "The voice server has crashed.")
                if not self._client_closed:
                    await self._send({"type": "websocket.close", "code": int(closing[0]), "reason": closing[1]})
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _from_client(self) -> None:
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                self._client_closed = True
                code = int(message.get("code") or _NO_STATUS)
                self._writer.write(framed(bytes((CLOSE,)) + code.to_bytes(2, "big")))
                return
            text = message.get("text")
            frame = bytes((BINARY,)) + (message.get("bytes") or b"") if text is None else bytes((TEXT,)) + text.encode()
            if len(frame) > _MAX_MESSAGE + 1:
                return
            self._writer.write(framed(frame))
            try:
                await self._writer.drain()
            except OSError:
                await asyncio.Event().wait()  # the process has ended, which the other direction notices

    async def _from_process(self) -> tuple[int, str] | None:
        """Send what the process says; its close code and reason, None if it ended without."""
        count = 0
        while True:
            try:
                frame = await read_frame(self._reader)
            except (asyncio.IncompleteReadError, OSError, ValueError):
                return None
            count += 1
            if count == 2 and self._budget is not None:
                # After Hello, a message is for a client that is known.
                self._budget.identify()
            if frame[0] == TEXT:
                await self._send({"type": "websocket.send", "text": frame[1:].decode()})
            elif frame[0] == BINARY:
                await self._send({"type": "websocket.send", "bytes": frame[1:]})
            else:
                return int.from_bytes(frame[1:3], "big"), frame[3:].decode("utf-8", "replace")
