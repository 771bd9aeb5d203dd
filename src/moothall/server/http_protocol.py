"""HTTP connections with bounds on slow and oversized requests.

uvicorn bounds neither the size of a request's head nor the time that it takes to arrive; a proxy would, but the
program is meant to stand on the internet by itself. What cannot be parsed is refused here too, in the API's shape.
"""

import logging
from asyncio import Transport
from asyncio.events import TimerHandle
from collections import deque
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from websockets.http11 import MAX_LINE_LENGTH, MAX_NUM_HEADERS

from moothall.api.request.http_request import new_request_id
from moothall.objects import errors
from moothall.objects.errors import ErrorKind, Refusal
from moothall.objects.wire import encode
from moothall.server.http_exchange import EXTENSIONS, Exchange

HEAD_BYTES: Final = 65_536
"""Maximum size of request line and headers; the same again for the trailers of a chunked body."""
HEADERS_MAX: Final = 256
"""Maximum number of headers of a request, and of trailers: each costs more than its bytes."""
HEAD_SECONDS: Final = 15.0
"""Time for a head, from the connection or, on a reused connection, from its first byte."""
BODY_SECONDS: Final = 30.0
"""Maximum pause in a body."""
LINGER_SECONDS: Final = 2.0
"""Time between a refusal and the end of the connection, so that a client that is still sending reads the refusal."""

PIPELINED_MAX: Final = 8
"""Requests of a connection that wait for the responses to earlier ones, after which no more are parsed."""
_PARSED_AT_ONCE: Final = 1024
"""Bytes of heads that are parsed at once: a read of 256 KB could be of thousands of requests."""
_CHUNKED_AT_ONCE: Final = 16 * 1024
"""The same of a body without a length."""
_UNPARSED_MAX: Final = 1024 * 1024
"""Bytes that wait to be parsed: several reads, of which each but the first came though reading was paused."""

_LINE_OVERHEAD: Final = len(b"  HTTP/1.1\r\n")
_HEADER_OVERHEAD: Final = len(b": \r\n")
_END_OF_HEAD: Final = len(b"\r\n")

log = logging.getLogger("moothall.http")


class _Awaits:
    """What a connection waits for. No enumeration, whose members take several times as long to read."""

    FIRST: Final = 1
    """The first byte of a request; blank lines are none."""
    HEAD: Final = 2
    BODY: Final = 3
    NEXT: Final = 4
    """The next request, with a request being answered or none: uvicorn closes connections that have been idle."""


class _HeadTooLarge(Exception):
    """Stops the parser."""


def _size(headers: list[tuple[bytes, bytes]]) -> int:
    return sum(len(name) + len(value) + _HEADER_OVERHEAD for name, value in headers)


class BoundedHttp(HttpToolsProtocol):
    """uvicorn's HTTP protocol, with bounds on a request's head and on the pauses in its body, at less cost."""

    cycle: Exchange | None  # type: ignore[assignment]  # uvicorn reads what both have
    """The request that arrived last."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Wait for the first request."""
        super().connection_made(transport)
        self._awaits: int = _Awaits.FIRST
        self._received = 0
        """Bytes read since the head began or the last part of the body, without those of the same read before that."""
        self._queue: deque[Exchange] = deque()
        """Pipelined requests that wait for the responses to earlier ones."""
        self._unparsed = b""
        """What has been read behind as many requests as may wait."""
        self._body_received = 0
        """Bytes of the body of the request that arrived last."""
        self._responding: Exchange | None = None
        """The request that is answered, or was answered last: before `cycle` where requests are pipelined."""
        self._follows = False
        """Whether the head began in the same read as another request, so that some of its bytes are not counted."""
        self._refused = False
        self._upgrades = False
        """Whether the request that arrived last asks for a WebSocket."""
        self._idle_since = 0.0
        """When the last response was complete; 0 while a request arrives or is answered."""
        self._idle_timer: TimerHandle | None = None
        self._timer: TimerHandle | None = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers, and tell the application that is responding."""
        self._cancel_timer()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self.connections.discard(self)
        for exchange in (self._responding, self.cycle):
            if exchange is not None:
                exchange.disconnected = exchange.disconnected or not exchange.response_complete
                exchange.wake()
        self._queue.clear()
        self._unparsed = b""
        self.flow.resume_writing()
        if exc is None:
            self.transport.close()
        self.parser = None  # type: ignore[assignment]  # which refers to this object

    def data_received(self, data: bytes) -> None:
        """Parse data; refuse an oversized head."""
        if self._refused:
            return
        if self._awaits == _Awaits.NEXT:
            self._awaits = _Awaits.FIRST
        self._idle_since = 0.0
        if self._unparsed:
            self._unparsed += data
            self.flow.pause_reading()
            if len(self._unparsed) > _UNPARSED_MAX:
                self.transport.close()
            return
        self._parse(data)

    def _parse(self, data: bytes) -> None:
        try:
            if len(data) <= _PARSED_AT_ONCE and len(self._queue) < PIPELINED_MAX:
                self._received += len(data)
                self.parser.feed_data(data)
            else:
                self._parse_slices(data)
        except httptools.HttpParserError:
            self.send_400_response("")
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
                self.parser = None  # type: ignore[assignment]  # which refers to this object
        self._watch()

    def _parse_slices(self, data: bytes) -> None:
        """Parse data until as many requests wait as may, and keep the rest until one is answered."""
        start = 0
        while start < len(data):
            if len(self._queue) >= PIPELINED_MAX:
                self._unparsed = data[start:]
                return
            part = data[start : start + self._slice_size()]
            start += len(part)
            self._received += len(part)
            self.parser.feed_data(part)

    def _slice_size(self) -> int:
        """Bytes to parse at once: the rest of a body, but not what may be many requests."""
        if self._awaits != _Awaits.BODY or self.cycle is None:
            return _PARSED_AT_ONCE
        for name, value in self.cycle.scope["headers"]:
            if name == b"content-length":
                # The parser has refused what is no number.
                return max(int(value) - self._body_received, _PARSED_AT_ONCE)
        return _CHUNKED_AT_ONCE

    def on_message_begin(self) -> None:
        """Note the start of a request."""
        self.url = b""
        self.headers = []
        self.expect_100_continue = False
        self._follows = self._awaits == _Awaits.NEXT
        self._awaits = _Awaits.HEAD

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note a header; stop at one too many."""
        headers = self.headers
        if len(headers) >= HEADERS_MAX:
            raise _HeadTooLarge
        # As uvicorn's own, without the call: it is the most frequent one of a request.
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Check the size of the complete head, and start the application, or queue the request for it."""
        if (self._received > HEAD_BYTES or self._follows) and self._head_size() > HEAD_BYTES:
            raise _HeadTooLarge
        self._awaits = _Awaits.BODY
        self._received = self._body_received = 0
        self.scope = scope = self._make_scope()  # type: ignore[assignment]  # as a plain dictionary
        self._upgrades = False
        if self.parser.should_upgrade():
            if self._should_upgrade():
                self._upgrades = True
                return
        else:
            # The application has the list of headers by now, which trailers must not be added to.
            self.headers = []
        previous = self.cycle
        exchange = Exchange(
            scope,
            self.transport,
            self.flow,
            self.server_state.default_headers,
            self.on_response_complete,
            keep_alive=scope["http_version"] != "1.0" and self.parser.should_keep_alive(),
            expects_continue=self.expect_100_continue,
        )
        self.cycle = exchange
        if previous is None or previous.response_complete:
            self._start(exchange)
        else:
            self.flow.pause_reading()
            self._queue.append(exchange)

    def on_body(self, body: bytes) -> None:
        """Pass on a part of the body."""
        self._received = 0
        self._body_received += len(body)
        exchange = self.cycle
        if exchange is None or exchange.response_complete or self._upgrades:
            return
        exchange.body = exchange.body + body if exchange.body else body
        if len(exchange.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        exchange.wake()

    def on_message_complete(self) -> None:
        """Note the end of the request."""
        if self._awaits == _Awaits.BODY and self.headers and self._trailers_too_large():
            raise _HeadTooLarge
        self._awaits = _Awaits.NEXT
        self._received = 0
        exchange = self.cycle
        if exchange is not None and not exchange.response_complete and not self._upgrades:
            exchange.more_body = False
            exchange.wake()

    def on_response_complete(self) -> None:
        """Start the next request that has arrived, or wait for it until the connection has been idle for too long."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        if self._queue:
            self._start(self._queue.popleft())
            if self._unparsed and not self._refused:
                data, self._unparsed = self._unparsed, b""
                self._parse(data)
            if not self._unparsed:
                self.flow.resume_reading()
            return
        self.flow.resume_reading()
        self._idle_since = self.loop.time()
        if self._idle_timer is None:
            self._idle_timer = self.loop.call_later(self.timeout_keep_alive, self._close_if_idle)

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to the gateway, unless the handshake is larger than its parser takes."""
        if self._line_size() > MAX_LINE_LENGTH:
            self._refuse(errors.URI_TOO_LONG)
            return
        longest = max((len(name) + len(value) for name, value in self.headers), default=0) + _HEADER_OVERHEAD
        if longest > MAX_LINE_LENGTH or len(self.headers) > MAX_NUM_HEADERS:
            self._refuse(errors.HEADERS_TOO_LARGE)
            return
        self._cancel_timer()
        self._awaits = _Awaits.NEXT
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that the parser rejects."""
        del msg  # uvicorn's text
        if self._awaits == _Awaits.BODY:
            too_large = self._trailers_too_large()
        else:
            too_many = len(self.headers) >= HEADERS_MAX
            too_large = self._awaits == _Awaits.HEAD and (too_many or self._head_size() > HEAD_BYTES)
        self._refuse(self._too_large() if too_large else errors.GENERAL_ERROR)

    def _make_scope(self) -> dict[str, Any]:
        url = httptools.parse_url(self.url)
        path = url.path.decode("ascii")
        return {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": self.parser.get_http_version(),
            "method": self.parser.get_method().decode("ascii"),
            "scheme": self.scheme,
            "path": unquote(path) if "%" in path else path,
            "raw_path": url.path,
            "query_string": url.query or b"",
            "root_path": self.root_path,
            "headers": self.headers,
            "server": self.server,
            "client": self.client,
            "state": self.app_state.copy(),
            "extensions": EXTENSIONS,
        }

    def _start(self, exchange: Exchange) -> None:
        self._responding = exchange
        exchange.start(self.loop, self.app, self.tasks)

    def _close_if_idle(self) -> None:
        """Close the connection if no request has come for so long, else look again when that may be."""
        self._idle_timer = None
        if not self._idle_since or self.transport.is_closing():
            # The next complete response starts the timer again.
            return
        remaining = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if remaining > 0:
            self._idle_timer = self.loop.call_later(remaining, self._close_if_idle)
        else:
            self.transport.close()

    def _watch(self) -> None:
        """Check the bytes, and set the timer, for what the connection waits for."""
        if self._refused:
            return
        awaits = self._awaits
        if awaits == _Awaits.NEXT:
            if self._timer is not None:
                self._cancel_timer()
        elif self._received > HEAD_BYTES or (
            # The read that ended the body may include trailers, which are not counted.
            awaits == _Awaits.BODY and not self._received and self.headers and self._trailers_too_large()
        ):
            self._refuse(self._too_large())
        elif awaits == _Awaits.BODY:
            self._cancel_timer()
            self._wait(BODY_SECONDS)
        elif self._timer is None:
            self._wait(HEAD_SECONDS)

    def _line_size(self) -> int:
        return len(self.parser.get_method()) + len(self.url) + _LINE_OVERHEAD

    def _head_size(self) -> int:
        """Size of the parsed head, with one space after each colon."""
        return self._line_size() + _size(self.headers) + _END_OF_HEAD

    def _trailers_too_large(self) -> bool:
        return len(self.headers) >= HEADERS_MAX or _size(self.headers) > HEAD_BYTES

    def _too_large(self) -> ErrorKind:
        if self._awaits == _Awaits.HEAD and self._line_size() > HEAD_BYTES:
            return errors.URI_TOO_LONG
        return errors.HEADERS_TOO_LARGE

    def _refuse(self, kind: ErrorKind) -> None:
        """Stop reading, and refuse after the responses to earlier requests."""
        self._refused = True
        self._cancel_timer()
        if self.transport.is_closing():
            return
        exchange = self.cycle
        if exchange is not None and self._awaits == _Awaits.BODY:
            # The application waits for the rest of an invalid body.
            if exchange.response_started or self._queue:
                self.transport.close()
                return
            exchange.disconnected = True
            exchange.wake()
        elif exchange is not None and not exchange.response_complete:
            # A response now would be taken for that of the previous request, which ends the connection instead.
            exchange.keep_alive = False
            return
        request_id = new_request_id()
        log.debug("refused a malformed request: %s", kind.message, extra={"request_id": request_id})
        self.transport.write(self._refusal(kind, request_id))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def _refusal(self, kind: ErrorKind, request_id: str) -> bytes:
        body = encode(Refusal(kind).body())
        headers = [
            *self.server_state.default_headers,
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"x-request-id", request_id.encode()),
            (b"connection", b"close"),
        ]
        head = b"".join(b"%b: %b\r\n" % header for header in headers)
        return b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (kind.status, HTTPStatus(kind.status).phrase.encode(), head, body)

    def _wait(self, seconds: float) -> None:
        if not self.transport.is_closing():
            self._timer = self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        if self.flow.read_paused:
            # The application is slow, not the client.
            self._wait(BODY_SECONDS)
        else:
            self.transport.abort()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
