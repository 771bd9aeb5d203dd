"""One HTTP request and its response, for an ASGI application.

The same as uvicorn's `RequestResponseCycle` at less cost (docs/decisions/0014): the head and the body of a response go
out in one write, the head is checked as a whole, and nothing is created for a request that has no use for it.

By the extension `WHOLE_RESPONSE` an application sends head and body in one message.
"""

import logging
from asyncio import AbstractEventLoop, Task, Transport
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from moothall.api.request.http_request import WHOLE_RESPONSE
from moothall.runtime.waiter import Waiter

Message = MutableMapping[str, Any]
Application = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]

EXTENSIONS: Final[MutableMapping[str, Any]] = {WHOLE_RESPONSE: {}}
"""The ASGI extensions of the scope."""
_WITHOUT_BODY: Final = frozenset({204, 304})
_CLOSE: Final = b"connection: close\r\n"
_JOINED: Final = 65_536
"""Bytes of a body up to which it is copied behind its head: one piece is written faster than two."""
_INTERNAL_ERROR: Final = b"Internal Server Error"

log = logging.getLogger("moothall.http")


class Exchange(Waiter):
    """A request and its response. `on_complete` is called once the response is written whole."""

    __slots__ = (
        "_body_read",
        "_chunked",
        "_continue",
        "_default_headers",
        "_head",
        "_on_complete",
        "_remaining",
        "_task",
        "_tasks",
        "body",
        "disconnected",
        "flow",
        "is_head",
        "keep_alive",
        "more_body",
        "response_complete",
        "response_started",
        "scope",
        "transport",
    )

    def __init__(
        self,
        scope: MutableMapping[str, Any],
        transport: Transport,
        flow: FlowControl,
        default_headers: Iterable[tuple[bytes, bytes]],
        on_complete: Callable[[], None],
        *,
        keep_alive: bool,
        expects_continue: bool,
    ) -> None:
        super().__init__()
        self.scope = scope
        self.transport = transport
        self.flow = flow
        self.keep_alive = keep_alive
        self.is_head = scope["method"] == "HEAD"
        self.body = b""
        """What the application has not read yet."""
        self.more_body = True
        """Whether the client has yet to send the end of the body."""
        self.disconnected = False
        self.response_started = False
        self.response_complete = False
        self._default_headers = default_headers
        self._on_complete = on_complete
        self._continue = expects_continue
        self._body_read = False
        self._head: bytes | None = None
        """The head of a response, until the first part of its body is written with it."""
        self._chunked = False
        self._task: Task[None] | None = None
        self._tasks: set[Task[None]]
        self._remaining = 0
        """Bytes of the body that Content-Length announces and that have not been written."""

    def start(self, loop: AbstractEventLoop, application: Application, tasks: set[Task[None]]) -> None:
        """Run in a task, which is among the `tasks` of the server until it has ended."""
        self._task = task = loop.create_task(self.run(application))
        self._tasks = tasks
        tasks.add(task)

    async def run(self, application: Application) -> None:
        """Let the application respond. An exception is logged and answered with 500, or ends the connection."""
        try:
            await application(self.scope, self.receive, self.send)
        except Exception:
            log.exception("the application failed")
            await self._fail()
        else:
            if not self.response_complete and not self.disconnected:
                log.error("the application returned without a complete response")
                await self._fail()
        finally:
            self._on_complete = _do_nothing
            if self._task is not None:
                # A callback of the task would be another entry in the event loop's queue.
                self._tasks.discard(self._task)
                self._task = None

    async def receive(self) -> Message:
        """The next part of the body; once all of it is read, wait for the end of the connection or of the response."""
        if self._continue and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._continue = False
        while not (self.disconnected or self.response_complete):
            if self.body or not (self.more_body or self._body_read):
                self._body_read = not self.more_body
                body, self.body = self.body, b""
                return {"type": "http.request", "body": body, "more_body": self.more_body}
            self.flow.resume_reading()
            await self.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Write a part of the response, or nothing once the connection is lost.

        A head with Content-Length waits for the first part of the body.
        """
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected or self.transport.is_closing():
            # A transport that was aborted raises on each write before it says that the connection is lost.
            self.disconnected = True
            return
        kind = message["type"]
        if kind == "http.response.start" and not self.response_started:
            if "body" in message:
                self._write_whole(message["status"], message["headers"], message["body"])
                return
            self._head = self._encode_head(message["status"], message.get("headers", ()))
            self.response_started = True
            self._continue = False
            if self._chunked:
                # The body may come much later, as in an event stream.
                self.transport.write(self._head)
                self._head = None
        elif kind == "http.response.body" and self.response_started and not self.response_complete:
            self._write(message.get("body", b""), more=message.get("more_body", False))
        else:
            raise RuntimeError(f"unexpected message {kind!r}")

    def _encode_head(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        """The status line and the headers. Raises RuntimeError if a value of them would end its line."""
        lines = [STATUS_LINE[status]]
        length = -1
        closes = False
        for name, value in (*self._default_headers, *headers):
            if name == b"content-length":
                length = int(value)
            elif name == b"transfer-encoding":
                self._chunked = value.lower() == b"chunked"
            elif name == b"connection" and b"close" in value.lower():
                closes = True
            lines.append(b"%b: %b\r\n" % (name, value))
        if closes:
            self.keep_alive = False
        elif not self.keep_alive:
            lines.append(_CLOSE)
        if length >= 0:
            self._remaining = 0 if self.is_head else length
        elif not (self._chunked or self.is_head or status in _WITHOUT_BODY):
            self._chunked = True
            lines.append(b"transfer-encoding: chunked\r\n")
        lines.append(b"\r\n")
        return _joined(lines)

    def _write_whole(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
        """Write a response whose headers name the length of its body, and neither Connection nor Transfer-Encoding."""
        lines = [STATUS_LINE[status]]
        lines += [b"%b: %b\r\n" % header for header in self._default_headers]
        lines += [b"%b: %b\r\n" % header for header in headers]
        if not self.keep_alive:
            lines.append(_CLOSE)
        lines.append(b"\r\n")
        head = _joined(lines)
        self.response_started = True
        self._continue = False
        if self.is_head:
            body = b""
        if len(body) <= _JOINED:
            self.transport.write(head + body)
        else:
            self.transport.writelines((head, body))
        self._complete()

    def _write(self, body: bytes, *, more: bool) -> None:
        if self.is_head:
            body = b""
        elif self._chunked:
            body = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            if not more:
                body += b"0\r\n\r\n"
        else:
            self._remaining -= len(body)
            if self._remaining < 0 or (self._remaining and not more):
                raise RuntimeError("the body of the response has another length than its Content-Length")
        head, self._head = self._head, None
        if head is not None:
            self.transport.writelines((head, body))
        elif body:
            self.transport.write(body)
        if not more:
            self._complete()

    def _complete(self) -> None:
        self.response_complete = True
        self.wake()
        if not self.keep_alive:
            self.transport.close()
        self._on_complete()

    async def _fail(self) -> None:
        """Respond with 500, or end the connection if a response has begun."""
        if self.disconnected:
            return
        if self.response_started and self._head is None:
            self.transport.close()
            return
        self.response_started = self._chunked = False
        length = (b"content-length", b"%d" % len(_INTERNAL_ERROR))
        headers = [(b"content-type", b"text/plain; charset=utf-8"), length, (b"connection", b"close")]
        await self.send({"type": "http.response.start", "status": 500, "headers": headers})
        await self.send({"type": "http.response.body", "body": _INTERNAL_ERROR})


def _joined(lines: list[bytes]) -> bytes:
    """The head of these lines. Raises RuntimeError if one contains more than its own end."""
    head = b"".join(lines)
    if head.count(b"\n") != len(lines) or head.count(b"\r") != len(lines) or head.count(b"\0"):
        raise RuntimeError("a header of the response contains a line break or a NUL")
    return head


def _do_nothing() -> None:
    """Stands for a callback that must not be called again."""
