"""HTTP connections with bounds on slow and oversized requests.

uvicorn bounds neither the size of a request's head nor the time that it takes to arrive; a proxy would, but the
program is meant to stand on the internet by itself. What cannot be parsed is refused here too, in the API's shape.
"""

import logging
from asyncio import Transport
from asyncio.events import TimerHandle
from enum import Enum
from http import HTTPStatus
from typing import Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from websockets.http11 import MAX_LINE_LENGTH, MAX_NUM_HEADERS

from moothall.kernel.request import new_request_id
from moothall.objects import errors
from moothall.objects.errors import ErrorKind, Refusal
from moothall.objects.wire import encode

HEAD_BYTES: Final = 65_536
"""Maximum size of request line and headers; the same again for the trailers of a chunked body."""
HEAD_SECONDS: Final = 15.0
"""Time for a head, from the connection or, on a reused connection, from its first byte."""
BODY_SECONDS: Final = 30.0
"""Maximum pause in a body."""
LINGER_SECONDS: Final = 2.0
"""Time between a refusal and the end of the connection, so that a client that is still sending reads the refusal."""

_LINE_OVERHEAD: Final = len(b"  HTTP/1.1\r\n")
_HEADER_OVERHEAD: Final = len(b": \r\n")
_END_OF_HEAD: Final = len(b"\r\n")

log = logging.getLogger("moothall.http")


class _Awaits(Enum):
    """What a connection waits for."""

    FIRST = 1
    """The first byte of a request; blank lines are none."""
    HEAD = 2
    BODY = 3
    NEXT = 4
    """The next request, with a request being answered or none: uvicorn closes connections that have been idle."""


class _HeadTooLarge(Exception):
    """Stops the parser."""


def _size(headers: list[tuple[bytes, bytes]]) -> int:
    return sum(len(name) + len(value) + _HEADER_OVERHEAD for name, value in headers)


class BoundedHttp(HttpToolsProtocol):
    """uvicorn's HTTP protocol, with bounds on a request's head and on the pauses in its body."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Wait for the first request."""
        super().connection_made(transport)
        self._awaits = _Awaits.FIRST
        self._received = 0
        """Bytes read since the head began or the last part of the body, without those of the same read before that."""
        self._follows = False
        """Whether the head began in the same read as another request, so that some of its bytes are not counted."""
        self._refused = False
        self._timer: TimerHandle | None = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._cancel_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data; refuse an oversized head."""
        if self._refused:
            return
        if self._awaits is _Awaits.NEXT:
            self._awaits = _Awaits.FIRST
        self._received += len(data)
        super().data_received(data)
        self._watch()

    def on_message_begin(self) -> None:
        """Note the start of a request."""
        super().on_message_begin()
        self._follows = self._awaits is _Awaits.NEXT
        self._awaits = _Awaits.HEAD

    def on_headers_complete(self) -> None:
        """Check the size of the complete head."""
        if (self._received > HEAD_BYTES or self._follows) and self._head_size() > HEAD_BYTES:
            raise _HeadTooLarge
        super().on_headers_complete()
        self._awaits = _Awaits.BODY
        self._received = 0
        if not self.parser.should_upgrade():
            # The application has the list of headers by now, which trailers must not be added to.
            self.headers = []

    def on_body(self, body: bytes) -> None:
        """Pass on a part of the body."""
        super().on_body(body)
        self._received = 0

    def on_message_complete(self) -> None:
        """Note the end of the request."""
        if self._awaits is _Awaits.BODY and self.headers and self._trailers_too_large():
            raise _HeadTooLarge
        super().on_message_complete()
        self._awaits = _Awaits.NEXT
        self._received = 0

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
        if self._awaits is _Awaits.BODY:
            too_large = self._trailers_too_large()
        else:
            too_large = self._awaits is _Awaits.HEAD and self._head_size() > HEAD_BYTES
        self._refuse(self._too_large() if too_large else errors.GENERAL_ERROR)

    def _watch(self) -> None:
        """Check the bytes, and set the timer, for what the connection waits for."""
        if self._refused:
            return
        awaits = self._awaits
        if awaits is _Awaits.NEXT:
            if self._timer is not None:
                self._cancel_timer()
        elif self._received > HEAD_BYTES or (
            # The read that ended the body may include trailers, which are not counted.
            awaits is _Awaits.BODY and not self._received and self.headers and self._trailers_too_large()
        ):
            self._refuse(self._too_large())
        elif awaits is _Awaits.BODY:
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
        return _size(self.headers) > HEAD_BYTES

    def _too_large(self) -> ErrorKind:
        if self._awaits is _Awaits.HEAD and self._line_size() > HEAD_BYTES:
            return errors.URI_TOO_LONG
        return errors.HEADERS_TOO_LARGE

    def _refuse(self, kind: ErrorKind) -> None:
        """Stop reading, and refuse after the responses to earlier requests."""
        self._refused = True
        self._cancel_timer()
        if self.transport.is_closing():
            return
        cycle = cast("RequestResponseCycle | None", self.cycle)
        if cycle is not None and self._awaits is _Awaits.BODY:
            # The application waits for the rest of an invalid body.
            if cycle.response_started or self.pipeline:
                self.transport.close()
                return
            cycle.disconnected = True
            cycle.message_event.set()
        elif cycle is not None and not cycle.response_complete:
            # A response now would be taken for that of the previous request, which ends the connection instead.
            cycle.keep_alive = False
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
