"""WebSockets of clients that resume: the worker that accepts one hands the connection over to the session's worker.

READY's `resume_gateway_url` ends in the number of the worker that has the session. A connection that asks for another
worker's is passed on with its descriptor, before anything is answered: then the other worker serves it directly.
"""

import asyncio
import logging
import os
import re
import socket
from contextlib import suppress
from typing import Any, Final

from moothall.server.http_protocol import BoundedHttp

log = logging.getLogger("moothall.workers")

_PATH: Final = re.compile(rb"/gateway/(\d{1,2})/?(?:\?.*)?", re.DOTALL)
_MAX_HEAD_BYTES: Final = 65_536 * 2


class Handover:
    """The sockets over which connections reach each worker, and the `number` of this one."""

    def __init__(self, sockets: list[tuple[socket.socket, socket.socket]], number: int) -> None:
        self._sockets = sockets
        self._number = number

    def pass_on(self, url: bytes, head: bytes, descriptor: int) -> bool:
        """Pass a connection on to the worker that its URL names, if that is another one; whether it was."""
        match = _PATH.fullmatch(url)
        number = self._number if match is None else int(match[1])
        if number == self._number or not 0 < number < len(self._sockets):
            return False
        try:
            socket.send_fds(self._sockets[number][0], [head], [descriptor], socket.MSG_DONTWAIT)
        except OSError:
            # Its worker takes none now: here the client learns that it has to identify anew.
            return False
        return True

    def receive(self) -> tuple[bytes, socket.socket] | None:
        """The head and the socket of a connection that was passed on to this worker; None if there is none."""
        try:
            head, descriptors, _, _ = socket.recv_fds(
                self._sockets[self._number][1], _MAX_HEAD_BYTES, 1, socket.MSG_DONTWAIT
            )
        except BlockingIOError:
            return None
        if len(descriptors) != 1:
            for descriptor in descriptors:
                os.close(descriptor)
            return None
        return head, socket.socket(fileno=descriptors[0])

    @property
    def receiving(self) -> socket.socket:
        """The socket at which connections for this worker arrive."""
        return self._sockets[self._number][1]


class WorkerHttp(BoundedHttp):
    """The HTTP protocol of a worker."""

    def __init__(self, *arguments: Any, handover: Handover, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._handover = handover

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to the gateway, here or at another worker."""
        accepted = self.transport.get_extra_info("socket")
        lines = [b"GET %b HTTP/1.1\r\n" % self.url, *(b"%b: %b\r\n" % header for header in self.headers), b"\r\n"]
        if accepted is not None and self._handover.pass_on(self.url, b"".join(lines), accepted.fileno()):
            self._cancel_timer()
            # The other worker has the connection: closing this end of it sends nothing.
            self.transport.abort()
            return
        super().handle_websocket_upgrade()


async def accept_passed_on(handover: Handover, make_protocol: Any) -> None:
    """Serve the connections that other workers have passed on to this one, which have arrived."""
    loop = asyncio.get_running_loop()
    while (received := handover.receive()) is not None:
        head, accepted = received
        accepted.setblocking(False)  # noqa: FBT003 the standard library's
        with suppress(OSError):
            _, protocol = await loop.connect_accepted_socket(make_protocol, accepted)
            protocol.data_received(head)
