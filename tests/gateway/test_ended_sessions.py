"""What ended connections and sessions leave in memory: nothing, without a collection of cycles."""

import asyncio
import contextlib
import gc
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
from websockets.server import ServerProtocol

from moothall.bus.local import LocalBus
from moothall.gateway.node import GatewayNode
from moothall.gateway.protocol.send_queue import SendQueue
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.session import Session
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.server.http_exchange import Exchange
from moothall.server.http_protocol import BoundedHttp
from moothall.server.websocket_protocol import GatewayWebSocket
from tests.gateway.peer import message
from tests.gateway.raw_sockets import RawClient
from tests.support.served_gateways import serving, serving_application

PATIENCE = 30
CLIENTS = 5
KINDS = (Session, Connection, SendQueue, GatewayWebSocket, ServerProtocol, BoundedHttp, Exchange)

_of_earlier_tests: list[object] = []
"""What another test's closed event loop still refers to."""

Ending = Callable[[GatewayNode, LocalBus, RawClient], Awaitable[None]]


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """No garbage of cycles is collected, and none is there."""
    gc.collect()
    gc.disable()
    _of_earlier_tests.extend(_existing())
    try:
        yield
    finally:
        _of_earlier_tests.clear()
        gc.enable()


def left() -> Counter[str]:
    """The objects of connections and sessions that exist, without those of earlier tests."""
    earlier = set(map(id, _of_earlier_tests))
    return Counter(type(each).__name__ for each in _existing() if id(each) not in earlier)


def _existing() -> list[object]:
    return [each for each in gc.get_objects() if isinstance(each, KINDS)]


async def nothing_is_left() -> None:
    """Wait until no connection and no session exists."""
    try:
        async with asyncio.timeout(PATIENCE):
            while left():  # noqa: ASYNC110 - freeing has no event
                await asyncio.sleep(0.02)
    except TimeoutError:
        pytest.fail(f"left in memory: {left()}")


@contextlib.asynccontextmanager
async def identified(**settings: object) -> AsyncIterator[tuple[GatewayNode, LocalBus, list[RawClient]]]:
    """A node with clients that have identified, and have not acknowledged their events."""
    async with serving(**settings) as (node, bus, url):
        clients = [await RawClient.open(url) for _ in range(CLIENTS)]
        for client in clients:
            client.identify("alice")
            await client.until("GUILD_CREATE")
        bus.publish([message("in the replay buffers")])
        for client in clients:
            await client.until("MESSAGE_CREATE")
        yield node, bus, clients


async def close_normally(_node: GatewayNode, _bus: LocalBus, client: RawClient) -> None:
    """The client sends a close frame with 1000."""
    client.writer.write(b"\x88\x82" + bytes(4) + (1000).to_bytes(2))
    while await client.receive() is not None:
        pass


async def break_the_protocol(_node: GatewayNode, _bus: LocalBus, client: RawClient) -> None:
    """The client sends what is no frame."""
    client.writer.write(b"\xff" * 20)
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while await client.receive() is not None:
            pass


async def send_an_unknown_opcode(_node: GatewayNode, _bus: LocalBus, client: RawClient) -> None:
    """The client is disconnected with an error code."""
    client.send(99, None)
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while await client.receive() is not None:
            pass


async def reset(_node: GatewayNode, _bus: LocalBus, client: RawClient) -> None:
    """The client resets its connection."""
    client.reset()


ENDINGS = [close_normally, break_the_protocol, send_an_unknown_opcode, reset]


async def all_ended(node: GatewayNode) -> None:
    """Wait until no connection is served, and end the sessions that could be resumed."""
    while node.connections:  # noqa: ASYNC110 - the end of a connection has no event
        await asyncio.sleep(0.01)
    while node.hub.sessions:
        await node.ends.end(next(iter(node.hub.sessions.values())))


@pytest.mark.parametrize("direct_writes", [True, False])
@pytest.mark.parametrize("end", ENDINGS)
async def test_ended_sessions_and_connections_are_freed_without_a_collection(
    end: Ending, *, direct_writes: bool
) -> None:
    with without_collections():
        async with identified(direct_writes=direct_writes) as (node, bus, clients):
            assert left()["Session"] == left()["GatewayWebSocket"] == CLIENTS
            while clients:
                client = clients.pop()
                await end(node, bus, client)
                await client.close()
            await all_ended(node)
            await nothing_is_left()


async def test_a_session_that_was_resumed_is_freed_with_both_connections() -> None:
    with without_collections():
        async with serving() as (node, _, url):
            first = await RawClient.open(url)
            first.identify("alice")
            session_id = (await first.until("READY"))["session_id"]
            await first.until("GUILD_CREATE")
            second = await RawClient.open(url)
            second.resume("alice", session_id, 0)
            await second.until("RESUMED")
            assert left()["Session"] == 1
            for client in (first, second):
                client.reset()
            await all_ended(node)
            await nothing_is_left()


async def test_a_session_that_has_ended_has_no_replay_buffer() -> None:
    async with identified() as (node, _, clients):
        session = next(iter(node.hub.sessions.values()))
        assert session.replay_buffer
        await node.ends.end(session)
        assert not session.replay_buffer
        for client in clients:
            await client.close()


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer requests with what they sent; some fail before they are answered, or while they are."""
    body, more = b"", True
    while more:
        event = await receive()
        body, more = body + event.get("body", b""), event.get("more_body", False)
    if scope["path"] == "/fails":
        raise LookupError(scope["path"])
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if scope["path"] == "/breaks":
        raise LookupError(scope["path"])
    await send({"type": "http.response.body", "body": body})


REQUESTS = {
    "answered": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "pipelined": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 3,
    "failing": b"GET /fails HTTP/1.1\r\nHost: a\r\n\r\n",
    "breaking": b"GET /breaks HTTP/1.1\r\nHost: a\r\n\r\n",
    "unfinished": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nhello",
    "malformed": b"\0\0\0\0 HTTP/1.1\r\n\r\n",
    "oversized": b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
}


@pytest.mark.parametrize("request_bytes", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("resets", [True, False])
async def test_ended_http_connections_are_freed_without_a_collection(
    request_bytes: bytes, monkeypatch: pytest.MonkeyPatch, *, resets: bool
) -> None:
    # The log that pytest keeps refers to the traceback of each failure.
    monkeypatch.setattr(logging.getLogger("moothall.http"), "disabled", True)
    with without_collections():
        async with serving_application(answer) as (host, port):
            for _ in range(CLIENTS):
                reader, writer = await asyncio.open_connection(host, port)
                client = RawClient(reader, writer)
                writer.write(request_bytes)
                with contextlib.suppress(TimeoutError, ConnectionError):
                    await asyncio.wait_for(reader.read(100), 0.05)
                if resets:
                    client.reset()
                else:
                    await client.close()
            await nothing_is_left()
