"""HTTP connections that cannot be held open by saying little, nor filled by saying much before the request.

uvicorn bounds neither the size of a request's head nor the time that it takes to arrive; a proxy would, but the
program is meant to stand on the internet by itself.
"""

from asyncio import Transport
from asyncio.events import TimerHandle
from enum import Enum
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES: Final = 65_536
"""Request line and headers together, as near as the sizes of the socket's reads tell."""
HEAD_SECONDS: Final = 15.0
"""How long a head may take from the connection, or from its first byte on a connection used before."""
BODY_SECONDS: Final = 30.0
"""How long a body may stand still."""

_TOO_LARGE: Final = b'{"message":"431: Request Header Fields Too Large","code":0}'
_REFUSAL: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%b" % (len(_TOO_LARGE), _TOO_LARGE)
)


class _Awaits(Enum):
    """What a connection waits for."""

    FIRST = 1
    """The first byte of a request; blank lines are none."""
    HEAD = 2
    BODY = 3
    NEXT = 4
    """The next request, with a request being answered or none: uvicorn closes connections that have been idle."""


class BoundedHttp(HttpToolsProtocol):
    """uvicorn's HTTP protocol, with bounds on a request's head and on the pauses in its body."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Wait for the first request."""
        super().connection_made(transport)
        self._awaits = _Awaits.FIRST
        self._head_size = 0
        self._timer: TimerHandle | None = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._cancel_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; refuse a head that has become too large."""
        if self._awaits is _Awaits.NEXT:
            self._awaits = _Awaits.FIRST
        super().data_received(data)
        awaits = self._awaits
        if awaits is _Awaits.NEXT:
            if self._timer is not None:
                self._cancel_timer()
        elif awaits is _Awaits.BODY:
            self._cancel_timer()
            self._wait(BODY_SECONDS)
        else:
            self._head_size += len(data)
            if self._head_size > HEAD_BYTES and not self.transport.is_closing():
                self.transport.write(_REFUSAL)
                self.transport.close()
            elif self._timer is None:
                self._wait(HEAD_SECONDS)

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._awaits = _Awaits.HEAD

    def on_headers_complete(self) -> None:
        """Its head is whole."""
        super().on_headers_complete()
        self._awaits = _Awaits.BODY
        self._head_size = 0

    def on_message_complete(self) -> None:
        """All of it is here."""
        super().on_message_complete()
        self._awaits = _Awaits.NEXT

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to the gateway, which has bounds of its own."""
        self._cancel_timer()
        self._awaits = _Awaits.NEXT
        super().handle_websocket_upgrade()

    def _wait(self, seconds: float) -> None:
        if not self.transport.is_closing():
            self._timer = self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        if self.flow.read_paused:
            # It is the program that is slow, not the client.
            self._wait(BODY_SECONDS)
        else:
            self.transport.abort()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
