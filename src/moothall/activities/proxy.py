"""Requests to the origins of Activities, passed on to the targets of their URL mappings and back, as streams.

Nothing of the platform's own crosses: no cookie, no token of people or bots, no address of a user. Targets learn who
makes a request from the ticket that the client has given to the page. Responses get the platform's content security
policy, so that an Activity reaches nothing but its own mappings.
"""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import AsyncIterator
from typing import Final

from moothall.activities.headers import Headers, header, is_passed, request_headers, response_headers
from moothall.activities.origin import ActivityOrigins
from moothall.activities.relay import PREFIX, RELAY_PATH, TICKET_PATH, RelayPage
from moothall.activities.targets import Targets
from moothall.activities.tickets import Tickets, VerifiedTicket
from moothall.activities.upstream import Request, Response
from moothall.activities.websockets import pass_websocket
from moothall.api.address_limits import AddressLimits, send_refusal
from moothall.api.authenticate import TokenKind, actor_of_token
from moothall.api.context import Services
from moothall.objects import errors
from moothall.objects.errors import ErrorKind, Refusal
from moothall.objects.ids import ApplicationId
from moothall.objects.proxy_ticket import without_ticket
from moothall.objects.url_mapping import MappedPath
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.cache import Cache
from moothall.runtime.outgoing import OutgoingFailed, UrlRefused, load_http_client
from moothall.storage.tables import tokens, users

log = logging.getLogger("moothall.activities")


REQUEST_BYTES: Final = 26 * 1024 * 1024
"""Maximum size of a request's body."""
RESPONSE_BYTES: Final = 256 * 1024 * 1024
"""Maximum size of a response's body; it is cut off there."""
RESPONSE_SECONDS: Final = 60.0
"""Time from a request's head to the head of the response, the request's body included."""
LIFETIME_SECONDS: Final = 3600.0
"""Maximum duration of a response."""
IN_PROGRESS: Final = 512
"""Maximum number of requests and WebSockets of one application at the same time."""
_WATCHED_BYTES: Final = 1024 * 1024
"""Responses of this size, and of an unknown one, end when the browser disconnects; shorter ones are soon over."""
_EVENT_STREAM: Final = b"text/event-stream"
"""Responses of this type end only by being ended: browsers connect again by themselves."""
_BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_METHODS: Final = _BODILESS | {"POST", "PUT", "PATCH", "DELETE"}
_REPEATABLE: Final = _METHODS - {"POST", "PATCH"}
"""A request with one of these has the same effect when it is sent twice."""
_BODILESS_STATUSES: Final = frozenset({204, 304})
_LENGTH: Final = b"content-length"
_CHUNKED: Final = (b"transfer-encoding", b"chunked")
_PRINTABLE: Final = re.compile(r"[!-~\x80-\xff]+")
"""What a request line may consist of, so that no path or query ends it."""
_MAX_CACHED: Final = 4_096
_MAX_CACHED_LENGTH: Final = 256

_TOO_MANY: Final = ErrorKind(503, 0, "503: Service Unavailable")
_BAD_GATEWAY: Final = ErrorKind(502, 0, "502: Bad Gateway")
_TIMEOUT: Final = ErrorKind(504, 0, "504: Gateway Timeout")
_LOOP: Final = ErrorKind(508, 0, "508: Loop Detected")


class _RequestBody:
    """The body of a request as it comes; it ends with an exception if it is too large or the browser leaves."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.too_large = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body in parts. Raises ConnectionError."""
        size = 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ConnectionError("the browser has left")
            chunk: bytes = message.get("body", b"")
            size += len(chunk)
            if size > REQUEST_BYTES:
                self.too_large = True
                raise ConnectionError("the body is too large")
            if chunk:
                yield chunk
            if not message.get("more_body"):
                return


class ActivityProxy:
    """An ASGI application for all origins of Activities, over HTTP and WebSocket."""

    def __init__(self, services: Services, origins: ActivityOrigins, limits: AddressLimits) -> None:
        self._services = services
        self.origins = origins
        self._limits = limits
        self._targets = Targets(services)
        self._tickets = Tickets(origins)
        self._in_progress: Counter[ApplicationId] = Counter()
        self._stopping = asyncio.Event()
        self._may_cross: Cache[str, bool] = Cache(_MAX_CACHED)
        """Whether Authorization headers may be passed on, until a token or an account changes."""
        self._may_cross.watch(services.database, tokens.name, users.name)

    def end_event_streams(self) -> None:
        """End the event streams, which the server would otherwise wait for when it stops. Other responses finish."""
        self._stopping.set()

    async def close(self) -> None:
        """Close the connections to targets."""
        await self._targets.close()

    async def serve(self, scope: Scope, receive: Receive, send: Send, application_id: ApplicationId) -> None:
        """Serve one request of an application's origin."""
        try:
            self._limits.check(scope)
            if scope["path"].startswith(PREFIX):
                await self._serve_own(scope, send, application_id)
                return
            if self._in_progress[application_id] >= IN_PROGRESS:
                raise Refusal(_TOO_MANY)
            self._in_progress[application_id] += 1
            try:
                await self._pass(scope, receive, send, application_id)
            finally:
                self._release(application_id)
        except Refusal as refusal:
            await send_refusal(scope, send, refusal)

    async def serve_websocket(self, scope: Scope, receive: Receive, send: Send, application_id: ApplicationId) -> None:
        """Serve one WebSocket of an application's origin, which only pages of that origin may open."""
        await receive()
        origin = header(scope, b"origin")
        target = await self._targets.find(application_id, _raw_path(scope))
        refused = (
            target is None
            or origin != self.origins.of(application_id)
            or is_passed(scope)
            or self._in_progress[application_id] >= IN_PROGRESS
        )
        if target is None or refused:
            await send({"type": "websocket.close", "code": 1008})
            return
        self._in_progress[application_id] += 1
        try:
            ticket, _ = self._ticket(scope, application_id)
            authorization = await self._may_pass_authorization(scope)
            headers = request_headers(scope, authorization=authorization, signed=ticket.headers if ticket else ())
            url = self._targets.url(target, _query(scope), websocket=True)
            await load_http_client()
            await pass_websocket(self._targets.session(), url, headers, scope, receive, send)
        except OutgoingFailed as problem:
            log.info("an Activity's WebSocket was not opened: %s", problem, extra={"application_id": application_id})
            await send({"type": "websocket.close", "code": 1011})
        finally:
            self._release(application_id)

    def _release(self, application_id: ApplicationId) -> None:
        self._in_progress[application_id] -= 1
        if not self._in_progress[application_id]:
            del self._in_progress[application_id]

    async def _serve_own(self, scope: Scope, send: Send, application_id: ApplicationId) -> None:
        """Serve the platform's own pages of the origin: the relay, and the one that stores a ticket."""
        if scope["path"] not in {RELAY_PATH, TICKET_PATH} or scope["method"] not in {"GET", "HEAD"}:
            raise Refusal(errors.NOT_FOUND)
        if scope["path"] == RELAY_PATH:
            page = RelayPage(self.origins, application_id)
            await send({"type": "http.response.start", "status": 200, "headers": page.headers})
            await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else page.body})
            return
        await self._targets.find(application_id, "/")
        ticket = self._tickets.in_query(scope, application_id, self._targets.verify_key(application_id))
        if ticket is None:
            raise Refusal(errors.UNAUTHORIZED)
        headers = [(b"cache-control", b"no-store"), self._tickets.cookie(ticket)]
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _ticket(self, scope: Scope, application_id: ApplicationId) -> tuple[VerifiedTicket | None, bool]:
        """The ticket of a request, and whether it came in the query, so that the cookie is to be set."""
        verify_key = self._targets.verify_key(application_id)
        ticket = self._tickets.in_query(scope, application_id, verify_key)
        if ticket is not None:
            return ticket, True
        return self._tickets.of_page(scope, application_id, verify_key), False

    async def _pass(self, scope: Scope, receive: Receive, send: Send, application_id: ApplicationId) -> None:
        if scope["method"] not in _METHODS:
            raise Refusal(errors.METHOD_NOT_ALLOWED)
        if is_passed(scope):
            raise Refusal(_LOOP)
        target = await self._targets.find(application_id, _raw_path(scope))
        if target is None:
            raise Refusal(errors.NOT_FOUND)
        ticket, is_new = self._ticket(scope, application_id)
        response = await self._request(scope, receive, target, ticket)
        try:
            headers = response_headers(response.headers, target, self.origins, application_id)
            if ticket is not None and is_new:
                headers.append(self._tickets.cookie(ticket))
            await self._respond(scope, receive, send, response, headers)
        finally:
            response.close()

    async def _request(
        self, scope: Scope, receive: Receive, target: MappedPath, ticket: VerifiedTicket | None
    ) -> Response:
        """Send the request to its target, up to the head of the response. Raises Refusal: 413, 502, 504."""
        authorization = await self._may_pass_authorization(scope)
        headers = request_headers(scope, authorization=authorization, signed=ticket.headers if ticket else ())
        method: str = scope["method"]
        body = None
        if method not in _BODILESS:
            body = self._body(scope, receive, headers)
        path, query = target.path, _query(scope)
        line = f"{path}?{query}" if query else path
        try:
            if _PRINTABLE.fullmatch(line) is None:
                raise UrlRefused("its path is not well formed")
            address = self._targets.address(target.authority)
            parts = [b"%b %b HTTP/1.1\r\nhost: %b\r\n" % (method.encode(), line.encode("latin-1"), address.host_header)]
            parts.extend([b"%b: %b\r\n" % each for each in headers])
            parts.append(b"\r\n")
            request = Request(
                b"".join(parts),
                is_head=method == "HEAD",
                repeatable=body is None and method in _REPEATABLE,
                body=None if body is None else body.chunks(),
                chunked=body is not None and headers[-1] is _CHUNKED,
            )
            return await self._targets.request(address, request, seconds=RESPONSE_SECONDS)
        except TimeoutError:
            raise Refusal(_TIMEOUT) from None
        except (OutgoingFailed, OSError, ValueError) as problem:
            if body is not None and body.too_large:
                raise Refusal(errors.REQUEST_TOO_LARGE) from None
            log.info("an Activity's target gave no answer: %s", problem)
            raise Refusal(_BAD_GATEWAY) from None

    def _body(self, scope: Scope, receive: Receive, headers: Headers) -> _RequestBody | None:
        """The body of a request, whose header is added; None without one. Raises Refusal: 413."""
        length = header(scope, _LENGTH)
        if length is None and header(scope, b"transfer-encoding") is not None:
            headers.append(_CHUNKED)
            return _RequestBody(receive)
        size = int(length) if length is not None and length.isdigit() else 0
        if size > REQUEST_BYTES:
            raise Refusal(errors.REQUEST_TOO_LARGE)
        headers.append((_LENGTH, b"%d" % size))
        return _RequestBody(receive) if size else None

    async def _respond(self, scope: Scope, receive: Receive, send: Send, response: Response, headers: Headers) -> None:
        """Send a response as it comes. The browser's disconnection ends it."""
        start = {"type": "http.response.start", "status": response.status, "headers": headers}
        if response.status in _BODILESS_STATUSES:
            # A length would be that of the body of another response.
            headers[:] = [each for each in headers if each[0] != _LENGTH]
        elif response.complete and scope["method"] != "HEAD" and not any(name == _LENGTH for name, _ in headers):
            # It came in chunks, and has come whole.
            headers.append((_LENGTH, b"%d" % response.buffered))
        if response.complete:
            body = await response.read()
            await send(start)
            await send({"type": "http.response.body", "body": body})
            return
        await send(start)
        length = next((int(value) for name, value in headers if name == _LENGTH), _WATCHED_BYTES)
        async with asyncio.timeout(LIFETIME_SECONDS):
            if length < _WATCHED_BYTES:
                await _send_body(response, send)
                return
            await self._send_watched(receive, send, response)

    async def _send_watched(self, receive: Receive, send: Send, response: Response) -> None:
        """Send a body until it ends, the browser disconnects, or, with an event stream, the server stops."""
        sending = asyncio.ensure_future(_send_body(response, send))
        ends = [sending, asyncio.ensure_future(_wait_for_disconnection(receive))]
        is_stream = any(name == b"content-type" and value.startswith(_EVENT_STREAM) for name, value in response.headers)
        if is_stream:
            ends.append(asyncio.ensure_future(self._wait_for_stop()))
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in ends:
                task.cancel()
        if sending.done() and not sending.cancelled():
            sending.result()
        elif is_stream and self._stopping.is_set():
            await asyncio.wait({sending})
            await send({"type": "http.response.body", "body": b""})

    async def _wait_for_stop(self) -> None:
        await self._stopping.wait()

    async def _may_pass_authorization(self, scope: Scope) -> bool:
        """Whether the Authorization header may cross: not if it is the token of a person's session or of a bot."""
        value = header(scope, b"authorization")
        if value is None:
            return True
        may_cross = self._may_cross.get(value)
        if may_cross is None:
            token = value.rpartition(" ")[2].strip()
            async with self._services.database.read() as reader:
                actor = await actor_of_token(reader, token)
            may_cross = actor is None or actor.kind not in {TokenKind.SESSION, TokenKind.BOT}
            if len(value) <= _MAX_CACHED_LENGTH:
                self._may_cross.keep(value, may_cross)
        return may_cross


async def _send_body(response: Response, send: Send) -> None:
    """Send the body of a response. An error of the target, and too large a body, end the connection to the browser."""
    size = 0
    while part := await response.read():
        size += len(part)
        if size > RESPONSE_BYTES:
            raise ConnectionError("the response of an Activity's target is too large")
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _wait_for_disconnection(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _raw_path(scope: Scope) -> str:
    """The path as the browser sent it, percent-encoded."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.partition(b"?")[0].decode("latin-1")


def _query(scope: Scope) -> str:
    """The query for a target: without a ticket."""
    query: bytes = scope.get("query_string", b"")
    return without_ticket(query.decode("latin-1"))
