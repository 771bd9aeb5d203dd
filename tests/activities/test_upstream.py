"""Requests to targets by hand: what a target may send, and when a connection serves the next request."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from moothall.activities import upstream
from moothall.activities.upstream import Destination, Request, Response, Upstream
from moothall.runtime.outgoing import ConnectionFailed

_OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Script:
    """A server that answers each request with the next of its answers; None closes the connection instead."""

    def __init__(self) -> None:
        self.answers: list[bytes | None] = []
        self.received: list[bytes] = []
        self.connections = 0
        self.writers: list[asyncio.StreamWriter] = []
        self.port = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        try:
            while self.answers:
                head = await reader.readuntil(b"\r\n\r\n")
                body = b""
                if b"chunked" in head:
                    body = await reader.readuntil(b"0\r\n\r\n")
                self.received.append(head + body)
                await self.may_answer.wait()
                answer = self.answers.pop(0)
                if answer is None:
                    return
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    served = Script()
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    served.port = server.sockets[0].getsockname()[1]
    yield served
    server.close()


@pytest.fixture
async def client() -> AsyncIterator[Upstream]:
    made = Upstream()
    yield made
    made.close()


@pytest.fixture
def ask(script: Script, client: Upstream) -> Callable[..., "asyncio.Future[bytes]"]:
    async def request(method: str = "GET", *, body: AsyncIterator[bytes] | None = None, seconds: float = 5) -> bytes:
        """Make a request; its whole body."""
        head = f"{method} / HTTP/1.1\r\nhost: x\r\n{'' if body is None else 'transfer-encoding: chunked'}\r\n"
        if body is not None:
            head += "\r\n"
        sent = Request(head.encode(), method == "HEAD", method == "GET", body, chunked=body is not None)
        destination = Destination("127.0.0.1", script.port, encrypted=False)
        async with asyncio.timeout(5):
            response = await client.request(destination, sent, seconds=seconds, allow_private=True)
            try:
                return await _whole(response)
            finally:
                response.close()

    return lambda *args, **options: asyncio.ensure_future(request(*args, **options))


async def _whole(response: Response) -> bytes:
    body = b""
    while part := await response.read():
        body += part
    return body


async def test_a_connection_serves_one_request_after_the_other(script: Script, ask: Callable[..., Any]) -> None:
    script.answers = [
        _OK,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nT: x\r\n\r\n",
        _OK,
    ]
    assert [await ask(), await ask(), await ask()] == [b"ok", b"abc", b"ok"]
    assert script.connections == 1


async def test_an_informational_response_precedes_the_real_one(script: Script, ask: Callable[..., Any]) -> None:
    script.answers = [b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + _OK]
    assert await ask() == b"ok"


async def test_a_body_without_length_ends_with_its_connection(script: Script, ask: Callable[..., Any]) -> None:
    script.answers = [b"HTTP/1.1 200 OK\r\n\r\nuntil the end"]
    assert await ask() == b"until the end"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ncut", id="too short a body"),
        pytest.param(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\ncut", id="a chunk that is cut"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", id="two lengths"
        ),
        pytest.param(
            b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", id="another protocol"
        ),
        pytest.param(b"SSH-2.0-OpenSSH\r\n", id="no HTTP"),
        None,
    ],
)
async def test_what_is_no_whole_response_is_an_error(
    script: Script, ask: Callable[..., Any], answer: bytes | None
) -> None:
    script.answers = [answer]
    with pytest.raises(ConnectionFailed):
        await ask()


@pytest.mark.parametrize(
    "head", [b"", b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"], ids=["a head", "trailers"]
)
async def test_heads_and_trailers_are_bounded(script: Script, ask: Callable[..., Any], head: bytes) -> None:
    script.answers = [b"HTTP/1.1 200 OK\r\n" + head + b"x: " + b"x" * 300_000, _OK]
    with pytest.raises(ConnectionFailed, match="too large"):
        await ask()


async def test_a_target_answers_no_request_that_was_not_made(script: Script, ask: Callable[..., Any]) -> None:
    """What follows a response is not taken for the response to the next request, maybe of another application."""
    script.answers = [_OK + b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nstolen", _OK]
    assert [await ask(), await ask()] == [b"ok", b"ok"]
    assert script.connections == 2


async def test_what_comes_without_a_request_ends_the_connection(
    script: Script, client: Upstream, ask: Callable[..., Any]
) -> None:
    script.answers = [_OK, _OK]
    assert await ask() == b"ok"
    script.writers[0].write(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nstolen")
    async with asyncio.timeout(5):
        while client.connections:  # noqa: ASYNC110 connections announce nothing
            await asyncio.sleep(0.01)
    assert await ask() == b"ok"
    assert script.connections == 2


async def test_a_head_request_has_no_body(script: Script, ask: Callable[..., Any]) -> None:
    script.answers = [b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n", _OK]
    assert [await ask("HEAD"), await ask()] == [b"", b"ok"]


async def test_a_request_is_repeated_only_if_that_does_no_harm(script: Script, ask: Callable[..., Any]) -> None:
    script.answers = [_OK, None, _OK, None]
    assert [await ask(), await ask()] == [b"ok", b"ok"]  # the second one on a connection that the target then closed
    with pytest.raises(ConnectionFailed):
        await ask("POST")
    assert [each[:4] for each in script.received] == [b"GET ", b"GET ", b"GET ", b"POST"]


async def test_a_body_is_sent_as_it_comes(script: Script, ask: Callable[..., Any]) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"first"
        yield b"second"

    script.answers = [_OK, _OK]
    assert [await ask("POST", body=body()), await ask()] == [b"ok", b"ok"]
    assert script.received[0].endswith(b"5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n")
    assert script.connections == 1


async def test_a_body_that_breaks_off_ends_the_request(script: Script, ask: Callable[..., Any]) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"first"
        raise ConnectionError("the browser has left")

    script.answers = [_OK]
    with pytest.raises(ConnectionError, match="the browser has left"):
        await ask("POST", body=body())


async def test_a_target_that_does_not_answer_is_a_timeout(script: Script, ask: Callable[..., Any]) -> None:
    script.answers = [_OK]
    script.may_answer.clear()
    with pytest.raises(TimeoutError, match="silent"):
        await ask(seconds=0.05)
    script.may_answer.set()


async def test_a_body_that_pauses_for_too_long_is_a_timeout(
    script: Script, ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstream, "PAUSE_SECONDS", 0.05)
    script.answers = [b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nslow", _OK]
    with pytest.raises(TimeoutError, match="silent"):
        await ask(seconds=0.2)


async def test_an_idle_connection_is_closed(
    script: Script, client: Upstream, ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstream, "IDLE_SECONDS", 0.05)
    script.answers = [_OK, _OK]
    assert await ask() == b"ok"
    async with asyncio.timeout(5):
        while client.connections:  # noqa: ASYNC110 connections announce nothing
            await asyncio.sleep(0.01)
    assert await ask() == b"ok"
    assert script.connections == 2


async def test_requests_wait_for_their_turn(
    script: Script, ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstream, "_CONNECTIONS_PER_TARGET", 2)
    script.answers = [_OK] * 8
    script.may_answer.clear()
    requests = [ask() for _ in range(8)]
    while len(script.received) < 2:  # noqa: ASYNC110 connections announce nothing
        await asyncio.sleep(0.01)
    script.may_answer.set()
    assert await asyncio.gather(*requests) == [b"ok"] * 8
    assert script.connections == 2


async def test_an_idle_connection_makes_room_for_another_target(
    script: Script, client: Upstream, ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstream, "_CONNECTIONS", 1)
    script.answers = [_OK, _OK]
    assert await ask() == b"ok"
    other = Destination("localhost", script.port, encrypted=False)
    request = Request(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n", is_head=False, repeatable=True, body=None, chunked=False)
    response = await client.request(other, request, seconds=5, allow_private=True)
    assert await _whole(response) == b"ok"
    with pytest.raises(ConnectionFailed):
        await ask()
    response.close()


async def test_a_slow_reader_holds_up_the_target(script: Script, client: Upstream) -> None:
    size = 8 * 1024 * 1024
    script.answers = [b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size + bytes(size)]
    request = Request(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n", is_head=False, repeatable=True, body=None, chunked=False)
    destination = Destination("127.0.0.1", script.port, encrypted=False)
    response = await client.request(destination, request, seconds=5, allow_private=True)
    await asyncio.sleep(0.1)
    assert response.buffered < size / 2
    assert len(await _whole(response)) == size
    response.close()
