"""Frames that carry no message: how many are parsed in one turn of the event loop, and how many are allowed."""

import asyncio
import base64
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from uvicorn.server import ServerState
from websockets.frames import Frame, Opcode

from moothall.app.server import http_config
from moothall.runtime.websocket_frames import (
    BYTES_AT_FIRST,
    FRAMES_PER_TURN,
    IDLE_FRAMES_AT_FIRST,
    IDLE_FRAMES_FREE,
    IDLE_FRAMES_OF_NEIGHBOUR,
    IDLE_FRAMES_OF_NETWORK,
    IDLE_FRAMES_PER_MINUTE,
    FrameScanner,
    NetworkFrames,
    frame_budget,
)
from moothall.server.websocket_protocol import GatewayWebSocket

PING = Frame(Opcode.PING, b"").serialize(mask=True)
PONG = Frame(Opcode.PONG, b"").serialize(mask=True)
EMPTY_FIRST = Frame(Opcode.TEXT, b"", fin=False).serialize(mask=True)
EMPTY_NEXT = Frame(Opcode.CONT, b"", fin=False).serialize(mask=True)
SMALL_NEXT = Frame(Opcode.CONT, b"x" * 20, fin=False).serialize(mask=True)
Application = Callable[[Any, Any, Any], Awaitable[None]]


class Watched(GatewayWebSocket):
    """Counts the frames that are parsed in each turn of the event loop."""

    turn = 0
    closes = 0
    parsed: Counter[int]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.ended = asyncio.Event()

    def handle_close(self, event: Frame) -> None:
        """Count a close frame of the client."""
        type(self).closes += 1
        super().handle_close(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end."""
        super().connection_lost(exc)
        self.ended.set()

    def handle_events(self) -> None:
        """Count the frames that are about to be handled."""
        events = self.conn.events_received()
        self.conn.events_received = lambda: events  # type: ignore[method-assign]
        type(self).parsed[type(self).turn] += sum(isinstance(event, Frame) for event in events)
        super().handle_events()
        del self.conn.events_received


class Client:
    """A WebSocket client that sends bytes of its own choice."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def upgrade(self) -> None:
        """The handshake."""
        key = base64.b64encode(bytes(16)).decode()
        self.writer.write(
            "GET /gateway HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
            f"sec-websocket-key: {key}\r\nsec-websocket-version: 13\r\n\r\n".encode()
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101")

    async def frame(self) -> tuple[int, bytes]:
        """The opcode and the payload of the server's next frame, of less than 64 KiB."""
        async with asyncio.timeout(30):
            first, length = await self.reader.readexactly(2)
            if length == 126:
                length = int.from_bytes(await self.reader.readexactly(2), "big")
            return first & 0x0F, await self.reader.readexactly(length)

    async def close_code(self) -> int:
        """Read up to the close frame."""
        while True:
            opcode, payload = await self.frame()
            if opcode == Opcode.CLOSE:
                return int.from_bytes(payload[:2], "big")


@asynccontextmanager
async def clients(application: Application, count: int = 1) -> AsyncIterator[list[Client]]:
    """Clients of a server in this process; what it parses is counted by `Watched`."""
    Watched.turn, Watched.closes, Watched.parsed = 0, 0, Counter()
    config = http_config(application, shutdown_seconds=1)
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Watched(config, state, {}), "127.0.0.1", 0)
    opened = []

    running = True

    def tick() -> None:
        Watched.turn += 1
        if running:
            loop.call_soon(tick)

    tick()
    try:
        for _ in range(count):
            opened.append(client := Client(*await asyncio.open_connection(*server.sockets[0].getsockname())))
            await client.upgrade()
        yield opened
    finally:
        for client in opened:
            client.writer.close()
        server.close()
        ended = [connection.ended for connection in state.connections if isinstance(connection, Watched)]
        for connection in state.connections:
            connection.transport.abort()
        await asyncio.gather(*(each.wait() for each in ended))
        await asyncio.gather(*state.tasks)
        running = False


class Echo:
    """Sends back every message, to clients that are identified from the start or not at all."""

    def __init__(self, *, identified: bool, code: int = 4008) -> None:
        self.networks = NetworkFrames()
        self.received: list[str | bytes] = []
        self.codes: list[int] = []
        self._identified = identified
        self._code = code

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        budget = frame_budget(scope)
        assert budget is not None
        budget.join(self.networks, "192.0.2.0")
        budget.close_code = self._code
        if self._identified:
            budget.identify()
        await receive()
        await send({"type": "websocket.accept"})
        while (event := await receive())["type"] == "websocket.receive":
            self.received.append(event.get("text") or event.get("bytes") or "")
            await send({"type": "websocket.send", "text": self.received[-1]})
        self.codes.append(event["code"])


@pytest.mark.parametrize("flood", [PING, PONG, EMPTY_NEXT, SMALL_NEXT], ids=["ping", "pong", "empty", "small"])
@pytest.mark.parametrize("identified", [False, True])
async def test_a_flood_of_frames_without_a_message_ends_its_connection_before_it_is_parsed(
    flood: bytes, identified: bool
) -> None:
    echo = Echo(identified=identified)
    async with clients(echo) as [client]:
        first = EMPTY_FIRST if flood in {EMPTY_NEXT, SMALL_NEXT} else b""
        client.writer.write(first + flood * 40_000)
        assert await client.close_code() == 4008
        allowed = IDLE_FRAMES_PER_MINUTE if identified else IDLE_FRAMES_AT_FIRST
        assert Watched.parsed.total() <= allowed
        assert max(Watched.parsed.values(), default=0) <= FRAMES_PER_TURN
    assert echo.codes == [4008]


async def test_messages_that_arrive_at_once_are_parsed_one_in_each_turn_and_all_are_received_in_order() -> None:
    echo = Echo(identified=True)
    async with clients(echo) as [client]:
        texts = [str(number) for number in range(500)]
        client.writer.write(b"".join(Frame(Opcode.TEXT, text.encode()).serialize(mask=True) for text in texts))
        assert [(await client.frame())[1].decode() for _ in texts] == texts
        assert max(Watched.parsed.values()) == 1


async def test_frames_may_be_cut_anywhere() -> None:
    echo = Echo(identified=True)
    texts = ["", "x" * 100, "y" * 300, "z" * 60_000]
    wire = b"".join(Frame(Opcode.TEXT, text.encode()).serialize(mask=True) + PING for text in texts)
    for size in (1, 2, 3, 7, 126, 4_099, 70_000):
        scanner, frames, idle = FrameScanner(), 0, 0
        for start in range(0, len(wire), size):
            data, position = wire[start : start + size], 0
            while position < len(data):
                position, started, without_message = scanner.scan(data, position, FRAMES_PER_TURN)
                frames, idle = frames + started, idle + without_message
        assert (size, frames, idle) == (size, 2 * len(texts), len(texts))
    async with clients(echo) as [client]:
        for start in range(0, len(wire), 997):
            client.writer.write(wire[start : start + 997])
            await asyncio.sleep(0)
        answers = [await client.frame() for _ in range(2 * len(texts))]
    assert [payload.decode() for opcode, payload in answers if opcode == Opcode.TEXT] == texts


async def test_a_message_in_several_fragments_is_received_whole() -> None:
    echo = Echo(identified=False)
    async with clients(echo) as [client]:
        for opcode, fin in ((Opcode.TEXT, False), (Opcode.CONT, False), (Opcode.CONT, True)):
            client.writer.write(Frame(opcode, b"x" * 1_000, fin=fin).serialize(mask=True))
        assert await client.frame() == (Opcode.TEXT, b"x" * 3_000)


async def test_a_connection_that_has_not_identified_sends_few_bytes() -> None:
    echo = Echo(identified=False)
    async with clients(echo) as [client]:
        client.writer.write(Frame(Opcode.TEXT, b"x" * BYTES_AT_FIRST).serialize(mask=True))
        assert await client.close_code() == 4008
    assert echo.received == []


async def test_a_client_that_goes_on_sending_after_the_server_closed_is_not_parsed_for_long() -> None:
    async def close_at_once(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": 4004})

    async with clients(close_at_once) as [client]:
        client.writer.write(Frame(Opcode.TEXT, b"").serialize(mask=True) * 2_000)
        assert await client.close_code() == 4004
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await client.frame()
        assert Watched.parsed.total() <= IDLE_FRAMES_AT_FIRST


async def test_a_client_that_answers_a_close_frame_ends_the_connection_although_more_came_before() -> None:
    async def close_at_once(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await asyncio.sleep(0.01)
        await send({"type": "websocket.close", "code": 4004})

    async with clients(close_at_once) as [client]:
        client.writer.write(Frame(Opcode.TEXT, b"").serialize(mask=True) * 5)
        client.writer.write(Frame(Opcode.CLOSE, (4004).to_bytes(2, "big")).serialize(mask=True))
        assert await client.close_code() == 4004
        assert await client.reader.read() == b""
        assert Watched.closes == 1


async def test_the_connections_of_a_network_share_a_limit_that_affects_those_who_send_such_frames() -> None:
    networks = NetworkFrames()
    echo = Echo(identified=True)
    echo.networks = networks
    async with clients(echo, 20) as opened:
        quiet, *others = opened
        allowed = IDLE_FRAMES_OF_NETWORK + IDLE_FRAMES_OF_NEIGHBOUR * len(opened)
        for client in others:
            client.writer.write(PING * IDLE_FRAMES_PER_MINUTE)
        await asyncio.gather(*(client.frame() for client in others))
        quiet.writer.write(PING * IDLE_FRAMES_FREE + Frame(Opcode.TEXT, b"here").serialize(mask=True))
        while (answer := await quiet.frame())[0] == Opcode.PONG:
            pass
        assert answer == (Opcode.TEXT, b"here")
        await asyncio.gather(*(client.reader.read() for client in others))
        assert Watched.parsed.total() <= allowed + FRAMES_PER_TURN * len(opened)
    assert echo.codes.count(4008) >= 5


def test_networks_without_connections_are_not_remembered() -> None:
    networks = NetworkFrames()
    for number in range(20_000):
        networks.add(str(number))
        networks.spend(str(number), 1, 1.0)
        networks.remove(str(number), 2.0)
    assert len(networks) <= 10_001
