"""The bus of several processes of one machine: the one that writes passes every message on, over a Unix socket.

All processes receive all messages in one order, that of the process that writes, the publisher's own included. A worker
whose connection ends has lost messages; it says so to the subscribers' `on_gap` once it is connected again.
"""

import asyncio
import logging
import socket
import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, cast

import msgspec

from moothall.bus.envelope import BusUnavailable, Envelope, Receive, require_routes
from moothall.bus.packing import Unpacker, encode_envelope, pack
from moothall.bus.subscribers import Subscribers

log = logging.getLogger("moothall.bus")

_LENGTH: Final = struct.Struct("!I")
_MAX_MESSAGE_BYTES: Final = 256 << 10
_MAX_BUFFERED_BYTES: Final = 64 << 20
"""Bytes that wait for a process that does not read; with more it is disconnected."""
_MAX_QUEUED: Final = 10_000
"""Messages of a worker that wait while it is not connected; further ones are dropped."""
_RETRY_SECONDS: Final = 0.05
_HELLO: Final = b"?"
"""Begins the first message of a worker, before its name."""
_WELCOME: Final = b"!"
"""The first message to a worker: from here on it receives everything."""


def _frame(message: bytes) -> bytes:
    return _LENGTH.pack(len(message)) + message


class _Messages(asyncio.Protocol):
    """A connection that carries messages, each after its length."""

    def __init__(self, on_message: Callable[["_Messages", bytes], None], on_end: Callable[["_Messages"], None]) -> None:
        self.name = ""
        """The name of the worker, once it has sent it."""
        self._on_message = on_message
        self._on_end = on_end
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end."""
        del exc
        self._transport = None
        self._on_end(self)

    def data_received(self, data: bytes) -> None:
        """Pass on each whole message."""
        self._buffer += data
        for message in self._split():
            self._on_message(self, message)

    def send(self, frames: bytes) -> None:
        """Write frames, or end the connection of a process that does not read. Raises nothing."""
        if self._transport is None or self._transport.is_closing():
            return
        if self._transport.get_write_buffer_size() > _MAX_BUFFERED_BYTES:
            log.warning("a process does not read its events: it is disconnected, and its sessions begin anew")
            self._transport.abort()
            return
        try:
            self._transport.write(frames)
        except Exception:  # the other processes receive what is published
            log.exception("events could not be sent to a process: it is disconnected")
            self._transport.abort()

    def close(self) -> None:
        """Write what is buffered and disconnect."""
        if self._transport is not None:
            self._transport.close()

    def _split(self) -> Iterator[bytes]:
        position = 0
        buffer = self._buffer
        while len(buffer) - position >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(buffer, position)
            end = position + _LENGTH.size + length
            if len(buffer) < end:
                break
            yield bytes(buffer[position + _LENGTH.size : end])
            position = end
        del buffer[:position]


def _pack(node: str, envelopes: Iterable[Envelope]) -> bytes:
    encoded = [encode_envelope(envelope) for envelope in envelopes]
    return b"".join(map(_frame, pack(node, (), encoded, max_bytes=_MAX_MESSAGE_BYTES)))


class WriterBus:
    """The bus in the process that writes: it listens for the workers and passes on what each of them publishes.

    `on_leave` is called with the name of a worker whose connection has ended.
    """

    durable = False
    shared = True

    def __init__(self, listening: socket.socket, *, node: str) -> None:
        self.on_leave: Callable[[str], None] | None = None
        self._listening = listening
        self._node = node
        self._workers: dict[_Messages, Unpacker] = {}
        self._subscribers = Subscribers()
        self._server: asyncio.AbstractServer | None = None

    @property
    def worker_count(self) -> int:
        """How many workers are connected."""
        return len(self._workers)

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Send events to every worker, then call the subscribers of this process."""
        require_routes(envelopes)
        if self._workers:
            self._send_all(_pack(self._node, envelopes))
        self._subscribers.call(envelopes)

    def subscribe(
        self,
        receive: Receive,
        *,
        on_gap: Callable[[], None] | None = None,
        on_reconnect: Callable[[], None] | None = None,
    ) -> None:
        """Call `receive` with everything published. This process has no gap: every message passes through it."""
        self._subscribers.add(receive, on_gap, on_reconnect)

    async def start(self, space: str = "") -> None:
        """Accept the workers' connections."""
        del space
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(
            lambda: _Messages(self._handle_message, self._handle_end), sock=self._listening
        )

    async def close(self) -> None:
        """End the workers' connections. Does nothing the second time."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        self.on_leave = None
        for worker in list(self._workers):
            worker.close()

    def _send_all(self, frames: bytes) -> None:
        for worker in list(self._workers):
            worker.send(frames)

    def _handle_message(self, worker: _Messages, message: bytes) -> None:
        unpacker = self._workers.get(worker)
        if unpacker is None:
            worker.name = message.removeprefix(_HELLO).decode("ascii")
            self._workers[worker] = Unpacker()
            worker.send(_frame(_WELCOME))
            return
        self._send_all(_frame(message))
        try:
            batch = unpacker.unpack(message)
        except msgspec.DecodeError:
            log.exception("a message of a worker cannot be read")
            self._subscribers.report_gap()
            return
        if batch is not None:
            self._subscribers.call(batch.envelopes)

    def _handle_end(self, worker: _Messages) -> None:
        if self._workers.pop(worker, None) is not None and self.on_leave is not None:
            self.on_leave(worker.name)


class WorkerBus:
    """The bus in a worker: connected to the `WriterBus` behind the socket at `path`.

    `node` names this process in sixteen ASCII letters.
    """

    durable = False
    shared = True

    def __init__(self, path: Path, *, node: str) -> None:
        self.dropped = 0
        """Messages dropped because too many waited for a connection."""
        self._path = path
        self._node = node
        self._subscribers = Subscribers()
        self._unpacker = Unpacker()
        self._connection: _Messages | None = None
        self._welcome: asyncio.Future[None] | None = None
        self._queue: deque[bytes] = deque()
        self._closing = False
        self._reconnecting: asyncio.Task[None] | None = None

    @property
    def connected(self) -> bool:
        """Whether this process receives what is published."""
        return self._connection is not None

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Send events to all processes, or queue them until this one is connected again."""
        require_routes(envelopes)
        frames = _pack(self._node, envelopes)
        if self._connection is not None:
            self._connection.send(frames)
        elif len(self._queue) < _MAX_QUEUED:
            self._queue.append(frames)
        else:
            self.dropped += 1

    def subscribe(
        self,
        receive: Receive,
        *,
        on_gap: Callable[[], None] | None = None,
        on_reconnect: Callable[[], None] | None = None,
    ) -> None:
        """Call `receive` with everything published from the start on, by whichever process."""
        self._subscribers.add(receive, on_gap, on_reconnect)

    async def start(self, space: str = "", *, timeout: float = 10.0) -> None:
        """Connect, retrying for `timeout` seconds. Raises BusUnavailable."""
        del space
        try:
            async with asyncio.timeout(timeout):
                await self._connect()
        except TimeoutError as error:
            raise BusUnavailable("the process that writes does not accept this worker") from error

    async def close(self) -> None:
        """Send what is buffered and disconnect. Does nothing the second time."""
        self._closing = True
        if self._reconnecting is not None:
            self._reconnecting.cancel()
            await asyncio.gather(self._reconnecting, return_exceptions=True)
            self._reconnecting = None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def _connect(self) -> None:
        """Connect and wait for the welcome."""
        loop = asyncio.get_running_loop()
        while True:
            self._unpacker = Unpacker()
            self._welcome = loop.create_future()
            with suppress(OSError):
                _, connection = await loop.create_unix_connection(
                    lambda: _Messages(self._handle_message, self._handle_end), str(self._path)
                )
                connection.send(_frame(_HELLO + self._node.encode()))
                await self._welcome
                self._connection = connection
                while self._queue:
                    connection.send(self._queue.popleft())
                return
            await asyncio.sleep(_RETRY_SECONDS)

    async def _reconnect(self) -> None:
        await self._connect()
        log.warning("connected again to the process that writes; events may be lost, so sessions begin anew")
        self._subscribers.report_gap()
        self._subscribers.report_reconnect()

    def _handle_message(self, connection: _Messages, message: bytes) -> None:
        del connection
        if message == _WELCOME:
            if self._welcome is not None and not self._welcome.done():
                self._welcome.set_result(None)
            return
        try:
            batch = self._unpacker.unpack(message)
        except msgspec.DecodeError:
            log.exception("a message of the bus cannot be read")
            self._subscribers.report_gap()
            return
        if batch is not None:
            self._subscribers.call(batch.envelopes)

    def _handle_end(self, connection: _Messages) -> None:
        if self._welcome is not None and not self._welcome.done():
            self._welcome.set_exception(ConnectionResetError())
        elif connection is self._connection and not self._closing:
            self._connection = None
            self._reconnecting = asyncio.get_running_loop().create_task(self._reconnect())
