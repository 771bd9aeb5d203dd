"""The line that every request runs on, from match to encode. Read `Pipeline.answer` from top to bottom.

Refusals come in one order on every row: 404 for no such path, 401, 429, 404, 403, 400. So a body is
decoded early, but what is wrong with it is told only to those who may do the thing at all.
"""

import asyncio
import logging
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from msgspec import Struct

from moothall.kernel.authenticate import ANONYMOUS, Actor, Remembered, TokenKind, authenticate
from moothall.kernel.committing import announce, freshen_guilds, keep_events
from moothall.kernel.conflicts import until_it_wins
from moothall.kernel.context import Context, Services, Withdrawn, WriteNeeded
from moothall.kernel.endpoint import Endpoint, Json, Response
from moothall.kernel.file_links import FileLinks
from moothall.kernel.images import MEDIA, stage_images
from moothall.kernel.multipart import is_form
from moothall.kernel.parameters import read_query
from moothall.kernel.per_query_reader import PerQueryReader
from moothall.kernel.ratelimit import bucket_name
from moothall.kernel.reason import read_reason
from moothall.kernel.request import ClientGone, Request, RequestTooLarge, client_address
from moothall.kernel.router import Router
from moothall.kernel.staged import StagedFile
from moothall.kernel.uploads import Allowance, Staging, Uploads
from moothall.logs import current_request
from moothall.objects import errors
from moothall.objects.errors import Refusal, merge_refusals
from moothall.objects.ids import Snowflake
from moothall.objects.wire import encode
from moothall.storage.database import StorageConflict, StorageFull, StorageUnavailable

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Observe = Callable[[str, int, float], None]
"""Told the row, the status and the seconds of each request."""

log = logging.getLogger("moothall.http")

_JSON_TYPE = (b"content-type", b"application/json")
_NO_CONTENT_TYPE: tuple[bytes, bytes] = (b"content-length", b"0")
_WITHOUT_BODY = frozenset({204, 304})
_GZIP_FROM = 2048
_MAJOR = ("guild_id", "channel_id", "webhook_id", "interaction_id")
_TOKENS = ("webhook_token", "interaction_token")
_MAX_KEY = 96
"""Characters of a path's id or token that tell one rate limit from another: none that exists is longer."""
_MAX_JSON = 2 * 1024 * 1024
"""Bytes of a body on rows that take no images or sounds."""


class Answer(Struct):
    """What goes back."""

    status: int
    body: bytes
    headers: list[tuple[bytes, bytes]]


class Decoded(Struct):
    """A request's parameters and body, typed."""

    path: dict[str, Any]
    query: dict[str, Any]
    body: dict[str, Any]
    reason: str | None
    files: Sequence[StagedFile]
    problem: Refusal | None
    """The refusal that is owed to those who get that far, if query, body or reason is wrong."""


class Pipeline:
    """The HTTP API as an ASGI application, over the rows given."""

    def __init__(
        self,
        services: Services,
        rows: Iterable[Endpoint],
        *,
        observe: Observe,
        max_body: int = 26 * 1024 * 1024,
        max_upload: int = 104 * 1024 * 1024,
        trusted_proxies: Callable[[str], bool] = lambda _address: False,
    ) -> None:
        rows = list(rows)
        self._services = services
        self._router = Router(rows)
        self._remembered = Remembered(services.database)
        self._buckets = {row: bucket_name(row.method, row.path) for row in rows}
        self._observe = observe
        self._max_body = max_body
        self._max_upload = max_upload
        self._trusted = trusted_proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request whose path begins with /api."""
        started = time.perf_counter()
        request = Request.of(scope, receive, max_body=self._max_body, address=client_address(scope, self._trusted))
        row_name = "none"
        current_request.set(request.id)
        try:
            endpoint, values, head = self._match(request)
            if endpoint is None:
                answer = Answer(204, b"", list(request.preflight_headers()))
            else:
                row_name = endpoint.name
                answer = await self.answer(endpoint, values, request)
                if head:
                    answer.headers.append((b"content-length", b"%d" % len(answer.body)))
                    answer.body = b""
        except Refusal as refusal:
            answer = refused(refusal)
            request.extend(answer.headers)
        except RequestTooLarge:
            answer = refused(Refusal(errors.REQUEST_TOO_LARGE))
        except ClientGone:
            # Nothing was done, and nobody is there to be told so.
            return
        except (StorageFull, StorageUnavailable, StorageConflict) as problem:
            log.warning("%s %s: %s", request.method, request.shown_path, problem)
            answer = refused(
                Refusal(errors.INSUFFICIENT_STORAGE if isinstance(problem, StorageFull) else errors.UNAVAILABLE)
            )
        except Exception:
            log.exception("%s %s failed", request.method, request.shown_path)
            answer = refused(Refusal(errors.INTERNAL_ERROR))
        if answer.status in {401, 403, 429} and self._services.limiter is not None:
            self._services.limiter.note_refusal(request.network, loopback=request.loopback)
        await self._send(request, answer, send)
        seconds = time.perf_counter() - started
        self._observe(row_name, answer.status, seconds)
        if log.isEnabledFor(logging.DEBUG):
            log.debug(
                "%s %s %d",
                request.method,
                request.shown_path,
                answer.status,
                extra={"row": row_name, "ms": round(seconds * 1000, 2)},
            )

    async def answer(self, endpoint: Endpoint, values: list[str], request: Request) -> Answer:
        """The line: authenticate, rate, decode, transaction, authorize, handler, commit, publish, encode."""
        actor = await self._authenticate(endpoint, request)
        self._take_rate(endpoint, values, actor, request)
        given = await _decode(endpoint, values, request)
        if endpoint.images and given.problem is None:
            await self._stage_images(endpoint, actor, request, given)
        if endpoint.uploads is not None and is_form(request.content_type):
            result = await self._run_with_files(endpoint, endpoint.uploads, actor, request, given)
        else:
            result = await self._run(endpoint, actor, request, given)
        return _encode(endpoint, result, request, self._services.links)

    def _match(self, request: Request) -> tuple[Endpoint | None, list[str], bool]:
        found = self._router.match(request.path)
        if found is None:
            raise Refusal(errors.NOT_FOUND)
        methods, values = found
        endpoint = methods.get(request.method)
        if endpoint is not None:
            return endpoint, values, False
        if request.method == "HEAD" and "GET" in methods:
            return methods["GET"], values, True
        allowed = sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])})
        if request.method == "OPTIONS":
            request.answer_headers.append((b"allow", ", ".join(allowed).encode()))
            return None, values, False
        raise Refusal(errors.METHOD_NOT_ALLOWED, headers={"allow": ", ".join(allowed)})

    async def _authenticate(self, endpoint: Endpoint, request: Request) -> Actor:
        limiter = self._services.limiter
        if limiter is not None and (wait := limiter.banned_for(request.network)):
            raise too_many(wait, "global", [], message="You are being blocked from accessing our API temporarily.")
        header = request.authorization
        if header is None or endpoint.access.own_credentials:
            actor = ANONYMOUS
        else:
            remembered = self._remembered.get(header)
            if remembered is None:
                async with self._services.database.read() as reader:
                    remembered = await authenticate(reader, header)
                self._remembered.put(header, remembered)
                self._services.used(remembered)
            actor = remembered
        if endpoint.access.needs_actor and not actor.signed_in:
            raise Refusal(errors.NOT_AUTHENTICATED)
        return actor

    def _take_rate(self, endpoint: Endpoint, values: list[str], actor: Actor, request: Request) -> None:
        limiter = self._services.limiter
        if limiter is None:
            return
        major: object = None
        names = endpoint.path_parameters
        if names and names[0].name in _MAJOR:
            with_token = len(names) > 1 and names[1].name in _TOKENS
            major = values[0][:_MAX_KEY]
            if with_token:
                major = (major, values[1][:_MAX_KEY])
        caller = actor.user_id or request.network
        verdict = limiter.take(self._buckets[endpoint], endpoint.rate, caller, major, loopback=request.loopback)
        if not verdict.allowed:
            raise too_many(verdict.retry_after, verdict.scope, verdict.headers)
        request.answer_headers.extend(verdict.headers)

    async def _stage_images(self, endpoint: Endpoint, actor: Actor, request: Request, given: Decoded) -> None:
        body = given.body["body"]
        if not any(isinstance(getattr(body, field), MEDIA) for field in endpoint.images):
            return
        # Only those who may do the thing may cause the work: the line asks again inside the transaction.
        async with self._services.database.read() as reader:
            ctx = self._context(endpoint, actor, request, given, reader)
            _check_scope(endpoint, actor)
            await endpoint.access.check(ctx, given.path)
        try:
            await stage_images(body, endpoint.images, self._services.blobs)
        except Refusal as refusal:
            given.problem = refusal

    async def _run_with_files(
        self, endpoint: Endpoint, uploads: Uploads, actor: Actor, request: Request, given: Decoded
    ) -> Any:
        """Store a form's files, then run the row; what it did not take is removed again."""

        async def admit() -> Allowance:
            async with self._services.database.read() as reader:
                ctx = self._context(endpoint, actor, request, given, reader)
                _check_scope(endpoint, actor)
                await endpoint.access.check(ctx, given.path)
                if given.problem is not None:
                    raise given.problem
                return await uploads.admit(ctx, given.path)

        staging = Staging(uploads, self._services.blobs, self._services.file_ids, admit)
        try:
            form = await staging.read(request.chunks(self._max_upload), request.content_type)
            if endpoint.body is not None:
                given.body["body"] = endpoint.body.read(form.body(endpoint.body.kind), "application/json")
            given.files = form.files
        except Refusal as refusal:
            if refusal.status != 400:
                raise
            given.problem = refusal if given.problem is None else merge_refusals([given.problem, refusal])
        try:
            result = await self._run(endpoint, actor, request, given)
        except Refusal:
            # After other failures the change may be durable all the same: the sweeper looks, later.
            await staging.discard()
            raise
        await staging.discard(taken=False)
        return result

    def _context(self, endpoint: Endpoint, actor: Actor, request: Request, given: Decoded, tx: Any) -> Context:
        return Context(
            self._services,
            tx,
            actor,
            reason=given.reason,
            fires=endpoint.fires,
            writes=endpoint.locks_guild,
            ip=request.network,
            credentials=request.authorization if endpoint.access.own_credentials else None,
            files=given.files,
            header=request.header,
        )

    async def _run(self, endpoint: Endpoint, actor: Actor, request: Request, given: Decoded) -> Any:
        lock = await self._guild_changed(given.path) if endpoint.locks_guild else None
        attempt = partial(self._attempt, endpoint, actor, request, given, lock)
        try:
            return await until_it_wins(partial(attempt, writes=endpoint.writes and not endpoint.reads_first))
        except WriteNeeded:
            return await until_it_wins(partial(attempt, writes=True))

    async def _attempt(
        self,
        endpoint: Endpoint,
        actor: Actor,
        request: Request,
        given: Decoded,
        lock: Snowflake | None,
        *,
        writes: bool,
    ) -> Any:
        """The row from its first to its last statement. Raises StorageConflict where another process won."""
        database = self._services.database
        opened: Any
        if writes:
            opened = database.transaction(lock)
        elif endpoint.writes or endpoint.method == "GET":
            opened = database.read()
        else:
            opened = nullcontext(PerQueryReader(database))
        try:
            async with opened as tx:
                ctx = self._context(endpoint, actor, request, given, tx)
                ctx.writes = writes and endpoint.locks_guild
                _check_scope(endpoint, actor)
                await endpoint.access.check(ctx, given.path)
                if given.problem is not None:
                    raise given.problem
                result = await endpoint.handler(ctx, *given.path.values(), **given.body, **given.query)
                if writes:
                    await freshen_guilds(ctx)
                    await keep_events(ctx)
                    # Told in the order of the commits, even if this client has gone by then.
                    tx.on_commit(partial(announce, ctx))
        except Withdrawn as end:
            return end.result
        return result

    async def _guild_changed(self, path: dict[str, Any]) -> Snowflake | None:
        """The guild that a row changes, to be locked: that of the path, or of the path's channel."""
        if "guild_id" in path or "channel_id" not in path:
            return path.get("guild_id")
        async with self._services.database.read() as reader:
            return await self._services.states.guild_of_channel(reader, path["channel_id"])

    async def _send(self, request: Request, answer: Answer, send: Send) -> None:
        headers, body = answer.headers, answer.body
        headers.append((b"x-request-id", request.id.encode()))
        if request.origin is not None:
            headers.extend(request.cors_headers())
        if len(body) >= _GZIP_FROM and request.takes_gzip and not request.loopback:
            body = await _gzip(body)
            headers.extend(((b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")))
        if request.method != "HEAD" and answer.status not in _WITHOUT_BODY:
            headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _check_scope(endpoint: Endpoint, actor: Actor) -> None:
    if actor.kind is TokenKind.BEARER and endpoint.access.needs_actor:
        wanted = endpoint.scope.split("|") if endpoint.scope else ()
        if not any(scope in actor.scopes for scope in wanted):
            raise Refusal(errors.MISSING_SCOPE)


async def _decode(endpoint: Endpoint, values: list[str], request: Request) -> Decoded:
    path = {
        parameter.name: parameter.read(value) for parameter, value in zip(endpoint.path_parameters, values, strict=True)
    }
    query: dict[str, Any] = {}
    body: dict[str, Any] = {}
    reason = None
    problems: list[Refusal] = []
    if endpoint.query_parameters:
        try:
            query = read_query(endpoint.query_parameters, request.query_string)
        except Refusal as refusal:
            problems.append(refusal)
    for parameter in endpoint.header_parameters:
        query[parameter.name] = request.header(parameter.header.name)
    if endpoint.body is not None and not (endpoint.uploads is not None and is_form(request.content_type)):
        data = await request.body(None if endpoint.images else _MAX_JSON)
        try:
            body["body"] = endpoint.body.read(data, request.content_type)
        except Refusal as refusal:
            problems.append(refusal)
    if endpoint.audit_reason and request.audit_reason is not None:
        try:
            reason = read_reason(request.audit_reason)
        except Refusal as refusal:
            problems.append(refusal)
    return Decoded(path, query, body, reason, (), merge_refusals(problems) if problems else None)


def _encode(endpoint: Endpoint, result: Any, request: Request, links: FileLinks) -> Answer:
    headers = request.answer_headers
    if result is None:
        return Answer(204, b"", headers)
    if type(result) is Json:
        return Answer(endpoint.status, links.sign(result.data), [_JSON_TYPE, *result.headers, *headers])
    if type(result) is Response:
        if request.known_tags and any(name == b"etag" and tag in request.known_tags for name, tag in result.headers):
            return Answer(304, b"", [*result.headers, *headers])
        return Answer(
            result.status, result.body, [(b"content-type", result.content_type.encode()), *result.headers, *headers]
        )
    return Answer(endpoint.status, encode(result), [_JSON_TYPE, *headers])


def refused(refusal: Refusal) -> Answer:
    """A refusal in the API's error shape."""
    headers = [_JSON_TYPE]
    headers.extend((name.lower().encode(), value.encode("latin-1")) for name, value in (refusal.headers or {}).items())
    return Answer(refusal.kind.status, encode(refusal.body()), headers)


def too_many(wait: float, scope: str, headers: list[tuple[bytes, bytes]], *, message: str | None = None) -> Refusal:
    """A 429 as public clients parse it."""
    given = {name.decode(): value.decode() for name, value in headers}
    given.setdefault("retry-after", str(int(wait) + 1))
    given.setdefault("x-ratelimit-scope", scope)
    given.setdefault("via", "1.1 moothall")
    return Refusal(
        errors.RATE_LIMITED,
        message=message,
        headers=given,
        extra={"retry_after": round(wait, 3), "global": scope == "global"},
    )


async def _gzip(body: bytes) -> bytes:
    # Level 1 of 64 kB takes about a millisecond: more than that leaves the event loop.
    if len(body) > 65_536:
        return await asyncio.to_thread(_deflate, body)
    return _deflate(body)


def _deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(level=1, wbits=31)
    return packer.compress(body) + packer.flush()
