"""Connections that say too little for too long are ended; slow answers are nobody's fault."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from moothall.web import connections
from moothall.web.connections import BoundedHttp

HEAD = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n"
BRIEF, LONG = 0.4, 1.0

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def reads_then_answers(scope: Any, receive: Any, send: Any) -> None:
    """An application that takes long when asked to, and answers with the body."""
    if scope["path"] == "/slow":
        await asyncio.sleep(LONG)
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def port(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """A server with little patience."""
    monkeypatch.setattr(connections, "HEAD_SECONDS", BRIEF)
    monkeypatch.setattr(connections, "BODY_SECONDS", BRIEF)
    config = uvicorn.Config(reads_then_answers, http=BoundedHttp, ws="none", access_log=False)
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: BoundedHttp(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    yield server.sockets[0].getsockname()[1]
    server.close()
    for connection in list(state.connections):
        connection.shutdown()
    while state.tasks or state.connections:  # noqa: ASYNC110 uvicorn has no event for it
        await asyncio.sleep(0.01)


async def connect(port: int) -> Connection:
    return await asyncio.open_connection("127.0.0.1", port)


async def heard(connection: Connection, *, within: float) -> bytes:
    """What comes until the server closes the connection."""
    reader, writer = connection
    try:
        async with asyncio.timeout(within):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def dripped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, drop: bytes) -> int:
    """How many drops the server took before it closed the connection, at most forty."""
    for drops in range(40):
        try:
            writer.write(drop)
            await writer.drain()
        except ConnectionError:
            return drops
        await asyncio.sleep(BRIEF / 4)
        if reader.at_eof():
            writer.close()
            return drops
    return 40


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nx: ", b"\r\n", HEAD, HEAD + b"ab"])
async def test_whoever_does_not_finish_a_request_is_let_go_unanswered(port: int, said: bytes) -> None:
    connection = await connect(port)
    connection[1].write(said)
    assert await heard(connection, within=10 * BRIEF) == b""


async def test_dripping_does_not_prolong_a_head(port: int) -> None:
    reader, writer = await connect(port)
    writer.write(b"GET / HTTP/1.1\r\nx: ")
    assert await dripped(reader, writer, b"y") < 40


async def test_blank_lines_between_requests_do_not_keep_a_connection(port: int) -> None:
    reader, writer = await connect(port)
    writer.write(HEAD + b"abcd")
    assert (await reader.readuntil(b"abcd")).startswith(b"HTTP/1.1 200")
    assert await dripped(reader, writer, b"\r\n") < 40


async def test_a_body_may_take_its_time_as_long_as_it_goes_on(port: int) -> None:
    reader, writer = await connect(port)
    writer.write(HEAD)
    for letter in b"abcd":
        await asyncio.sleep(BRIEF * 0.3)
        writer.write(bytes([letter]))
    assert (await reader.readuntil(b"abcd")).startswith(b"HTTP/1.1 200")
    writer.close()


async def test_a_slow_answer_is_waited_for(port: int) -> None:
    reader, writer = await connect(port)
    for _ in range(2):
        writer.write(HEAD.replace(b"/ ", b"/slow ") + b"abcd")
        assert (await reader.readuntil(b"abcd")).startswith(b"HTTP/1.1 200")
    writer.close()
