"""Connections with slow or oversized requests are closed; slow responses are not."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from moothall.server import http_protocol
from moothall.server.http_protocol import HEAD_BYTES, HEADERS_MAX, BoundedHttp

HEAD = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n"
BRIEF, LONG = 0.4, 1.0

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def reads_then_answers(scope: Any, receive: Any, send: Any) -> None:
    """An ASGI application that responds with the body or the names of the headers, slowly on request."""
    if scope["path"] == "/slow":
        await asyncio.sleep(LONG)
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            break
    if scope["path"].startswith("/whole"):
        assert "moothall.whole_response" in scope["extensions"]
        value = b"a\r\nset-cookie: b" if scope["path"] == "/whole/forged" else b"a"
        headers = [(b"content-length", b"%d" % len(body)), (b"x-value", value)]
        await send({"type": "http.response.start", "status": 200, "headers": headers, "body": body})
        return
    if scope["path"] == "/headers":
        body = b"\n".join(name for name, _ in scope["headers"])
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server wait for requests for a brief time only."""
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", BRIEF)
    monkeypatch.setattr(http_protocol, "BODY_SECONDS", BRIEF)


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """The port of a server."""
    async with serving(reads_then_answers) as port:
        yield port


@asynccontextmanager
async def serving(application: Any) -> AsyncIterator[int]:
    """The port of a server of an application, whose state has the `transports` of all connections."""
    config = uvicorn.Config(application, http=BoundedHttp, ws="none", access_log=False)
    config.load()
    state = ServerState()
    transports: list[asyncio.BaseTransport] = []

    class Noted(BoundedHttp):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            transports.append(transport)
            super().connection_made(transport)

    server = await asyncio.get_running_loop().create_server(
        lambda: Noted(config=config, server_state=state, app_state={"transports": transports}), "127.0.0.1", 0
    )
    yield server.sockets[0].getsockname()[1]
    server.close()
    for connection in list(state.connections):
        connection.shutdown()
    while state.tasks or state.connections:  # noqa: ASYNC110 uvicorn has no event for it
        await asyncio.sleep(0.01)


async def connect(port: int) -> Connection:
    return await asyncio.open_connection("127.0.0.1", port)


async def heard(connection: Connection) -> bytes:
    """Read until the server closes the connection."""
    reader, writer = connection
    try:
        async with asyncio.timeout(30):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def head_of(size: int, *, line: int = 0, body: int = 0) -> bytes:
    """A request head of `size` bytes, with a first line of `line` bytes unless that is 0."""
    path = b"/" + b"p" * max(0, line - len(b"POST / HTTP/1.1\r\n"))
    head = b"POST %b HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n" % (path, body)
    while (missing := size - len(head) - 2) > 0:
        # The rest of the last header must be long enough to be one.
        length = missing if missing < 2000 else 1000
        head += b"x-%05d: %b\r\n" % (len(head), b"y" * (length - 11))
    return head + b"\r\n"


def refusal(answer: bytes) -> tuple[int, Any]:
    """The status and body of a single response, which has the format of the API."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert b"content-type: application/json" in lines
    assert b"connection: close" in lines
    assert any(line.startswith(b"x-request-id: ") for line in lines)
    assert set(json.loads(body)) == {"code", "message"}
    return int(lines[0].split()[1]), json.loads(body)["code"]


async def dripped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, drop: bytes) -> int:
    """How many drops the server read before it closed the connection, at most forty."""
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


async def dripped_through(writer: asyncio.StreamWriter) -> int:
    """How many pieces of 16 kB the server read before it closed the connection, at most a thousand."""
    for pieces in range(1_000):
        try:
            writer.write(b"y" * 16_000)
            await writer.drain()
        except ConnectionError:
            return pieces
        await asyncio.sleep(BRIEF / 100)
    return 1_000


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nx: ", b"\r\n", HEAD, HEAD + b"ab"])
@pytest.mark.usefixtures("brief")
async def test_an_unfinished_request_is_closed_without_a_response(port: int, said: bytes) -> None:
    connection = await connect(port)
    connection[1].write(said)
    assert await heard(connection) == b""


@pytest.mark.usefixtures("brief")
async def test_dripping_does_not_prolong_a_head(port: int) -> None:
    reader, writer = await connect(port)
    writer.write(b"GET / HTTP/1.1\r\nx: ")
    assert await dripped(reader, writer, b"y") < 40


@pytest.mark.usefixtures("brief")
async def test_blank_lines_between_requests_do_not_keep_a_connection(port: int) -> None:
    reader, writer = await connect(port)
    writer.write(HEAD + b"abcd")
    assert (await reader.readuntil(b"abcd")).startswith(b"HTTP/1.1 200")
    assert await dripped(reader, writer, b"\r\n") < 40


async def test_a_slow_body_is_read_while_it_continues(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "BODY_SECONDS", pause := 2.0)
    reader, writer = await connect(port)
    writer.write(HEAD)
    for letter in b"abcd":
        await asyncio.sleep(pause * 0.3)
        writer.write(bytes([letter]))
    assert (await reader.readuntil(b"abcd")).startswith(b"HTTP/1.1 200")
    writer.close()


@pytest.mark.usefixtures("brief")
async def test_a_slow_response_is_not_cut_off(port: int) -> None:
    reader, writer = await connect(port)
    for _ in range(2):
        writer.write(HEAD.replace(b"/ ", b"/slow ") + b"abcd")
        assert (await reader.readuntil(b"abcd")).startswith(b"HTTP/1.1 200")
    writer.close()


@pytest.mark.parametrize("size", [4, 200_000])
async def test_a_response_in_one_message_is_sent_with_its_body(port: int, size: int) -> None:
    connection = await connect(port)
    connection[1].write(b"POST /whole HTTP/1.1\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % size + b"y" * size)
    head, _, body = (await heard(connection)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert {b"content-length: %d" % size, b"x-value: a", b"connection: close"} <= set(head.split(b"\r\n"))
    assert body == b"y" * size


async def test_a_response_in_one_message_to_head_has_no_body(port: int) -> None:
    connection = await connect(port)
    connection[1].write(b"HEAD /whole HTTP/1.1\r\nconnection: close\r\ncontent-length: 4\r\n\r\nabcd")
    head, _, body = (await heard(connection)).partition(b"\r\n\r\n")
    assert b"content-length: 4" in head.split(b"\r\n")
    assert body == b""


@pytest.mark.parametrize("path", [b"/slow", b"/whole/slow"])
async def test_a_client_that_resets_behind_pipelined_requests_is_no_failure_of_the_application(
    path: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    responding, answered = asyncio.Event(), asyncio.Event()
    received: list[str] = []

    async def responds_after_the_reset(scope: Any, receive: Any, send: Any) -> None:
        responding.set()
        await receive()
        received.append((await receive())["type"])
        headers = [(b"content-length", b"1")]
        start = {"type": "http.response.start", "status": 200, "headers": headers}
        if scope["path"].startswith("/whole"):
            await send({**start, "body": b"a"})
        else:
            await send(start)
            await send({"type": "http.response.body", "body": b"a"})
        answered.set()

    async with serving(responds_after_the_reset) as port:
        _, writer = await connect(port)
        writer.write(b"GET %b HTTP/1.1\r\n\r\n" % path * 20)
        await responding.wait()
        writer.transport.abort()
        async with asyncio.timeout(30):
            await answered.wait()
    assert received == ["http.disconnect"]
    assert caplog.messages == []


@pytest.mark.parametrize("in_one_message", [False, True])
async def test_nothing_is_written_to_a_transport_that_is_closed_before_the_connection_is_lost(
    in_one_message: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def aborts_first(scope: Any, _receive: Any, send: Any) -> None:
        scope["state"]["transports"][-1].abort()
        start = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]}
        if in_one_message:
            await send({**start, "body": b"a"})
        else:
            await send(start)
            await send({"type": "http.response.body", "body": b"a"})

    async with serving(aborts_first) as port:
        connection = await connect(port)
        connection[1].write(b"GET / HTTP/1.1\r\n\r\n")
        assert await heard(connection) == b""
    assert caplog.messages == []


async def test_a_header_with_a_line_break_is_not_sent(port: int) -> None:
    connection = await connect(port)
    connection[1].write(b"GET /whole/forged HTTP/1.1\r\n\r\n")
    answer = await heard(connection)
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"set-cookie" not in answer


async def test_headers_of_64_kib_in_all_pass_and_one_byte_more_is_refused(port: int) -> None:
    for size, status in ((HEAD_BYTES, 200), (HEAD_BYTES + 1, 431)):
        reader, writer = await connect(port)
        assert len(head_of(size)) == size
        writer.write(head_of(size))
        assert (await reader.readline()).startswith(b"HTTP/1.1 %d " % status)
        writer.close()


@pytest.mark.parametrize("rest", [b"", b"abcd"])
@pytest.mark.parametrize("pieces", [1, 7, 300])
async def test_headers_of_70_kb_are_refused_in_the_format_of_the_api_however_they_arrive(
    port: int, pieces: int, rest: bytes
) -> None:
    connection = await connect(port)
    sent = head_of(70_000, body=len(rest)) + rest
    step = len(sent) // pieces + 1
    for start in range(0, len(sent), step):
        connection[1].write(sent[start : start + step])
        await connection[1].drain()
        await asyncio.sleep(0)
    assert refusal(await heard(connection)) == (431, 0)


@pytest.mark.parametrize(("count", "status"), [(HEADERS_MAX - 1, 200), (HEADERS_MAX, 431), (20_000, 431)])
async def test_one_header_more_than_256_is_refused_however_short(port: int, count: int, status: int) -> None:
    connection = await connect(port)
    headers = b"".join(b"a: b\r\n" for _ in range(count))
    connection[1].write(b"GET /headers HTTP/1.1\r\nconnection: close\r\n" + headers + b"\r\n")
    answer = await heard(connection)
    assert answer.startswith(b"HTTP/1.1 %d " % status)


async def test_one_header_of_300_kb_in_one_piece_is_refused(port: int) -> None:
    connection = await connect(port)
    connection[1].write(b"GET / HTTP/1.1\r\nhost: x\r\nx-long: " + b"y" * 300_000 + b"\r\n\r\n")
    assert refusal(await heard(connection)) == (431, 0)


@pytest.mark.parametrize("end", [b"", b" HTTP/1.1\r\nhost: x\r\n\r\n"])
@pytest.mark.parametrize("size", [65_530, 70_000, 300_000])
async def test_a_request_line_of_more_than_64_kib_is_refused_as_such(port: int, size: int, end: bytes) -> None:
    connection = await connect(port)
    connection[1].write(b"GET /" + b"p" * size + end)
    if size < HEAD_BYTES and not end:
        connection[1].write(b"p" * 100)
    assert refusal(await heard(connection)) == (414, 0)


async def test_a_large_head_behind_another_request_is_refused_after_the_answer_to_that(port: int) -> None:
    reader, writer = await connect(port)
    writer.write(HEAD.replace(b"/ ", b"/slow ") + b"abcd" + head_of(70_000) + HEAD + b"efgh")
    head, _, rest = (await heard((reader, writer))).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert rest == b"abcd"


async def test_many_small_requests_sent_ahead_are_no_large_head(port: int) -> None:
    reader, writer = await connect(port)
    for _ in range(1_500):
        writer.write(HEAD + b"abcd")
    for _ in range(1_500):
        assert (await reader.readuntil(b"abcd")).startswith(b"HTTP/1.1 200")
    writer.close()


CHUNKED = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
TINY = b"GET / HTTP/1.1\r\n\r\n"
LARGE_BODY = b"b" * 100_000


@pytest.mark.parametrize(
    ("first", "waiting"),
    [
        (TINY, 100),
        (b"POST / HTTP/1.1\r\ncontent-length: 100000\r\n\r\n" + LARGE_BODY, 100),
        (CHUNKED + b"186a0\r\n" + LARGE_BODY + b"\r\n0\r\n\r\n", 1_000),
    ],
    ids=["head", "body", "chunks"],
)
async def test_few_of_many_requests_sent_ahead_wait_parsed_and_all_are_answered(first: bytes, waiting: int) -> None:
    started, go = asyncio.Event(), asyncio.Event()
    bodies: list[bytes] = []

    async def answers_later(_scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message["body"]
            more = message["more_body"]
        bodies.append(body)
        started.set()
        await go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
        await send({"type": "http.response.body", "body": b"a"})

    async with serving(answers_later) as port:
        reader, writer = await connect(port)
        writer.write(first + TINY * 5_000)
        await started.wait()
        protocol = responding()
        maximum = len(protocol._queue)
        go.set()
        for _ in range(5_001):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 ")
            assert await reader.readexactly(1) == b"a"
            maximum = max(maximum, len(protocol._queue))
        assert 8 <= maximum < waiting
        writer.close()
    assert bodies == [LARGE_BODY if len(first) > 1_000 else b"", *[b""] * 5_000]


async def test_what_is_read_behind_waiting_requests_is_bounded() -> None:
    started, go = asyncio.Event(), asyncio.Event()

    async def answers_later(_scope: Any, _receive: Any, _send: Any) -> None:
        started.set()
        await go.wait()

    async with serving(answers_later) as port:
        reader, writer = await connect(port)
        writer.write(TINY)
        await started.wait()
        protocol = responding()
        # Though reading is paused, as a read may be under way.
        for _ in range(100):
            protocol.data_received(TINY * 1_000)
        assert protocol.transport.is_closing()
        assert len(protocol._unparsed) < 2_000_000
        go.set()
        assert await heard((reader, writer)) == b""


def responding() -> BoundedHttp:
    """The connection whose request is answered."""
    connections = [each for each in gc.get_objects() if isinstance(each, BoundedHttp)]
    return next(each for each in connections if each._responding is not None and not each.transport.is_closing())


@pytest.mark.parametrize(
    "trailers",
    [
        b"".join(b"x-%05d: %b\r\n" % (number, b"y" * 1_000) for number in range(70)),
        b"x-long: " + b"y" * 400_000,
        b"x-long: " + b"y" * 400_000 + b"\r\n\r\n",
    ],
)
async def test_trailers_count_as_headers(port: int, trailers: bytes) -> None:
    connection = await connect(port)
    connection[1].write(CHUNKED + b"4\r\nabcd\r\n0\r\n" + trailers)
    assert refusal(await heard(connection)) == (431, 0)


async def test_chunk_extensions_without_end_are_refused(port: int) -> None:
    connection = await connect(port)
    connection[1].write(CHUNKED + b"4;" + b"x" * 400_000)
    assert refusal(await heard(connection)) == (431, 0)


async def test_a_trailer_is_no_header_of_the_request(port: int) -> None:
    connection = await connect(port)
    connection[1].write(CHUNKED.replace(b"/ ", b"/headers ").replace(b"host: x", b"host: x\r\nconnection: close"))
    connection[1].write(b"4\r\nabcd\r\n0\r\nauthorization: mine\r\n\r\n")
    _, _, names = (await heard(connection)).partition(b"\r\n\r\n")
    assert names.split() == [b"host", b"connection", b"transfer-encoding"]


async def test_a_large_body_in_chunks_is_no_large_head(port: int) -> None:
    reader, writer = await connect(port)
    writer.write(CHUNKED + (b"1\r\nx\r\n" * 100_000) + (b"40000\r\n" + b"y" * 0x40000 + b"\r\n") * 2 + b"0\r\n\r\n")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    assert len(await reader.readexactly(100_000 + 2 * 0x40000)) > 0
    writer.close()


@pytest.mark.parametrize(
    "noise",
    [b"hello\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\nno colon\r\n\r\n", CHUNKED + b"nonsense\r\n"],
)
async def test_other_protocols_are_refused_in_the_format_of_the_api(port: int, noise: bytes) -> None:
    connection = await connect(port)
    connection[1].write(noise)
    assert refusal(await heard(connection)) == (400, 0)


async def test_a_client_that_keeps_sending_reads_the_refusal_and_is_disconnected(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "LINGER_SECONDS", BRIEF)
    reader, writer = await connect(port)
    writer.write(b"GET / HTTP/1.1\r\nx: ")
    pieces, answer = await asyncio.gather(dripped_through(writer), reader.read())
    assert refusal(answer) == (431, 0)
    assert pieces < 1_000
