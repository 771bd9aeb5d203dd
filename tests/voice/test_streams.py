"""Browsers that have no UDP speak and listen by TCP, and a connection that proves nothing ends."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.voice.client import SOON
from tests.voice.in_process import InProcessChannel
from tests.voice.peer import Peer


class FramedSocket:
    """A TCP connection, with the methods that a peer uses of its socket."""

    def __init__(self, server: tuple[str, int]) -> None:
        self.raw = socket.create_connection(server)
        self.raw.setblocking(False)

    def send(self, data: bytes) -> None:
        """Send a frame."""
        self.raw.sendall(len(data).to_bytes(2, "big") + data)

    def getsockname(self) -> Any:
        """The address, as the server knows it."""
        return (*self.raw.getsockname(), "tcp")

    def close(self) -> None:
        """End the connection."""
        self.raw.close()


class StreamPeer(Peer):
    """A browser that reaches the server by TCP."""

    _received = b""

    def new_socket(self) -> Any:
        """Another connection."""
        return FramedSocket(self.server)

    async def receive(self, source: Any = None, *, seconds: float = 5.0) -> bytes | None:
        """The next frame; None if there is none in time, and at the end."""
        framed: Any = source or self.socket
        connection: socket.socket = framed.raw
        try:
            async with asyncio.timeout(seconds):
                while len(self._received) < 2 or len(self._received) < 2 + int.from_bytes(self._received[:2], "big"):
                    data = await asyncio.get_running_loop().sock_recv(connection, 2048)
                    if not data:
                        return None
                    self._received += data
        except (TimeoutError, ConnectionError):
            return None
        size = 2 + int.from_bytes(self._received[:2], "big")
        frame, self._received = self._received[2:size], self._received[size:]
        return frame


@pytest.fixture
async def channel() -> AsyncIterator[InProcessChannel]:
    """A channel in this process, which is reached by TCP as well."""
    async with AsyncExitStack() as stack:
        made = InProcessChannel(stack)
        await made.streams.start()
        while not made.datagrams.has_streams:  # another program has taken the number that UDP was given
            made = InProcessChannel(stack)
            await made.streams.start()
        yield made


async def ended(connection: FramedSocket) -> bool:
    """Whether the server ends a connection soon."""
    try:
        async with asyncio.timeout(SOON):
            while await asyncio.get_running_loop().sock_recv(connection.raw, 2048):
                pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


async def test_sound_goes_from_udp_to_tcp_and_back_until_the_connection_ends(channel: InProcessChannel) -> None:
    speaker, speaking = await channel.connected()
    listener, listening = await channel.connected(StreamPeer)
    for number in range(5):
        speaker.socket.send(speaker.packet(b"%d" % number, number))
        assert await listener.hear() == (speaking.ssrc, number, b"%d" % number)
        listener.socket.send(listener.packet(b"answer", number))
        assert await speaker.hear() == (listening.ssrc, number, b"answer")
    assert listening.address == listener.socket.getsockname()

    listener.socket.close()
    async with asyncio.timeout(SOON):
        while listening.address is not None:  # noqa: ASYNC110 the end of a connection tells no one here
            await asyncio.sleep(0.01)
    assert not [each for each in channel.rooms.by_address if each[-1] == "tcp"]


async def test_frames_that_arrive_in_pieces_are_put_together(channel: InProcessChannel) -> None:
    peer, _ = await channel.peer(StreamPeer)
    request = peer.request()
    framed = len(request).to_bytes(2, "big") + request
    for at in range(0, len(framed), 7):
        peer.socket.raw.sendall(framed[at : at + 7])  # type: ignore[attr-defined]
        await asyncio.sleep(0)
    answer = await peer.receive()
    assert answer is not None
    assert answer[:2] == b"\x01\x01"


DISCOVERY = b"\0\x4a\0\x01\0\x46" + bytes(70)


@pytest.mark.parametrize("frame", [b"GET / HTTP/1.1\r\n\r\n", b"\0\0", b"\xff\xff", b"\0\x04\x80\0\0\0", DISCOVERY])
async def test_what_does_not_begin_with_a_check_ends(channel: InProcessChannel, frame: bytes) -> None:
    connection = FramedSocket(("127.0.0.1", channel.datagrams.port))
    connection.raw.sendall(frame)
    assert await ended(connection)
    connection.close()


async def test_a_connection_that_proves_nothing_in_time_ends(channel: InProcessChannel) -> None:
    peer, _ = await channel.peer(StreamPeer)
    proven, _ = await channel.connected(StreamPeer)
    await asyncio.sleep(0.01)
    channel.streams.sweep(asyncio.get_running_loop().time() + 11)
    assert await ended(peer.socket)  # type: ignore[arg-type]
    assert await proven.check() is not None


async def test_one_host_has_few_connections(channel: InProcessChannel) -> None:
    connections = [FramedSocket(("127.0.0.1", channel.datagrams.port)) for _ in range(33)]
    assert await ended(connections[-1])
    for each in connections:
        each.close()
