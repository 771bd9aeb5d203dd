"""The composition root: the only place that knows every room, and how they make one platform."""

import asyncio
import gc
import logging
import math
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from msgspec import structs
from sqlalchemy import literal, select

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 both for their rows
from moothall import __version__
from moothall.bus import Bus, Envelope
from moothall.bus.local import LocalBus
from moothall.cdn.attachments import Attachments
from moothall.cdn.expressions import ExpressionFiles
from moothall.cdn.files import Files
from moothall.cdn.scaled import ScaledPictures, ScaledSweeper
from moothall.demo.output import as_text
from moothall.demo.record import DemoRecord
from moothall.demo.seeding import ensure_demo, store_base_url
from moothall.gateway.callbacks import GatewayCallbacks, VoiceStateRequest
from moothall.gateway.cluster_members import ClusterMembers
from moothall.gateway.database_source import DatabaseSource
from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import UNLIMITED, GatewaySettings
from moothall.kernel.address_limits import AddressLimits, Window, send_refusal
from moothall.kernel.context import Limits, Services
from moothall.kernel.endpoint import endpoints
from moothall.kernel.file_ids import FileIds
from moothall.kernel.file_links import FileLinks
from moothall.kernel.guild_state import GuildStates
from moothall.kernel.jobs import JobRunner
from moothall.kernel.jobs.queries import JobCounts, count_jobs
from moothall.kernel.metrics import Metrics
from moothall.kernel.nodes import new_name
from moothall.kernel.outbox import OutboxRelay
from moothall.kernel.pipeline import Pipeline
from moothall.kernel.ratelimit import RateLimiter
from moothall.kernel.request import client_address, is_loopback, network_of
from moothall.kernel.secrets import Passwords, ServerKey, hash_token
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, SnowflakeFactory, UserId
from moothall.objects.presence import Presence
from moothall.objects.wire import Timestamp
from moothall.resources import load_endpoints
from moothall.resources.guild.membership.operations import leave_if_temporary, remove_departed_guests
from moothall.resources.interaction.operations.deliver import Deliveries
from moothall.resources.interaction.response_timers import ResponseTimers
from moothall.resources.member.activity import activity_of
from moothall.resources.message.attachment.sweeping import FileSweeper
from moothall.resources.message.search.indexing import Indexer
from moothall.resources.user.auth_session.sweeping import SessionSweeper
from moothall.resources.user.auth_session.usage import UsageBook
from moothall.resources.voice.operations.sessions import handle_voice_update, leave_voice
from moothall.settings import Settings
from moothall.storage.blobs import Blobs
from moothall.storage.database import Database, Query, StorageError
from moothall.storage.disk_cache import DiskCache
from moothall.storage.engines import database_at
from moothall.storage.sqlite_files import serving_alone
from moothall.web.http_protocol import BoundedHttp
from moothall.web.lazy import LazyApplication
from moothall.web.metrics_page import MetricsPage
from moothall.web.paths import is_browser_at_api, is_page

if TYPE_CHECKING:
    from moothall.bus.nats import NatsBus
    from moothall.web.documents import Documents
    from moothall.web.site import Site

log = logging.getLogger("moothall")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def base_url(settings: Settings) -> str:
    """The URL that clients reach the platform by, without a trailing slash."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    host = "localhost" if settings.host in {"127.0.0.1", "::1", "0.0.0.0", "::"} else settings.host  # noqa: S104 compared
    return f"http://{host}:{settings.port}"


def id_number(settings: Settings) -> int | None:
    """The ten bits that the settings reserve for the ids of this process; None for any that are free."""
    if settings.worker_id is None and settings.process_id is None:
        return None
    return (settings.worker_id or 0) << 5 | (settings.process_id or 0)


def build_services(settings: Settings, database: Database, bus: Bus) -> Services:
    """The parts that requests share; `presences` is replaced by the gateway node's where there is one."""
    key = (
        ServerKey.parse(settings.secret_key)
        if settings.secret_key is not None
        else ServerKey.load_or_create(settings.key_path)
    )
    ids = SnowflakeFactory()
    return Services(
        database=database,
        bus=bus,
        ids=ids,
        file_ids=FileIds(ids, key.subkeys("file ids")[0]),
        states=GuildStates(),
        box=key.box("stored secrets"),
        blobs=Blobs.open(settings.blob_url or str(settings.data / "files"), spool=settings.data / "incoming"),
        links=FileLinks(key.subkeys("file links"), base_url(settings)),
        presences=NoPresences(),
        limiter=RateLimiter(
            loopback_multiplier=settings.rate_limit_loopback_factor,
            global_requests=settings.rate_limit_global,
            invalid_requests=settings.rate_limit_invalid,
            webhook_requests=settings.rate_limit_webhook,
            webhook_minute_requests=settings.rate_limit_webhook_minute,
        )
        if settings.rate_limits
        else None,
        limits=Limits(
            public_url=base_url(settings),
            reserved_words=settings.reserved_words,
            allow_private_addresses=settings.allow_private_addresses,
            registration=settings.registration,
            verification_requires_email=settings.verification_requires_email,
            password_min_score=settings.password_min_score,
            session_unused_days=settings.session_unused_days,
        ),
        extra={Passwords: Passwords()},
    )


def address_limits(
    settings: Settings, limiter: RateLimiter | None, trusted_proxies: Callable[[str], bool]
) -> AddressLimits:
    """What an address may ask of all that is neither the API nor the gateway."""
    return AddressLimits(
        limiter,
        trusted_proxies=trusted_proxies,
        windows=(
            Window("attachments", (Attachments.PREFIX,), settings.rate_limit_attachments),
            Window("files", (*Files.PREFIXES, *ExpressionFiles.PREFIXES), settings.rate_limit_files),
            Window("pages", ("",), settings.rate_limit_pages),
        ),
        scaling_ms=settings.rate_limit_scaling_ms,
    )


def gateway_callbacks(services: Services, book: UsageBook, node: str = "") -> GatewayCallbacks:
    """What the platform does when something happens on the gateway of a node."""

    async def update_voice_state(request: VoiceStateRequest) -> None:
        done = await handle_voice_update(
            services,
            user_id=request.user_id,
            session_id=request.session_id,
            guild_id=request.guild_id,
            channel_id=request.channel_id,
            self_mute=request.self_mute,
            self_deaf=request.self_deaf,
            self_video=request.self_video,
            node=node,
        )
        if done and request.channel_id is None:
            await remove_departed_guests(services, [(request.guild_id, request.user_id)])

    async def end_voice(user_id: UserId, session_id: str) -> None:
        await remove_departed_guests(services, await leave_voice(services, user_id, session_id))

    async def record_activity(user_id: UserId) -> None:
        activity_of(services).seen_everywhere(user_id)

    async def leave_temporary_guilds(user_id: UserId, _guild_ids: frozenset[GuildId]) -> None:
        await leave_if_temporary(services, user_id)

    return GatewayCallbacks(
        on_voice_state_update=update_voice_state,
        on_session_end=end_voice,
        on_identify=record_activity,
        on_offline=leave_temporary_guilds,
        on_token_use=book.note,
    )


def _shared_bus(url: str, name: str) -> "NatsBus":
    # Its client takes a fifth of a second to import, which a process alone need not wait for.
    from moothall.bus.nats import NatsBus  # noqa: PLC0415

    return NatsBus(url, node=name)


class NoPresences:
    """The presences of a process without a gateway."""

    def online_count(self, guild_id: GuildId) -> int:
        """Nobody is online."""
        del guild_id
        return 0

    def presences(
        self, guild_id: GuildId, user_ids: Iterable[UserId] | None = None, *, maximum: int = 1000
    ) -> list[Presence]:
        """Nobody is online."""
        del guild_id, user_ids, maximum
        return []

    def is_connected(self, user_id: UserId) -> bool:
        """Nobody is."""
        del user_id
        return False


class App:
    """The whole platform as one ASGI application.

    `start` opens the database and the bus, `stop` closes them; the lifespan protocol calls both.
    """

    def __init__(self, settings: Settings) -> None:
        load_endpoints()
        self.settings = settings
        self._trusts = lru_cache(maxsize=1024)(settings.trusts)
        self.metrics = Metrics()
        self.database = database_at(settings.database, connections=settings.database_connections)
        self.database.observe_commit = self.metrics.observe_commit
        name = new_name()
        shared = None if settings.nats_url is None else _shared_bus(settings.nats_url, name)
        self.bus: Bus = shared or LocalBus()
        self._shared = shared
        self.services = build_services(settings, self.database, self.bus)
        self.usage = UsageBook(self.database)
        self.services.used = self.usage.used
        self.gateway = GatewayNode(
            GatewaySettings(
                public_url=base_url(settings).replace("http", "ws", 1) + "/gateway",
                public_url_is_guessed=settings.public_url is None,
                resume_url=settings.gateway_url or "",
                heartbeat_ms=settings.gateway_heartbeat_ms,
                resume_seconds=settings.gateway_resume_seconds,
                replay_frames=settings.gateway_resume_events,
                queue_bytes=settings.gateway_queue_bytes,
                **({} if settings.rate_limits else UNLIMITED),
            ),
            self.bus,
            DatabaseSource(self.database, self.services.states),
            # Alone, a process finds the voice connections of the one before it under the same name.
            gateway_callbacks(self.services, self.usage, "" if shared is None else name),
            self.metrics,
            name=name,
            network_of=self._network_of,
        )
        self.cluster_members = ClusterMembers(
            self.services, self.gateway, self.bus, shared=shared, name=name, number=id_number(settings)
        )
        self.services.presences = self.gateway.presences
        self.services.hears = self.gateway.hub.views.__contains__
        self.services.extra[GatewayNode] = self.gateway
        self.pipeline = Pipeline(
            self.services,
            endpoints(),
            observe=self.metrics.observe_request,
            max_body=settings.max_body_bytes,
            max_upload=settings.max_upload_bytes,
            trusted_proxies=self._trusts,
        )
        self.relay = self.services.extra[OutboxRelay] = OutboxRelay(self.database, self.bus, shared=shared)
        self.relay.found = self._others_changed
        self.services.states.remember(self.database)
        self.jobs = self.services.extra[JobRunner] = JobRunner(self.services)
        self.bus.subscribe(self.jobs.hear)
        self._job_counts = _NO_JOB_COUNTS
        self.indexer = self.services.extra[Indexer] = Indexer(self.services)
        self.documents = LazyApplication(self._build_documents)
        self.site = LazyApplication(self._build_site)
        self.limits = address_limits(settings, self.services.limiter, self._trusts)
        self.files = Files(self.services.blobs, self.limits)
        cache = DiskCache(settings.data / "scaled", settings.scaled_cache_bytes)
        self.scaled = ScaledPictures(self.services.blobs, cache, self.limits)
        self.attachments = Attachments(
            self.database, self.services.blobs, self.services.links, self.scaled, self.limits
        )
        self.sweeper = FileSweeper(self.services)
        self.session_sweeper = SessionSweeper(self.services, self.usage, self._connected_tokens)
        self._hsts = settings.hsts if base_url(settings).startswith("https:") else None
        self.scaled_sweeper = ScaledSweeper(self.database, cache)
        self.expressions = ExpressionFiles(self.database, self.services.blobs, self.files, self.limits)
        self._metrics_port = None if settings.metrics_address is None else settings.metrics_address[1]
        self.metrics_page = MetricsPage(
            self.metrics,
            self.limits,
            token=settings.metrics_token,
            apart=self._metrics_port is not None,
            refresh=self._refresh_job_counts,
        )
        self.demo: DemoRecord | None = None
        self._watch()

    async def start(self) -> None:
        """Open everything. Raises StorageError, BusUnavailable or NumberTaken if that cannot be."""
        await self.database.open()
        await self.database.migrate()
        await self.cluster_members.join()
        if self.settings.demo:
            self.demo = await ensure_demo(self.services)
            # They are about to be shown again, to be used.
            for person in self.demo.people if self.demo is not None else ():
                self.usage.note(hash_token(person.token))
        await store_base_url(self.services, base_url(self.settings))
        await self.gateway.start()
        self.relay.start()
        self.jobs.start()
        self.indexer.start()
        self.sweeper.start()
        # No request is served yet: a login that was not used for too long does not get one more.
        await self.session_sweeper.end_unused()
        self.session_sweeper.start()
        self.scaled_sweeper.start()
        # What is there now stays: the collector need not look at it again and again.
        gc.freeze()
        gc.enable()
        gc.set_threshold(20_000, 20, 50)
        # The thread that commits has little to do, but whoever waits for it waits for all of it: measured,
        # a twelfth more durable writes a second than with Python's five milliseconds.
        sys.setswitchinterval(0.0005)

    async def stop(self) -> None:
        """Close everything; whatever is being committed is finished first."""
        await self.jobs.stop()
        await self.indexer.stop()
        await self.sweeper.stop()
        await self.session_sweeper.stop()
        await self.scaled_sweeper.stop()
        await self.gateway.close()
        await self.relay.stop()
        await Deliveries.of(self.services).close()
        await activity_of(self.services).close()
        await self.usage.close()
        await self.cluster_members.leave()
        await self.database.settled()
        await self.database.close()
        self.services.extra[Passwords].close()
        self.scaled.close()

    def greeting(self) -> str:
        """What whoever started the server wants to know once it serves."""
        url = base_url(self.settings)
        line = f"Moothall {__version__} serves at {url}"
        return line if self.demo is None else f"{line}\n\n{as_text(self.demo, url)}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "http":
            if self._hsts is not None:
                send = with_header(send, b"strict-transport-security", self._hsts.encode())
            path: str = scope["path"]
            if self._metrics_port is not None and _port_of(scope) == self._metrics_port:
                await self._serve_metrics(scope, receive, send)
            elif path.startswith("/api/") and not path.endswith("/openapi.json") and not is_browser_at_api(scope):
                await self.pipeline(scope, receive, send)
            elif path == "/healthz":
                await self._healthz(send)
            else:
                await self._serve_limited(scope, receive, send)
        elif scope["type"] == "websocket":
            if self._metrics_port is not None and _port_of(scope) == self._metrics_port:
                await send({"type": "websocket.close"})
            else:
                await self.gateway.serve(scope, receive, send)
        else:
            await self._lifespan(receive, send)

    # A server that shows no page loads neither Starlette nor the pages: they take 4% of the time to start.

    def _build_site(self) -> "Site":
        from moothall.web.site import Site  # noqa: PLC0415

        return Site(self.services, trusted_proxies=self._trusts)

    def _build_documents(self) -> "Documents":
        from moothall.web.documents import Documents  # noqa: PLC0415

        gateway_url = self.gateway.settings.public_url
        return Documents(endpoints(), public_url=base_url(self.settings), gateway_url=gateway_url)

    def _connected_tokens(self) -> set[bytes]:
        """The hashes of the tokens that people's gateway sessions were opened with."""
        return {session.token_hash for session in self.gateway.hub.sessions.values() if not session.bot}

    async def _serve_limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve what is neither the API nor the gateway, as often as an address may ask for it."""
        try:
            self.limits.check(scope)
        except Refusal as refusal:
            await send_refusal(scope, send, refusal)
            return
        path: str = scope["path"]
        if is_page(path):
            await self.site(scope, receive, send)
        elif path.startswith(Attachments.PREFIX):
            await self.attachments(scope, receive, send)
        elif path.startswith(Files.PREFIXES):
            await self.files(scope, receive, send)
        elif path.startswith(ExpressionFiles.PREFIXES):
            await self.expressions(scope, receive, send)
        elif path == MetricsPage.PATH and self._metrics_port is None:
            await self.metrics_page(scope, receive, send)
        else:
            await self.documents(scope, receive, send)

    async def _serve_metrics(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve what is at the address of the metrics: them, and nothing else."""
        try:
            self.limits.check(scope)
            if scope["path"] != MetricsPage.PATH:
                raise Refusal(errors.NOT_FOUND)
        except Refusal as refusal:
            await send_refusal(scope, send, refusal)
            return
        await self.metrics_page(scope, receive, send)

    def _network_of(self, scope: Scope) -> str:
        """Where a connection comes from, as limits count it; "" for this machine itself."""
        address = client_address(scope, self._trusts)
        return "" if is_loopback(address) else network_of(address)

    async def _healthz(self, send: Send) -> None:
        """200 while the database answers, else 503: what a load balancer or a supervisor asks."""
        try:
            async with self.database.read() as reader:
                await reader.scalar(_SELECT_ONE)
        except StorageError:
            await _answer(send, 503, b'{"status":"the database does not answer"}', "application/json")
        else:
            await _answer(send, 200, b'{"status":"ok"}', "application/json")

    async def _refresh_job_counts(self) -> None:
        """Count the jobs of the database for `/metrics`; NaN while it does not answer within a second."""
        try:
            async with asyncio.timeout(1), self.database.read() as reader:
                self._job_counts = await count_jobs(reader, Timestamp.now())
        except (StorageError, TimeoutError):
            self._job_counts = _NO_JOB_COUNTS

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self.start()
        except Exception as problem:
            log.exception("the platform cannot start")
            await send({"type": "lifespan.startup.failed", "message": str(problem)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.stop()
        await send({"type": "lifespan.shutdown.complete"})

    def _others_changed(self) -> None:
        """Another process has changed the database: an operator's command, which may have enqueued jobs as well."""
        self.services.states.forget()
        self.jobs.wake()

    def _watch(self) -> None:
        node = self.gateway
        self.metrics.watch(
            "gateway_sessions", "Sessions, connected or waiting for a resume.", lambda: len(node.hub.sessions)
        )
        self.metrics.watch("gateway_connections", "Open WebSockets.", lambda: len(node.connections))
        self.metrics.watch("gateway_dropped", "Connections ended for a slow or silent peer.", lambda: node.dropped)
        timers = ResponseTimers.of(self.services)
        self.metrics.watch("interactions_waiting", "Interactions that wait for their answers.", lambda: len(timers))
        self.metrics.watch(
            "jobs_waiting",
            "Jobs that are due, or will be retried after a failure.",
            lambda: self._job_counts.waiting,
        )
        self.metrics.watch(
            "jobs_failed", "Jobs given up after too many failed attempts.", lambda: self._job_counts.failed
        )
        self.bus.subscribe(self._count)
        if (bus := self._shared) is not None:
            self.metrics.watch("bus_connected", "Whether NATS can be reached.", lambda: int(bus.connected))
            self.metrics.watch("bus_dropped", "Presences and typing given up while it could not.", lambda: bus.dropped)

    def _count(self, envelopes: Sequence[Envelope]) -> None:
        for envelope in envelopes:
            self.metrics.count_published(envelope.name)


_SELECT_ONE = Query(select(literal(1)))
_NO_JOB_COUNTS = JobCounts(waiting=math.nan, failed=math.nan)


def with_header(send: Send, name: bytes, value: bytes) -> Send:
    """A `send` that gives every answer one more header."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (name, value)]
        await send(message)

    return sending


def _port_of(scope: Scope) -> int | None:
    """The port that a connection has come in by."""
    server = scope.get("server")
    return None if server is None else server[1]


async def _answer(send: Send, status: int, body: bytes, content_type: str) -> None:
    headers = [(b"content-type", content_type.encode()), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Server(uvicorn.Server):
    """uvicorn, but for its ends: it says when it is ready, and lets gateway clients go with a code to resume with."""

    def __init__(self, config: uvicorn.Config, app: App) -> None:
        super().__init__(config)
        self._app = app

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections and say so on standard output."""
        await super().startup(sockets)
        if self.started:
            if self._app.settings.metrics_listen is not None:
                log.info("metrics are at http://%s%s", self._app.settings.metrics_listen, MetricsPage.PATH)
            print(self._app.greeting(), flush=True)  # noqa: T201 for whoever started it, not for the log

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End gracefully, with exit code 0; a second SIGINT ends at once."""
        del frame  # unlike uvicorn's own, this does not raise the signal again at the end
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        """Stop accepting, let clients go with a resumable code, finish what is running."""
        for server in self.servers:
            server.close()
        await self._app.gateway.close()
        await super().shutdown(sockets)


def bind(host: str, port: int) -> list[socket.socket]:
    """Sockets at every address of a host, all at one port; 0 is a free one. Raises OSError where it is in use."""
    sockets: list[socket.socket] = []
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            bound.bind((address[0], port, *address[2:]))
        except OSError as error:
            raise OSError(f"cannot listen at {address[0]} port {port}: {error.strerror}") from None
        port = bound.getsockname()[1]
        sockets.append(bound)
    return sockets


def serve(settings: Settings) -> None:
    """Run the platform until SIGINT or SIGTERM.

    Exits with status 3 if it cannot start; raises OSError for the port, and for a file that another server serves from.
    """
    sockets = bind(settings.host, settings.port)
    settings = structs.replace(settings, port=sockets[0].getsockname()[1])
    if settings.metrics_address is not None:
        host = settings.metrics_address[0]
        own = bind(*settings.metrics_address)
        shown = f"[{host}]" if ":" in host else host
        settings = structs.replace(settings, metrics_listen=f"{shown}:{own[0].getsockname()[1]}")
        sockets += own
    app = App(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http=BoundedHttp,
        ws="websockets-sansio",
        ws_max_size=65_536,
        ws_per_message_deflate=False,
        ws_ping_interval=None,
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )
    server = Server(config, app)
    with nullcontext() if settings.database_path is None else serving_alone(settings.database_path):
        server.run(sockets)
    if not server.started:
        raise SystemExit(3)
