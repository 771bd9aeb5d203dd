"""The stages that every request of the API runs through, from routing to encoding. `Pipeline.respond` lists them.

All endpoints refuse in one order: 404 for an unknown path, 401, 429, 404, 403, 400. So a body is decoded early, but its
errors are returned only to callers who have the permission.
"""

import logging
import math
import zlib
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar, cast

from msgspec import Struct

from moothall.api.authenticate import ANONYMOUS, Actor, ActorCache, TokenKind, authenticate
from moothall.api.committing import complete_changes, publish_after_commit, store_events
from moothall.api.conflicts import retry_on_conflict
from moothall.api.context import Context, Services, Withdrawn, WriteNeeded
from moothall.api.endpoint import Endpoint, Json, Response
from moothall.api.file_links import FileLinks
from moothall.api.ratelimit import unlimited_headers
from moothall.api.reason import read_reason
from moothall.api.recorded_refusal import RecordedRefusal
from moothall.api.request.body import BodyReader
from moothall.api.request.http_request import ClientDisconnected, Request, RequestTooLarge, client_address
from moothall.api.request.images import MEDIA, stage_images
from moothall.api.request.multipart import is_form
from moothall.api.request.uploads import Admission, Uploads, UploadStaging
from moothall.api.router import Router
from moothall.api.staged import StagedFile
from moothall.api.storage_quota import open_quota_share
from moothall.logs import current_endpoint, current_request
from moothall.objects import errors
from moothall.objects.clock import stopwatch
from moothall.objects.errors import ErrorKind, Refusal, merge_refusals
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import encode
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.budgets import OverBudget, Payer, WorkRefused
from moothall.runtime.encoding import SLICE, encode_list
from moothall.runtime.turns import yield_turn
from moothall.storage.database import (
    Reader,
    StorageConflict,
    StorageFull,
    StorageUnavailable,
    Transaction,
    WritesElsewhere,
)
from moothall.storage.per_query_reader import PerQueryReader

T = TypeVar("T")
Observe = Callable[[str, int, float], None]
"""Called for each request with the endpoint's name, the status and the duration in seconds."""

log = logging.getLogger("moothall.http")

_JSON_TYPE = (b"content-type", b"application/json")
_NO_STORE = (b"cache-control", b"no-store")
"""Every response without a cache-control of its own has this: most are for one account."""
_NO_SNIFF = (b"x-content-type-options", b"nosniff")
_NO_CONTENT_TYPE: tuple[bytes, bytes] = (b"content-length", b"0")
_WITHOUT_BODY = frozenset({204, 304})
_GZIP_FROM = 2048
_MAJOR = ("guild_id", "channel_id", "webhook_id", "interaction_id")
_TOKENS = ("webhook_token", "interaction_token")
_MAX_KEY = 96
"""Characters of an id or token in a path that are part of a rate limit's key; no valid one is longer."""
_BEARER, _OPERATOR = TokenKind.BEARER, TokenKind.OPERATOR
_SMALL = 64 * 1024
"""Bytes of encoded JSON that take no time worth a turn of their own."""
_LARGE_BODY = 64 * 1024
"""Bytes of a body from which on it is read in a thread: the event loop must not wait for that."""
_SMALL_BODY = 2048
_MANY_VALUES = 512
"""Commas of a body from which on it is read in a thread, as telling each of its errors may take milliseconds."""


class EncodedResponse(Struct):
    """A response as it is sent."""

    status: int
    body: bytes
    headers: list[tuple[bytes, bytes]]


class DecodedRequest(Struct):
    """A request's parameters and body, typed."""

    path: dict[str, Any]
    query: dict[str, Any]
    body: dict[str, Any]
    reason: str | None
    files: Sequence[StagedFile]
    problem: Refusal | None
    """The refusal for errors in the query, body or reason, raised once the caller is authorized."""
    large: bool = False
    """Whether reading the body takes too long for the event loop."""

    def add_problem(self, refusal: Refusal) -> None:
        """Add what else is invalid."""
        _release_frames(refusal)
        self.problem = refusal if self.problem is None else merge_refusals([self.problem, refusal])

    def take_body(self, reader: BodyReader, data: bytes, content_type: str) -> None:
        """Read the body, or the problem with it."""
        try:
            self.body["body"] = reader.read(data, content_type)
        except Refusal as refusal:
            self.add_problem(refusal)


class Pipeline:
    """The HTTP API as an ASGI application that serves the endpoints of `router`.

    `max_body` and `max_upload` are in bytes, for JSON bodies and for forms with files.
    """

    def __init__(
        self,
        services: Services,
        router: Router,
        *,
        observe: Observe,
        max_body: int = 26 * 1024 * 1024,
        max_upload: int = 104 * 1024 * 1024,
        trusted_proxies: Callable[[str], bool] = lambda _address: False,
    ) -> None:
        self._services = services
        self._router = router
        self._actors = ActorCache(services.database)
        self._observe = observe
        self._max_body = max_body
        self._max_upload = max_upload
        self._trusted = trusted_proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request whose path begins with /api."""
        started = stopwatch()
        request = Request(scope, receive, max_body=self._max_body, address=client_address(scope, self._trusted))
        endpoint_name = "none"
        endpoint: Endpoint | None = None
        current_request.set(request.id)
        try:
            endpoint, values, head = self._match(request)
            if endpoint is None:
                response = EncodedResponse(204, b"", list(request.preflight_headers()))
            else:
                endpoint_name = endpoint.name
                current_endpoint.set(endpoint_name)
                response = await self._respond_and_release(endpoint, values, request)
                if head:
                    response.headers.append((b"content-length", b"%d" % len(response.body)))
                    response.body = b""
        except (Refusal, WorkRefused) as problem:
            refusal = refusal_of(problem)
            response = refusal_response(refusal if endpoint is None else endpoint.access.refusal(refusal))
            request.extend(response.headers)
            _release_frames(refusal)
        except ClientDisconnected:
            # The body is read before the transaction, so nothing was changed.
            return
        except WritesElsewhere:
            # Nothing is sent yet: the caller passes the request on to the process that writes.
            raise
        except Exception as problem:  # noqa: BLE001 logged
            response = refusal_response(Refusal(_error_of(problem, request)))
        if response.status in {401, 403, 429} and self._services.limiter is not None:
            self._services.limiter.note_refusal(request.network, loopback=request.loopback)
            if response.status != 403:
                delayed_from = stopwatch()
                await self._services.limiter.delays.delay(request.payer)
                started += stopwatch() - delayed_from
        await self._send(request, response, send)
        seconds = stopwatch() - started
        self._observe(endpoint_name, response.status, seconds)
        if log.isEnabledFor(logging.DEBUG):
            log.debug(
                "%s %s %d",
                request.method,
                request.redacted_path,
                response.status,
                extra={"row": endpoint_name, "ms": round(seconds * 1000, 2)},
            )

    async def _respond_and_release(
        self, endpoint: Endpoint, values: Sequence[str], request: Request
    ) -> EncodedResponse:
        try:
            return await self.respond(endpoint, values, request)
        finally:
            if request.cost is not None:
                request.cost.release()

    async def respond(self, endpoint: Endpoint, values: Sequence[str], request: Request) -> EncodedResponse:
        """Authenticate, count, decode, open a transaction, authorize, call the handler, commit, publish, encode."""
        actor = await self._authenticate(endpoint, request)
        self._take_rate(endpoint, values, actor, request)
        has_files = endpoint.uploads is not None and is_form(request.content_type)
        if endpoint.signature.body is not None:
            request.cost = self._services.budgets.cost_of(request.payer)
        decoded = await self._decode(endpoint, values, request, has_files=has_files)
        if endpoint.signature.images and decoded.problem is None:
            await self._stage_images(endpoint, actor, request, decoded)
        if endpoint.method == "GET" and not endpoint.writes:
            result = await self._attempt(endpoint, actor, request, decoded, None, writes=False)
        elif has_files and endpoint.uploads is not None:
            result = await self._run_with_files(endpoint, endpoint.uploads, actor, request, decoded)
        else:
            result = await self._run(endpoint, actor, request, decoded)
        if endpoint.method == "GET" and not (type(result) is Json and len(result.data) <= _SMALL):
            # What was read may take as long to encode, or to write.
            await yield_turn()
        if type(result) is list and len(result) > SLICE:
            body = await encode_list(result)
            return EncodedResponse(endpoint.status, body, [_JSON_TYPE, *request.response_headers])
        return _encode(endpoint, result, request, self._services.links)

    def _match(self, request: Request) -> tuple[Endpoint | None, Sequence[str], bool]:
        match = self._router.match(request.path)
        if match is None:
            raise Refusal(errors.NOT_FOUND)
        methods, values = match
        endpoint = methods.get(request.method)
        if endpoint is not None:
            return endpoint, values, False
        if request.method == "HEAD" and "GET" in methods:
            return methods["GET"], values, True
        allowed = sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])})
        if request.method == "OPTIONS":
            request.response_headers.append((b"allow", ", ".join(allowed).encode()))
            return None, values, False
        raise Refusal(errors.METHOD_NOT_ALLOWED, headers={"allow": ", ".join(allowed)})

    def known_account(self, scope: Scope) -> UserId | None:
        """The account of a request whose Authorization header was seen a moment ago."""
        for name, value in scope["headers"]:
            if name == b"authorization":
                actor = self._actors.get(value.decode("latin-1"))
                return None if actor is None else actor.user_id
        return None

    async def _authenticate(self, endpoint: Endpoint, request: Request) -> Actor:
        limiter = self._services.limiter
        if limiter is not None and (wait := limiter.banned_for(request.network, loopback=request.loopback)):
            raise too_many_requests(
                wait, "global", [], message="You are being blocked from accessing our API temporarily."
            )
        header = request.authorization
        if header is None or endpoint.access.own_credentials:
            actor = ANONYMOUS
        else:
            cached = self._actors.get(header)
            if cached is None:
                async with self._services.database.read() as reader:
                    cached = await authenticate(reader, header)
                if cached.kind is not _OPERATOR:
                    # Their tokens must end at once, also when a command revokes them.
                    self._actors.put(header, cached)
                self._services.record_token_use(cached)
            actor = cached
            request.payer = Payer(actor.user_id or None, request.network, request.loopback)
        if endpoint.access.needs_actor and not actor.signed_in:
            raise Refusal(errors.NOT_AUTHENTICATED)
        return actor

    def _take_rate(self, endpoint: Endpoint, values: Sequence[str], actor: Actor, request: Request) -> None:
        limiter = self._services.limiter
        if limiter is None:
            request.response_headers.extend(unlimited_headers(endpoint.bucket))
            return
        major: object = None
        names = endpoint.signature.path_parameters
        if names and names[0].name in _MAJOR:
            with_token = len(names) > 1 and names[1].name in _TOKENS
            major = values[0][:_MAX_KEY]
            if with_token:
                major = (major, values[1][:_MAX_KEY])
        caller = actor.user_id or request.network
        result = limiter.take(endpoint.bucket, endpoint.rate, caller, major, loopback=request.loopback)
        if not result.allowed:
            raise too_many_requests(result.retry_after, result.scope, result.headers)
        request.response_headers.extend(result.headers)

    async def _stage_images(self, endpoint: Endpoint, actor: Actor, request: Request, decoded: DecodedRequest) -> None:
        body = decoded.body["body"]
        if not any(isinstance(getattr(body, field), MEDIA) for field in endpoint.signature.images):
            return
        pool = self._services.pools.images.for_payer(request.payer)
        # Only authorized callers may cause this work. The transaction checks the authorization again.
        async with self._services.database.read() as reader:
            ctx = self._context(endpoint, actor, request, decoded, reader)
            _check_scope(endpoint, actor)
            await endpoint.access.check(ctx, decoded.path)
        await stage_images(body, endpoint.signature.images, self._services.blobs, pool)

    async def _run_with_files(
        self, endpoint: Endpoint, uploads: Uploads, actor: Actor, request: Request, decoded: DecodedRequest
    ) -> Any:
        """Store a form's files, then run the endpoint, and delete the files that it did not take."""

        async def admit() -> Admission:
            async with self._services.database.read() as reader:
                ctx = self._context(endpoint, actor, request, decoded, reader)
                _check_scope(endpoint, actor)
                await endpoint.access.check(ctx, decoded.path)
                if decoded.problem is not None:
                    raise decoded.problem
                allowance = await uploads.admit(ctx, decoded.path)
                share = await open_quota_share(self._services, reader, await uploads.payer_id(ctx))
                return Admission(allowance, share)

        services = self._services
        cost = request.cost = request.cost or services.budgets.cost_of(request.payer)
        pool = services.pools.images.for_payer(request.payer)
        staging = UploadStaging(uploads, services.blobs, services.file_ids, admit, pool, cost)
        try:
            return await self._run_staged(staging, endpoint, actor, request, decoded)
        finally:
            staging.release()

    async def _run_staged(
        self, staging: UploadStaging, endpoint: Endpoint, actor: Actor, request: Request, decoded: DecodedRequest
    ) -> Any:
        try:
            form = await staging.read(request.chunks(self._max_upload), request.content_type)
            if endpoint.signature.body is not None:
                data = form.body(endpoint.signature.body.kind)
                decoded.large = is_large(data)
                take = partial(decoded.take_body, endpoint.signature.body, data, endpoint.signature.body.content_type)
                await self._read(request, decoded, take)
            decoded.files = form.files
        except Refusal as refusal:
            if refusal.status != 400:
                raise
            decoded.add_problem(refusal)
        try:
            result = await self._run(endpoint, actor, request, decoded)
        except Refusal:
            # After other exceptions the change may be durable nevertheless: the sweeper finds out later.
            await staging.discard()
            raise
        await staging.discard(taken=False)
        return result

    def _context(
        self, endpoint: Endpoint, actor: Actor, request: Request, decoded: DecodedRequest, tx: Reader
    ) -> Context:
        # An endpoint that only reads has a reader: it calls nothing that writes.
        return Context(
            self._services,
            cast("Transaction", tx),
            actor,
            reason=decoded.reason,
            fires=endpoint.fires,
            writes=endpoint.locks_guild,
            ip=request.network,
            loopback=request.loopback,
            credentials=request.authorization if endpoint.access.own_credentials else None,
            files=decoded.files,
            header=request.header,
        )

    async def _run(self, endpoint: Endpoint, actor: Actor, request: Request, decoded: DecodedRequest) -> Any:
        lock = await self._guild_changed(decoded.path) if endpoint.locks_guild else None
        writes = endpoint.writes and not endpoint.reads_first
        try:
            try:
                return await retry_on_conflict(self._attempt, endpoint, actor, request, decoded, lock, writes=writes)
            except WriteNeeded:
                return await retry_on_conflict(self._attempt, endpoint, actor, request, decoded, lock, writes=True)
        except RecordedRefusal as refusal:
            await refusal.record()
            raise

    async def _attempt(
        self,
        endpoint: Endpoint,
        actor: Actor,
        request: Request,
        decoded: DecodedRequest,
        lock: Snowflake | None,
        *,
        writes: bool,
    ) -> Any:
        """Run the endpoint once, in one transaction. Raises StorageConflict if another process' transaction won."""
        database, payer = self._services.database, request.payer
        opening: Any
        if writes:
            opening = database.transaction(lock, payer=payer)
        elif endpoint.writes or endpoint.method == "GET":
            opening = database.read(payer)
        else:
            opening = nullcontext(PerQueryReader(database, payer))
        try:
            async with opening as tx:
                ctx = self._context(endpoint, actor, request, decoded, tx)
                ctx.writes = writes and endpoint.locks_guild
                _check_scope(endpoint, actor)
                await endpoint.access.check(ctx, decoded.path)
                if decoded.problem is not None:
                    raise decoded.problem
                result = await endpoint.handler(ctx, *decoded.path.values(), **decoded.body, **decoded.query)
                if writes:
                    await complete_changes(ctx)
                    await store_events(ctx)
                    # Publishes in the order of the commits, even if this client has disconnected by then.
                    tx.on_commit(partial(publish_after_commit, ctx))
        except Withdrawn as end:
            return end.result
        return result

    async def _guild_changed(self, path: dict[str, Any]) -> Snowflake | None:
        """The id of the guild to lock: that of the path, or of the channel in the path."""
        if "guild_id" in path or "channel_id" not in path:
            return path.get("guild_id")
        async with self._services.database.read() as reader:
            return await self._services.states.guild_of_channel(reader, path["channel_id"])

    async def _decode(
        self, endpoint: Endpoint, values: Sequence[str], request: Request, *, has_files: bool
    ) -> DecodedRequest:
        """Decode all but a form with files, which is read later."""
        parameters = zip(endpoint.signature.path_parameters, values, strict=True)
        path = {parameter.name: parameter.read(value) for parameter, value in parameters}
        decoded = DecodedRequest(path, {}, {}, None, (), None)
        if endpoint.signature.body is not None and not has_files:
            data = await request.body(endpoint.signature.body_bytes_max, self._services.pools.bodies)
            decoded.large = is_large(data)
            take = partial(decoded.take_body, endpoint.signature.body, data, request.content_type)
            await self._read(request, decoded, take)
        if endpoint.signature.query_parameters and (request.query_string or endpoint.signature.query.required):
            try:
                decoded.query = endpoint.signature.query.read(request.query_string)
            except Refusal as refusal:
                decoded.add_problem(refusal)
        for parameter in endpoint.signature.header_parameters:
            decoded.query[parameter.name] = request.header(parameter.header.name)
        if endpoint.audit_reason and request.audit_reason is not None:
            try:
                decoded.reason = read_reason(request.audit_reason)
            except Refusal as refusal:
                decoded.add_problem(refusal)
        return decoded

    async def _read(self, request: Request, decoded: DecodedRequest, read: Callable[[], T]) -> T:
        """Read a body, a large one in a thread. Raises WorkRefused."""
        cost = request.cost
        if not decoded.large or cost is None:
            return read()
        return await self._services.pools.bodies.run(cost.payer, read, size=cost.buffered)

    async def _gzip(self, body: bytes, request: Request) -> tuple[bytes, bool]:
        """A body and whether it is compressed: not for who is over the budget, as what was asked for is done."""
        # Level 1 of 64 kB takes about a millisecond: larger bodies are compressed in a thread.
        if len(body) <= _LARGE_BODY:
            return _deflate(body), True
        deflate = partial(_deflate, body)
        try:
            return await self._services.pools.responses.run(request.payer, deflate, size=len(body)), True
        except WorkRefused:
            return body, False

    async def _send(self, request: Request, response: EncodedResponse, send: Send) -> None:
        headers, body = response.headers, response.body
        headers += ((b"x-request-id", request.id.encode()), _NO_SNIFF)
        if not any(name == b"cache-control" for name, _ in headers):
            headers.append(_NO_STORE)
        if request.origin is not None:
            headers.extend(request.cors_headers())
        if len(body) >= _GZIP_FROM and request.accepts_gzip and not request.loopback:
            body, compressed = await self._gzip(body, request)
            headers.append((b"vary", b"accept-encoding"))
            if compressed:
                headers.append((b"content-encoding", b"gzip"))
        if request.method != "HEAD" and response.status not in _WITHOUT_BODY:
            headers.append((b"content-length", b"%d" % len(body)))
        if request.takes_whole_response:
            await send({"type": "http.response.start", "status": response.status, "headers": headers, "body": body})
        else:
            await send({"type": "http.response.start", "status": response.status, "headers": headers})
            await send({"type": "http.response.body", "body": body})


def _release_frames(refusal: Refusal) -> None:
    """Let a refusal refer to no frame, as those refer to the request and with it to the refusal.

    Else both, and a body of megabytes, would stay in memory until the garbage collector comes.
    """
    refusal.__traceback__ = refusal.__context__ = None


def _error_of(problem: Exception, request: Request) -> ErrorKind:
    """The error of the response for an exception that is no refusal, which is logged unless the client caused it."""
    if isinstance(problem, RequestTooLarge):
        return errors.REQUEST_TOO_LARGE
    if isinstance(problem, StorageFull | StorageUnavailable | StorageConflict):
        log.warning("%s %s: %s", request.method, request.redacted_path, problem)
        return errors.INSUFFICIENT_STORAGE if isinstance(problem, StorageFull) else errors.UNAVAILABLE
    log.error("%s %s failed", request.method, request.redacted_path, exc_info=problem)
    return errors.INTERNAL_ERROR


def _check_scope(endpoint: Endpoint, actor: Actor) -> None:
    if actor.kind is _BEARER and endpoint.access.needs_actor:
        sufficient = endpoint.scope.split("|") if endpoint.scope else ()
        if not any(scope in actor.scopes for scope in sufficient):
            raise Refusal(errors.MISSING_SCOPE)
    elif actor.kind is _OPERATOR and not endpoint.access.takes_operators:
        raise Refusal(errors.MISSING_SCOPE)


def _encode(endpoint: Endpoint, result: object, request: Request, links: FileLinks) -> EncodedResponse:
    headers = request.response_headers
    if result is None:
        return EncodedResponse(204, b"", headers)
    if type(result) is Json:
        data = links.sign(result.data) if result.names_files else result.data
        return EncodedResponse(endpoint.status, data, [_JSON_TYPE, *result.headers, *headers])
    if type(result) is Response:
        if request.if_none_match and any(
            name == b"etag" and tag in request.if_none_match for name, tag in result.headers
        ):
            return EncodedResponse(304, b"", [*result.headers, *headers])
        return EncodedResponse(
            result.status, result.body, [(b"content-type", result.content_type.encode()), *result.headers, *headers]
        )
    return EncodedResponse(endpoint.status, encode(result), [_JSON_TYPE, *headers])


def refusal_response(refusal: Refusal) -> EncodedResponse:
    """The response for a refusal, in the API's error shape."""
    headers = [_JSON_TYPE]
    headers.extend((name.lower().encode(), value.encode("latin-1")) for name, value in (refusal.headers or {}).items())
    return EncodedResponse(refusal.kind.status, encode(refusal.body()), headers)


def too_many_requests(
    wait: float, scope: str, headers: list[tuple[bytes, bytes]], *, message: str | None = None
) -> Refusal:
    """A refusal of 429 with the headers and body that clients parse; `wait` is in seconds."""
    all_headers = {name.decode(): value.decode() for name, value in headers}
    all_headers.setdefault("retry-after", str(int(wait) + 1))
    all_headers.setdefault("x-ratelimit-scope", scope)
    all_headers.setdefault("via", "1.1 moothall")
    return Refusal(
        errors.RATE_LIMITED,
        message=message,
        headers=all_headers,
        extra={"retry_after": round(wait, 3), "global": scope == "global"},
    )


def refusal_of(problem: Refusal | WorkRefused) -> Refusal:
    """The refusal of work that is not done: 429 for a caller over its budget, 503 where too much waits."""
    if isinstance(problem, Refusal):
        return problem
    if isinstance(problem, OverBudget):
        return too_many_requests(problem.seconds, "user", [])
    return Refusal(errors.UNAVAILABLE, headers={"retry-after": str(math.ceil(problem.seconds))})


def is_large(data: bytes) -> bool:
    """Whether reading a body, with all of its errors, takes too long for the event loop."""
    return len(data) >= _LARGE_BODY or (len(data) >= _SMALL_BODY and data.count(b",") >= _MANY_VALUES)


def _deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(level=1, wbits=31)
    return packer.compress(body) + packer.flush()
