"""The composition root: builds every service of the platform, passes it to the code that uses it, and closes it."""

import asyncio
import logging
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Hashable, Iterable, MutableMapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import nullcontext, suppress
from functools import lru_cache, partial
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import uvicorn
from msgspec import structs

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 both register endpoints
from moothall import __version__
from moothall.activities.origin import ActivityOrigins
from moothall.activities.proxy import ActivityProxy
from moothall.bus import Bus, BusUnavailable, Envelope
from moothall.bus.local import LocalBus
from moothall.bus.unix import WorkerBus, WriterBus
from moothall.cdn.attachments import Attachments
from moothall.cdn.expressions import ExpressionFiles
from moothall.cdn.external import ExternalMedia
from moothall.cdn.harvests import HarvestFiles
from moothall.cdn.images import ImageFiles
from moothall.cdn.rendition_cache import RenditionCache, RenditionSweeper
from moothall.cdn.uploads import UploadReceiver
from moothall.demo.community import LoadedCommunity, ensure_community, tokens_text
from moothall.demo.examples import example_ids
from moothall.demo.output import as_text
from moothall.demo.record import DemoRecord
from moothall.demo.seeding import ensure_demo, store_base_url
from moothall.gateway.activity_sessions import ActivitySessions
from moothall.gateway.callbacks import GatewayCallbacks, VoiceStateRequest
from moothall.gateway.cluster_members import ClusterMembers
from moothall.gateway.database_source import DatabaseSource
from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import UNLIMITED, GatewaySettings
from moothall.gateway.writer_calls import (
    CheckActivitiesCall,
    ConnectedTokens,
    IdentifyCall,
    LeaveActivitiesCall,
    OfflineCall,
    SessionEndCall,
    TokensCall,
    UsedTokens,
    VoiceCall,
    WriterCalls,
    worker_callbacks,
)
from moothall.kernel.address_limits import AddressLimits, Window, send_refusal
from moothall.kernel.authenticate import Actor
from moothall.kernel.collector import IdleCollector
from moothall.kernel.context import GatewaySession, Limits, PresenceSource, Services
from moothall.kernel.endpoint import endpoints
from moothall.kernel.file_ids import FileIds
from moothall.kernel.file_links import FileLinks
from moothall.kernel.guild_state import GuildStates
from moothall.kernel.jobs import JobRunner
from moothall.kernel.jobs.queries import JobCounts, count_jobs
from moothall.kernel.loop_watch import LoopWatch
from moothall.kernel.metrics import Metrics
from moothall.kernel.nodes import NodeNumberTaken, new_name
from moothall.kernel.outbox import OutboxRelay, read_last_batch
from moothall.kernel.outgoing import Outgoing
from moothall.kernel.pipeline import Pipeline
from moothall.kernel.pools import Pools
from moothall.kernel.ratelimit import RateLimiter
from moothall.kernel.request import client_address, is_loopback, network_of
from moothall.kernel.resource_services import ResourceServices
from moothall.kernel.router import Router
from moothall.kernel.secrets import Passwords, ServerKey, ServerKeyError, hash_token
from moothall.kernel.server_start import check_server_key, continue_ids
from moothall.kernel.shared_windows import ProcessWindows
from moothall.kernel.storage_quota import UploadsInFlight
from moothall.kernel.worker_cluster import ClusterRole
from moothall.kernel.worker_metrics import MetricsCollector, MetricsReporter
from moothall.oauth2.client_authentication import SecretThrottle
from moothall.oauth2.openid import SigningKeys
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, GuildId, SnowflakeFactory, UserId
from moothall.objects.presence import Presence
from moothall.objects.turns import enter_lane, room_in_turn
from moothall.objects.wire import Timestamp
from moothall.resources import load_endpoints
from moothall.resources.activity.operations import clear_activities, leave_activities, leave_forbidden
from moothall.resources.auto_moderation.matcher import RuleMatchers
from moothall.resources.auto_moderation.spam import RecentContent
from moothall.resources.auto_moderation.words import PresetWords
from moothall.resources.channel.encoded import EncodedChannels
from moothall.resources.channel.thread_activity.encoded import ThreadCache
from moothall.resources.guild.membership.operations import leave_if_temporary, remove_departed_guests
from moothall.resources.guild.prune.cache import InactiveMembers
from moothall.resources.guild.prune.operations import RunningPrunes
from moothall.resources.guild.widget.image_cache import WidgetImageCache
from moothall.resources.harvest.links import ArchiveLinks
from moothall.resources.interaction.jobs import ExpirySchedule
from moothall.resources.interaction.operations.deliver import Deliveries
from moothall.resources.interaction.response_timers import ResponseTimers
from moothall.resources.link_preview.fetcher import LinkPreviews
from moothall.resources.mail.config import DEFAULT_PORTS, MailConfig
from moothall.resources.mail.sender import MailSender
from moothall.resources.member.activity import ActivityRecorder
from moothall.resources.member.encoded import EncodedMembers
from moothall.resources.message.attachment.pending_upload.links import UploadLinks
from moothall.resources.message.attachment.sweeper import FileSweeper
from moothall.resources.message.first_messages import FirstMessages
from moothall.resources.message.operations.nonces import NonceSweep
from moothall.resources.message.operations.previews import PreviewsRequested
from moothall.resources.message.page_cache import PageCache
from moothall.resources.message.people import UserCache
from moothall.resources.message.preview_worker import PreviewWorker
from moothall.resources.message.rules import RecentMessages
from moothall.resources.message.search.cache import SearchCache
from moothall.resources.message.search.indexing import Indexer
from moothall.resources.push.encryption import VapidKey
from moothall.resources.push.sender import PushSender
from moothall.resources.user.auth_session.sweeper import SessionSweeper
from moothall.resources.user.auth_session.usage import TokenUseRecorder
from moothall.resources.user.password.verification import PasswordThrottle
from moothall.resources.voice.operations.sessions import clear_voice, handle_voice_update, leave_voice
from moothall.resources.webhook_event.sender import WebhookEventSender
from moothall.runtime.budgets import SERVER, Allowance, Budgets, Holdings, Rates
from moothall.runtime.work_pool import PayerPool
from moothall.settings import Settings
from moothall.storage.blobs import Blobs
from moothall.storage.database import Database, StorageError, WritesElsewhere
from moothall.storage.disk_cache import DiskCache
from moothall.storage.engines import database_at, replica_at
from moothall.storage.sqlite_files import serving_alone
from moothall.web.handover import Handover, WorkerHttp, accept_passed_on
from moothall.web.health import HealthPage
from moothall.web.http_protocol import BoundedHttp
from moothall.web.lazy import LazyApplication
from moothall.web.metrics_page import MetricsPage
from moothall.web.paths import is_browser_at_api, is_client, is_page, opens_client
from moothall.web.websocket_limits import WebSocketLimits
from moothall.web.websocket_protocol import GatewayWebSocket
from moothall.web.writer_relay import IDLE_SECONDS, RelayedRequests, WriterRelay

if TYPE_CHECKING:
    from moothall.bus.nats import NatsBus
    from moothall.web.client_files import ClientFiles
    from moothall.web.documents import Documents
    from moothall.web.site import Site

log = logging.getLogger("moothall")

CPU_BURST: Final = 3
"""How much CPU time an account may use at once, as a multiple of what it may use in ten seconds."""
REQUEST_BYTES_MAX: Final = 512 * 1024 * 1024
"""Bytes of bodies that are in memory at once."""
_CLOSE_SECONDS: Final = 5.0
"""Maximum seconds for closing the database after a failed start."""
_HSTS = b"strict-transport-security"
_NO_JOB_COUNTS = JobCounts(waiting=math.nan, failed=math.nan)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def base_url(settings: Settings) -> str:
    """The URL that clients reach the platform by, without a trailing slash."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    host = "localhost" if settings.host in {"127.0.0.1", "::1", "0.0.0.0", "::"} else settings.host  # noqa: S104 compared
    return f"http://{host}:{settings.port}"


def activities_url(settings: Settings) -> str | None:
    """The URL of the activities host; None if none is set and browsers could not find the default one.

    Browsers resolve every name below localhost to their own machine.
    """
    if settings.activities_url is not None:
        return settings.activities_url.rstrip("/")
    parts = urlsplit(base_url(settings))
    if parts.hostname != "localhost":
        return None
    return f"{parts.scheme}://activities.localhost" + ("" if parts.port is None else f":{parts.port}")


def id_number(settings: Settings) -> int | None:
    """The node number of this process in the settings, ten bits; None for any free one."""
    if settings.worker_id is None and settings.process_id is None:
        return None
    return (settings.worker_id or 0) << 5 | (settings.process_id or 0)


def server_key(settings: Settings) -> ServerKey:
    """The key of this installation, generated at the first start. Raises ServerKeyError, OSError."""
    if settings.secret_key is not None:
        return ServerKey.parse(settings.secret_key)
    return ServerKey.load_or_create(settings.key_path)


def build_services(
    settings: Settings,
    database: Database,
    bus: Bus,
    key: ServerKey,
    *,
    ids: SnowflakeFactory | None = None,
    states: GuildStates | None = None,
    presences: PresenceSource | None = None,
    has_listeners: Callable[[GuildId], bool] = lambda _guild_id: True,
    count_unreceived: Callable[[str], None] = lambda _name: None,
    record_token_use: Callable[[Actor], None] = lambda _actor: None,
    windows: ProcessWindows | None = None,
    budgets: Budgets | None = None,
) -> Services:
    """Build the services that requests, jobs and commands share. `close_services` closes them."""
    ids = SnowflakeFactory() if ids is None else ids
    budgets = build_budgets(settings) if budgets is None else budgets
    services = Services(
        database=database,
        bus=bus,
        ids=ids,
        file_ids=FileIds(ids, key.subkeys("file ids")[0]),
        states=GuildStates(database) if states is None else states,
        box=key.box("stored secrets"),
        passwords=Passwords(budgets),
        budgets=budgets,
        pools=Pools.start(budgets),
        blobs=Blobs.open(settings.blob_url or str(settings.data / "files"), spool=settings.data / "incoming"),
        links=FileLinks(key.subkeys("file links"), base_url(settings), proxies=settings.link_previews),
        presences=NoPresences() if presences is None else presences,
        limiter=build_limiter(settings, windows) if settings.rate_limits else None,
        limits=Limits(
            public_url=base_url(settings),
            activities_url=activities_url(settings),
            reserved_words=settings.reserved_words,
            allow_private_addresses=settings.allow_private_addresses,
            registration=settings.registration,
            verification_requires_email=settings.verification_requires_email,
            password_min_score=settings.password_min_score,
            account_deletion_days=settings.account_deletion_days,
            session_max_days=settings.session_max_days,
            session_unused_days=settings.session_unused_days,
            message_requests=settings.message_requests,
            opened_direct_messages=settings.rate_limit_direct_messages,
            new_contacts=settings.rate_limit_new_contacts,
            link_previews=settings.link_previews,
            max_upload_bytes=settings.max_upload_bytes,
            storage_quota_bytes=settings.storage_quota_mb_per_user * 1_000_000,
            outgoing_proxy=settings.link_previews_proxy_url,
        ),
        has_listeners=has_listeners,
        count_unreceived=count_unreceived,
        record_token_use=record_token_use,
        jobs_due=asyncio.Event(),
        outbox_filled=asyncio.Event(),
        resources=ResourceServices(
            ActivityRecorder(database),
            EncodedMembers(database),
            ArchiveLinks(key.subkeys("archive links"), base_url(settings)),
            ExpirySchedule(),
            InactiveMembers(database),
            NonceSweep(),
            PasswordThrottle(),
            PreviewsRequested(),
            RecentContent(),
            WidgetImageCache(),
            RecentMessages(),
            ResponseTimers(),
            RuleMatchers(PresetWords.read(settings.auto_moderation_words)),
            RunningPrunes(),
            SearchCache(database),
            SecretThrottle(),
            SigningKeys(),
            ThreadCache(database),
            UploadsInFlight(),
            UploadLinks(key.subkeys("upload links"), base_url(settings)),
            user_cache := UserCache(database),
            EncodedChannels(database),
            FirstMessages(database, user_cache),
            PageCache(database, user_cache),
        ),
    )
    services.resources.add(Deliveries(services), WebhookEventSender(services), LinkPreviews(services))
    services.resources.add(PreviewWorker(services), PushSender(services, _vapid_key(settings)))
    services.resources.add(MailSender(services, mail_config(settings)))
    return services


async def close_services(services: Services) -> None:
    """Close the services of `build_services`, once no request is served and while the database is still open."""
    await services.resources[Deliveries].close()
    await services.resources[WebhookEventSender].close()
    await services.resources[MailSender].close()
    await services.resources[PreviewWorker].close()
    await services.resources[PushSender].close()
    await services.resources[LinkPreviews].close()
    await services.resources[ActivityRecorder].close()
    services.passwords.close()
    services.pools.close()


def _vapid_key(settings: Settings) -> VapidKey | None:
    """The key of Web Push; None if the operator has set none."""
    if settings.push_private_key is None:
        return None
    return VapidKey(settings.push_private_key, settings.push_contact or base_url(settings))


def mail_config(settings: Settings) -> MailConfig | None:
    """How mail is sent; None if the operator has set no mail server."""
    if settings.smtp_host is None or settings.mail_from is None:
        return None
    return MailConfig(
        host=settings.smtp_host,
        port=settings.smtp_port or DEFAULT_PORTS[settings.smtp_tls],
        tls=settings.smtp_tls,
        user=settings.smtp_user,
        password=settings.smtp_password,
        sender=settings.mail_from,
        public_url=base_url(settings),
        seconds=settings.smtp_timeout_seconds,
    )


def build_limiter(settings: Settings, windows: ProcessWindows | None = None) -> RateLimiter:
    """The rate limits of the API, counted together with the processes that share `windows`."""
    return RateLimiter(
        loopback_multiplier=settings.rate_limit_loopback_factor,
        global_requests=settings.rate_limit_global,
        invalid_requests=settings.rate_limit_invalid,
        webhook_requests=settings.rate_limit_webhook,
        webhook_minute_requests=settings.rate_limit_webhook_minute,
        shared=windows,
    )


def build_budgets(settings: Settings) -> Budgets:
    """What accounts and networks may cost this process."""
    if not settings.rate_limits:
        return Budgets.unlimited()
    seconds = settings.rate_limit_cpu_ms / 1000
    account = Allowance(capacity=seconds * CPU_BURST, per_second=seconds / 10)
    factor = settings.rate_limit_loopback_factor
    return Budgets(
        Rates(account=account, network=account.times(8), anonymous=account.times(3), loopback_multiplier=factor),
        Holdings(
            account=settings.max_body_bytes * 2,
            network=settings.max_body_bytes * 8,
            anonymous=settings.max_body_bytes * 2,
            total=REQUEST_BYTES_MAX,
            loopback_multiplier=factor,
        ),
    )


def build_activities(
    services: Services, settings: Settings, trusted_proxies: Callable[[str], bool]
) -> ActivityProxy | None:
    """The proxy of Activities; None without an activities host."""
    url = activities_url(settings)
    if url is None:
        return None
    window = Window("activities", ("",), settings.rate_limit_activities)
    limits = AddressLimits(services.limiter, trusted_proxies=trusted_proxies, windows=(window,))
    return ActivityProxy(services, ActivityOrigins(url, base_url(settings)), limits)


def gateway_settings(settings: Settings, *, worker: int = 0) -> GatewaySettings:
    """The settings of the gateway, in a worker of this number."""
    limits = {
        "max_sessions_per_person": settings.gateway_sessions_per_person,
        "account_bytes": settings.gateway_account_bytes,
    }
    return GatewaySettings(
        worker=worker,
        public_url=base_url(settings).replace("http", "ws", 1) + "/gateway",
        public_url_is_guessed=settings.public_url is None,
        resume_url=settings.gateway_url or "",
        max_upload_bytes=settings.max_upload_bytes,
        heartbeat_ms=settings.gateway_heartbeat_ms,
        resume_seconds=settings.gateway_resume_seconds,
        replay_frames=settings.gateway_resume_events,
        queue_bytes=settings.gateway_queue_bytes,
        **(limits if settings.rate_limits else UNLIMITED),
    )


def address_limits(
    settings: Settings, limiter: RateLimiter | None, trusted_proxies: Callable[[str], bool]
) -> AddressLimits:
    """The limits of an address on everything but the API and the gateway."""
    return AddressLimits(
        limiter,
        trusted_proxies=trusted_proxies,
        windows=(
            Window(
                "attachments",
                (Attachments.PREFIX, HarvestFiles.PREFIX, UploadReceiver.PREFIX),
                settings.rate_limit_attachments,
            ),
            Window("external", (ExternalMedia.PREFIX,), settings.rate_limit_external),
            Window("files", (*ImageFiles.PREFIXES, *ExpressionFiles.PREFIXES), settings.rate_limit_files),
            Window("pages", ("",), settings.rate_limit_pages),
        ),
        scaling_ms=settings.rate_limit_scaling_ms,
    )


def _shared_bus(settings: Settings, database: Database, name: str, key: ServerKey) -> "NatsBus":
    # Importing the client takes a fifth of a second, which a single process saves.
    from moothall.bus.nats import NatsBus  # noqa: PLC0415
    from moothall.bus.sealing import Seal  # noqa: PLC0415

    return NatsBus(
        settings.nats_url or "",
        node=name,
        seal=Seal(key.subkeys("bus messages")),
        last_batch=partial(read_last_batch, database),
        replicas=settings.nats_replicas,
    )


def _cluster_bus(role: ClusterRole | None, name: str) -> WriterBus | WorkerBus | None:
    """The bus of the processes of one machine; None for a process without a role among them."""
    if role is None:
        return None
    if role.writes:
        return WriterBus(role.cluster.events, node=name)
    return WorkerBus(role.cluster.events_path, node=name)


def _everywhere(_guild_id: GuildId) -> bool:
    """Whether a guild may have listeners: with workers, any may."""
    return True


class NoPresences:
    """The presences of a process without a gateway: every user is offline."""

    def online_count(self, guild_id: GuildId) -> int:
        """Return 0."""
        del guild_id
        return 0

    def presences(
        self, guild_id: GuildId, user_ids: Iterable[UserId] | None = None, *, maximum: int = 1000
    ) -> list[Presence]:
        """Return no member."""
        del guild_id, user_ids, maximum
        return []

    def is_connected(self, user_id: UserId) -> bool:
        """Return False."""
        del user_id
        return False

    def connected_among(self, user_ids: AbstractSet[UserId]) -> AbstractSet[UserId]:
        """Return no user."""
        del user_ids
        return frozenset()

    def find_session(self, user_id: UserId, session_id: str | None) -> GatewaySession | None:
        """Return None."""
        del user_id, session_id
        return None


class App:
    """The whole platform as one ASGI application.

    `start` opens the database and the bus, `stop` closes them; the lifespan protocol calls both. `local_bus` carries
    the events of a single process, which a test server listens to. `role` is that of this process among several of one
    machine; a worker answers reads and holds gateway sessions, and passes on everything else.
    """

    demo: DemoRecord | None = None
    """The demo community, once the server has started; None without one."""
    loaded: LoadedCommunity | None = None
    """The community of the setting `fixture`, if this start has made it."""
    _job_counts: JobCounts = _NO_JOB_COUNTS
    _loop_watch: LoopWatch | None = None
    _collector: IdleCollector | None = None

    def __init__(
        self, settings: Settings, *, local_bus: LocalBus | None = None, role: ClusterRole | None = None
    ) -> None:
        load_endpoints()
        self.settings = settings
        self._trusts = lru_cache(maxsize=1024)(settings.trusts)
        self.metrics = Metrics()
        self.role = role
        self._is_worker = role is not None and not role.writes
        name, self._key, budgets = new_name(), server_key(settings), build_budgets(settings)
        if role is not None and self._is_worker and settings.database_path is not None:
            self.database = replica_at(settings.database_path, role.cluster.commits, meter=budgets)
        else:
            self.database = database_at(
                settings.database,
                connections=settings.database_connections,
                statement_seconds=settings.database_statement_seconds,
                long_read_seconds=settings.database_long_read_seconds,
                observe_commit=self.metrics.observe_commit,
                counters=None if role is None else role.cluster.commits,
                meter=budgets,
            )
        key = self._key
        self._shared = None if settings.nats_url is None else _shared_bus(settings, self.database, name, key)
        # A single process uses a constant name, by which the next one finds the voice connections of this one.
        self._voice_node = name if self._shared is not None or self._is_worker else ""
        self.bus: Bus = _cluster_bus(role, name) or self._shared or local_bus or LocalBus()
        self.usage = TokenUseRecorder(self.database)
        self.used_tokens = UsedTokens(self.bus)
        states = GuildStates(self.database)
        self.gateway = GatewayNode(
            gateway_settings(settings, worker=0 if role is None else role.number),
            self.bus,
            DatabaseSource(self.database, states),
            worker_callbacks(self.bus, name, self.used_tokens, self._leave_activities, self._time_out_activity)
            if self._is_worker
            else GatewayCallbacks(
                on_voice_state_update=self._update_voice_state,
                on_session_end=self._end_session,
                on_activity_timeout=self._time_out_activity,
                on_identify=self._record_activity,
                on_offline=self._leave_temporary_guilds,
                on_token_use=self.usage.record,
            ),
            self.metrics,
            name=name,
            network_of=self._network_of,
            budgets=budgets,
        )
        self.health_page = HealthPage(
            self.database,
            key,
            self._trusts,
            self._stuck_beside,
            delivers=lambda: self.gateway.delivery_watch.delivers,
        )
        self.services = build_services(
            settings,
            self.database,
            self.bus,
            key,
            states=states,
            presences=self.gateway.presences,
            has_listeners=self.gateway.hub.views.__contains__ if role is None else _everywhere,
            count_unreceived=self.metrics.count_published,
            record_token_use=self.used_tokens.record_actor if self._is_worker else self.usage.record_actor,
            windows=None if role is None else role.windows,
            budgets=budgets,
        )
        self.services.resources.add(self.gateway)
        self.activity_sessions = ActivitySessions(
            self.services, self.gateway, self.bus, self._voice_node, writes_elsewhere=self._is_worker
        )
        self.connected_tokens = ConnectedTokens(self.used_tokens, self._connected_tokens)
        self.writer = WriterRelay(role.cluster.requests_path) if role is not None and self._is_worker else None
        """Passes requests on to the process that writes; None in that process itself."""
        self.writer_calls = self._writer_calls() if role is not None and role.writes else None
        self.cluster_members = ClusterMembers(
            self.services, self.gateway, self.bus, shared=self._shared, name=name, number=id_number(settings)
        )
        self.pipeline = Pipeline(
            self.services,
            Router(endpoints()),
            observe=self.metrics.observe_request,
            max_body=settings.max_body_bytes,
            max_upload=settings.max_upload_bytes,
            trusted_proxies=self._trusts,
        )
        self.jobs = JobRunner(self.services)
        self.bus.subscribe(self.jobs.handle_envelopes)
        self.relay = OutboxRelay(
            self.database,
            self.bus,
            shared=self._shared,
            on_relayed=self._handle_relayed,
            filled=self.services.outbox_filled,
        )
        self.indexer = Indexer(self.services)
        self._build_limits()
        self.activities = build_activities(self.services, settings, self._trusts)
        self._build_files()
        self.sweeper = FileSweeper(self.services)
        self.session_sweeper = SessionSweeper(self.services, self.usage, self._connected_tokens)
        self._hsts = settings.hsts if base_url(settings).startswith("https:") else None
        self._metrics_port = None if settings.metrics_address is None else settings.metrics_address[1]
        self.metrics_page = MetricsPage(
            self.metrics,
            self.limits,
            token=settings.metrics_token,
            apart=self._metrics_port is not None,
            refresh=self._refresh_job_counts,
            pool=(pool := self.services.pools.drawings.for_payer(SERVER)),
            collector=self._join_metrics(pool),
        )
        self._add_gauges()

    def _build_limits(self) -> None:
        """Build the limits of addresses on what is not of the API."""
        self.limits = address_limits(self.settings, self.services.limiter, self._trusts)
        self.websocket_limits = WebSocketLimits(self.services.limiter, self._network_of)

    def _build_files(self) -> None:
        """Build what serves files, pages and documents."""
        self.documents = LazyApplication(self._build_documents)
        self.site = LazyApplication(self._build_site)
        self.client = LazyApplication(self._build_client)
        self.files = ImageFiles(self.services.blobs, self.limits)
        cache = DiskCache(self.settings.data / "scaled", self.settings.scaled_cache_bytes)
        self.scaled = RenditionCache(self.services.blobs, cache, self.limits)
        self.attachments = Attachments(
            self.database, self.services.blobs, self.services.links, self.scaled, self.limits
        )
        self.harvests = HarvestFiles(self.database, self.services.blobs, self.services.resources[ArchiveLinks])
        self.uploads = UploadReceiver(self.services, self.limits)
        self.external = ExternalMedia(
            self.services.links,
            Outgoing(
                allow_private=self.settings.allow_private_addresses,
                agent=f"Mozilla/5.0 (compatible; Moothall/1.0; +{base_url(self.settings)})",
                proxy=self.settings.link_previews_proxy_url,
                connections=ExternalMedia.CONNECTIONS,
                connections_per_host=ExternalMedia.CONNECTIONS_PER_HOST,
            ),
            DiskCache(self.settings.data / "external", self.settings.external_cache_bytes),
            self.limits,
        )
        self.scaled_sweeper = RenditionSweeper(self.database, cache)
        self.expressions = ExpressionFiles(self.database, self.services.blobs, self.files, self.limits)

    async def start(self) -> None:
        """Open the database and the bus, and start all background tasks.

        Raises StorageError, BusUnavailable or NodeNumberTaken.
        """
        if self.settings.slow_turn_ms:
            self._loop_watch = LoopWatch(self.settings.slow_turn_ms / 1000)
            # So that it names the background tasks too, which start before it.
            self._loop_watch.follow_tasks()
        await self.database.open()
        if self._is_worker:
            await self.bus.start()
            await self.gateway.start()
            self.connected_tokens.start()
        else:
            await self._start_writing()
        if self._loop_watch is not None:
            self._watch_loop(self._loop_watch)
        self._collector = IdleCollector()
        self._collector.start()
        # Requests wait for the thread that commits, so it must get the interpreter soon: measured, a twelfth more
        # durable writes per second than with Python's default of five milliseconds.
        sys.setswitchinterval(0.0005)

    async def _start_writing(self) -> None:
        """Migrate the database, and start what changes it."""
        self.database.on_late_commit.append(self._handle_late_commit)
        await self.database.migrate()
        await check_server_key(self.database, self._key, str(self.settings.key_path))
        await continue_ids(self.database, self.services.ids)
        await self.cluster_members.join()
        if self.settings.fixture is not None:
            self.loaded = await ensure_community(self.services, self.settings.fixture)
        elif self.settings.demo:
            self.demo = await ensure_demo(self.services)
            # Their tokens are printed again for use, so they must not end for disuse.
            for person in self.demo.people if self.demo is not None else ():
                self.usage.record(hash_token(person.token))
        await store_base_url(self.services, base_url(self.settings))
        if self.writer_calls is not None:
            self.writer_calls.start()
        await self.gateway.start()
        self.relay.start()
        self.jobs.start()
        self.services.resources[WebhookEventSender].start()
        self.services.resources[MailSender].start()
        self.services.resources[PreviewWorker].start()
        self.services.resources[PushSender].start()
        self.indexer.start()
        self.sweeper.start()
        # Before the first request: a login that was not used for too long must not serve one more.
        await self.session_sweeper.end_unused()
        self.session_sweeper.start()
        self.scaled_sweeper.start()
        self.external.start()

    async def stop(self) -> None:
        """Stop the background tasks, wait for commits under way, and close the database and the bus."""
        if self._loop_watch is not None:
            self._loop_watch.stop()
        if self._collector is not None:
            await self._collector.stop()
        await self.jobs.stop()
        await self.services.resources[WebhookEventSender].stop()
        await self.services.resources[MailSender].stop()
        await self.services.resources[PreviewWorker].stop()
        await self.services.resources[PushSender].stop()
        await self.indexer.stop()
        await self.sweeper.stop()
        await self.session_sweeper.stop()
        await self.scaled_sweeper.stop()
        await self.external.close()
        await self.gateway.close()
        if self.writer_calls is not None:
            await self.writer_calls.stop()
        await self.connected_tokens.stop()
        self.activity_sessions.close()
        if self.activities is not None:
            await self.activities.close()
        await self.relay.stop()
        await close_services(self.services)
        await self.usage.close()
        await self.used_tokens.close()
        if self.writer is not None:
            self.writer.close()
        await self.cluster_members.leave()
        await self.database.settled()
        await self.database.close()
        self.scaled.close()
        self.gateway.frames.close()

    def greeting(self) -> str:
        """The text on standard output once the server is ready: its version and URL, and the logins it created."""
        url = base_url(self.settings)
        line = f"Moothall {__version__} serves at {url}"
        if self.loaded is not None:
            return f"{line}\n\n{tokens_text(self.loaded)}"
        return line if self.demo is None else f"{line}\n\n{as_text(self.demo, url)}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "http":
            enter_lane(partial(self._lane_of, scope))
            await room_in_turn()
            if self.writer is not None and self._application_of(scope) is None:
                await self._serve_as_worker(self.writer, scope, receive, send)
            else:
                await self._serve_request(scope, receive, send)
        elif scope["type"] == "websocket":
            if self._metrics_port is not None and _port_of(scope) == self._metrics_port:
                await send({"type": "websocket.close"})
            elif not await self.websocket_limits.admit(scope, receive, send):
                return
            elif (application_id := self._application_of(scope)) is not None and self.activities is not None:
                await self.activities.serve_websocket(scope, receive, send, application_id)
            else:
                await self.gateway.serve(scope, receive, send)
        else:
            await self._lifespan(receive, send)

    def _serve_request(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request of any origin. What it returns is to be awaited, as one coroutine for all that it calls."""
        if self._hsts is not None:
            send = with_header(send, _HSTS, self._hsts.encode())
        if self._metrics_port is not None and _port_of(scope) == self._metrics_port:
            return self._serve_metrics(scope, receive, send)
        if (application_id := self._application_of(scope)) is not None and self.activities is not None:
            return self.activities.serve(scope, receive, send, application_id)
        return self._serve_http(scope, receive, send)

    async def _serve_as_worker(self, writer: WriterRelay, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a read of the API; pass on everything else."""
        path: str = scope["path"]
        is_read = scope["method"] in {"GET", "HEAD", "OPTIONS"} and path.startswith("/api/")
        if is_read and not path.endswith("/openapi.json") and not is_browser_at_api(scope):
            answer = send if self._hsts is None else with_header(send, _HSTS, self._hsts.encode())
            # What is kept of tables that have changed is forgotten before the first of it is used.
            self.database.read()
            try:
                await self.pipeline(scope, receive, answer)
            except WritesElsewhere:
                pass
            else:
                return
        await writer(scope, receive, send)

    def _serve_http(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request of the platform's own origin, as `_serve_request`."""
        path: str = scope["path"]
        if path.startswith("/api/") and not path.endswith("/openapi.json") and not is_browser_at_api(scope):
            return self.pipeline(scope, receive, send)
        if path == HealthPage.PATH:
            return self.health_page(scope, send)
        return self._serve_limited(scope, receive, send)

    def _application_of(self, scope: Scope) -> ApplicationId | None:
        """The application whose Activity has the origin of a request; None for the platform's own origin."""
        return None if self.activities is None else self.activities.origins.application_of(scope)

    # Starlette and the pages are imported with the first page: they take 4% of the time to start.

    def _build_site(self) -> "Site":
        from moothall.web.site import Site  # noqa: PLC0415

        return Site(self.services, trusted_proxies=self._trusts)

    def _build_documents(self) -> "Documents":
        from moothall.web.documents import Documents  # noqa: PLC0415

        gateway_url = self.gateway.settings.public_url
        examples = None if self.demo is None else example_ids(self.demo)
        return Documents(endpoints(), public_url=base_url(self.settings), gateway_url=gateway_url, examples=examples)

    def _build_client(self) -> "ClientFiles":
        from moothall.web.client_files import ClientFiles  # noqa: PLC0415

        origins = None if self.activities is None else self.activities.origins.sources()
        return ClientFiles(public_url=base_url(self.settings), activities=origins)

    def _connected_tokens(self) -> set[bytes]:
        """The hashes of the tokens of people's gateway sessions."""
        return {session.token_hash for session in self.gateway.hub.sessions.values() if not session.bot}

    async def _serve_limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve pages, files and documents, within the limits of an address."""
        try:
            self.limits.check(scope)
        except Refusal as refusal:
            await send_refusal(scope, send, refusal)
            return
        path: str = scope["path"]
        if is_page(path):
            page = self.client if opens_client(scope) else self.site
            await page(scope, receive, send)
        elif is_client(path):
            await self.client(scope, receive, send)
        elif path == MetricsPage.PATH and self._metrics_port is None:
            await self.metrics_page(scope, receive, send)
        else:
            await self._serve_files(scope, receive, send)

    async def _serve_files(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve files and documents, and take files that are put to URLs."""
        path: str = scope["path"]
        if path.startswith(Attachments.PREFIX):
            await self.attachments(scope, receive, send)
        elif path.startswith(UploadReceiver.PREFIX):
            await self.uploads(scope, receive, send)
        elif path.startswith(HarvestFiles.PREFIX):
            await self.harvests(scope, receive, send)
        elif path.startswith(ExternalMedia.PREFIX):
            await self.external(scope, receive, send)
        elif path.startswith(ImageFiles.PREFIXES):
            await self.files(scope, receive, send)
        elif path.startswith(ExpressionFiles.PREFIXES):
            await self.expressions(scope, receive, send)
        else:
            await self.documents(scope, receive, send)

    async def _serve_metrics(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the metrics at their own address, and nothing else there."""
        try:
            self.limits.check(scope)
            if scope["path"] != MetricsPage.PATH:
                raise Refusal(errors.NOT_FOUND)
        except Refusal as refusal:
            await send_refusal(scope, send, refusal)
            return
        await self.metrics_page(scope, receive, send)

    def _network_of(self, scope: Scope) -> str:
        """The network of a connection, as rate limits count it; "" for the loopback interface."""
        address = client_address(scope, self._trusts)
        return "" if is_loopback(address) else network_of(address)

    def _lane_of(self, scope: Scope) -> Hashable:
        """The lane in which a request waits for its turn: its account's if that is known by now, else its network's."""
        return self.pipeline.known_account(scope) or self._network_of(scope)

    async def _refresh_job_counts(self) -> None:
        """Count the jobs of the database for `/metrics`; NaN if it does not respond within a second."""
        try:
            async with asyncio.timeout(1), self.database.read() as reader:
                self._job_counts = await count_jobs(reader, Timestamp.now())
        except (StorageError, TimeoutError):
            self._job_counts = _NO_JOB_COUNTS

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self.start()
        except (StorageError, BusUnavailable, NodeNumberTaken, ServerKeyError, OSError) as problem:
            # What an operator can mend is said in one line.
            log.error("the platform cannot start: %s", problem)  # noqa: TRY400 no traceback helps an operator
            await self._close_database()
            await send({"type": "lifespan.startup.failed", "message": ""})
            return
        except Exception as problem:
            log.exception("the platform cannot start")
            await self._close_database()
            await send({"type": "lifespan.startup.failed", "message": str(problem)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _close_database(self) -> None:
        """Close the database of a start that failed: its thread may be committing what came before the failure."""
        with suppress(StorageError, OSError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.database.close()

    def _handle_relayed(self) -> None:
        """Clear cached rows and look for jobs: another process, such as a command, has changed the database."""
        self.services.states.forget()
        self.services.resources[EncodedMembers].forget()
        if self.role is not None:
            self.role.cluster.commits.add_all()
        self.jobs.wake()

    def _stuck_beside(self) -> list[str]:
        """What does not work beside the database, while requests are answered nevertheless."""
        stuck = None if self._shared is None else self._shared.stuck()
        return [] if stuck is None else [stuck]

    def _handle_late_commit(self) -> None:
        """Let all sessions identify anew: events of a commit were published later than those of later ones."""
        self._handle_relayed()
        if self.bus.durable:
            # They are in the outbox, from which the relays of all processes publish them.
            self.services.outbox_filled.set()
        else:
            self.gateway.invalidate_all_sessions("Events were published late.")

    # Callbacks of the gateway

    async def _update_voice_state(self, request: VoiceStateRequest, node: str | None = None) -> None:
        updated = await handle_voice_update(
            self.services,
            user_id=request.user_id,
            session_id=request.session_id,
            guild_id=request.guild_id,
            channel_id=request.channel_id,
            self_mute=request.self_mute,
            self_deaf=request.self_deaf,
            self_video=request.self_video,
            node=self._voice_node if node is None else node,
        )
        if updated and request.channel_id is None:
            await remove_departed_guests(self.services, [(request.guild_id, request.user_id)])

    async def _leave_activities(self, user_id: UserId, session_id: str) -> None:
        await self.activity_sessions.end_session(user_id, session_id)

    async def _time_out_activity(self, user_id: UserId, session_id: str) -> None:
        await self.activity_sessions.time_out(user_id, session_id)

    async def _end_session(self, user_id: UserId, session_id: str) -> None:
        await self.activity_sessions.end_session(user_id, session_id)
        await remove_departed_guests(self.services, await leave_voice(self.services, user_id, session_id))

    async def _record_activity(self, user_id: UserId) -> None:
        self.services.resources[ActivityRecorder].seen_everywhere(user_id)

    async def _leave_temporary_guilds(self, user_id: UserId, _guild_ids: frozenset[GuildId]) -> None:
        await leave_if_temporary(self.services, user_id)

    # Workers

    def _join_metrics(self, pool: PayerPool) -> MetricsCollector | None:
        """Report the metrics of a worker, or collect those of the workers."""
        if isinstance(self.bus, WriterBus):
            bus = self.bus
            return MetricsCollector(bus, lambda: bus.worker_count)
        if self._is_worker:
            MetricsReporter(self.bus, self.metrics, pool)
        return None

    def _writer_calls(self) -> WriterCalls:
        """What this process does for the sessions of workers, and when a worker has ended."""
        calls = WriterCalls(
            self.bus,
            {
                VoiceCall: lambda call: self._update_voice_state(call.request, call.node),
                SessionEndCall: lambda call: self._end_session(call.user_id, call.session_id),
                OfflineCall: lambda call: self._leave_temporary_guilds(call.user_id, frozenset()),
                IdentifyCall: lambda call: self._record_activity(call.user_id),
                TokensCall: self._record_tokens,
                LeaveActivitiesCall: lambda call: leave_activities(self.services, call.user_id, call.session_id),
                CheckActivitiesCall: lambda call: leave_forbidden(self.services, call.node, call.guild_id),
            },
        )

        def handle_end(node: str) -> None:
            if self.gateway.cluster_presences is not None:
                self.gateway.cluster_presences.announce_end(node)
            calls.add(partial(self._end_sessions_of, node))

        if isinstance(self.bus, WriterBus):
            self.bus.on_leave = handle_end
        return calls

    async def _end_sessions_of(self, node: str) -> None:
        """End what the sessions of a worker took part in."""
        await remove_departed_guests(self.services, await clear_voice(self.services, node))
        await clear_activities(self.services, node)

    async def _record_tokens(self, call: TokensCall) -> None:
        for token_hash in call.hashes:
            self.usage.record(bytes.fromhex(token_hash))

    # Metrics

    def _watch_loop(self, watch: LoopWatch) -> None:
        """Report stretches without a turn of the event loop from now on."""
        watch.start()
        self.metrics.add_gauge(
            "event_loop_longest_stretch_seconds",
            "Longest time without a turn of the event loop, of those that the setting slow_turn_ms reports.",
            lambda: watch.longest,
        )

    def _add_gauges(self) -> None:
        if not self._is_worker:
            self.bus.subscribe(self._count_published)
        node = self.gateway
        self.metrics.add_gauge(
            "gateway_sessions", "Sessions, connected or waiting for a resume.", lambda: len(node.hub.sessions)
        )
        self.metrics.add_gauge("gateway_connections", "Open WebSockets.", lambda: len(node.connections))
        self.metrics.add_gauge("gateway_dropped", "Connections ended for a slow or silent peer.", lambda: node.dropped)
        self.metrics.add_gauge(
            "gateway_invalidated",
            "Sessions told to identify anew, since they may have missed an event.",
            lambda: node.invalidations.count,
        )
        self.metrics.add_gauge(
            "gateway_stalls",
            "Times that the delivery of events stood still and was started again.",
            lambda: node.delivery_watch.stalls,
        )
        timers = self.services.resources[ResponseTimers]
        self.metrics.add_gauge("interactions_waiting", "Interactions that wait for their answers.", lambda: len(timers))
        self.metrics.add_gauge(
            "jobs_waiting",
            "Jobs that are due, or will be retried after a failure.",
            lambda: self._job_counts.waiting,
        )
        self.metrics.add_gauge(
            "jobs_failed", "Jobs given up after too many failed attempts.", lambda: self._job_counts.failed
        )
        if (bus := self._shared) is not None:
            self.metrics.add_gauge("bus_connected", "Whether NATS can be reached.", lambda: int(bus.connected))
            self.metrics.add_gauge(
                "bus_dropped", "Presences and typing given up while it could not.", lambda: bus.dropped
            )
            self.metrics.add_gauge(
                "bus_unauthentic", "Messages on NATS that were not of this cluster.", lambda: bus.unauthentic
            )

    def _count_published(self, envelopes: Sequence[Envelope]) -> None:
        for envelope in envelopes:
            self.metrics.count_published(envelope.name)


def with_header(send: Send, name: bytes, value: bytes) -> Send:
    """A `send` that adds a header to every response."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (name, value)]
        await send(message)

    return sending


def _port_of(scope: Scope) -> int | None:
    """The local port of a connection."""
    server = scope.get("server")
    return None if server is None else server[1]


def _is_no_repetition(record: logging.LogRecord) -> bool:
    """Whether a line of uvicorn says more than that the application did not start: the application has said why."""
    return record.msg != "Application startup failed. Exiting."


def http_config(app: Any, *, shutdown_seconds: int, **address: Any) -> uvicorn.Config:
    """How uvicorn serves an ASGI application here: our HTTP bounds, the gateway's WebSockets, no log of its own."""
    logging.getLogger("uvicorn.error").addFilter(_is_no_repetition)
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=BoundedHttp,
        ws=GatewayWebSocket,
        ws_max_size=65_536,
        ws_per_message_deflate=False,
        ws_ping_interval=None,
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=shutdown_seconds,
        **address,
    )


class Server(uvicorn.Server):
    """uvicorn's server. It prints a greeting once it is ready, and closes gateway connections with a resumable code."""

    def __init__(self, config: uvicorn.Config, app: App) -> None:
        super().__init__(config)
        self._app = app

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start accepting connections and print the greeting on standard output."""
        await super().startup(sockets)
        if self.started:
            if self._app.settings.metrics_listen is not None:
                log.info("metrics are at http://%s%s", self._app.settings.metrics_listen, MetricsPage.PATH)
            print(self._app.greeting(), flush=True)  # noqa: T201 for the operator, not for the log

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down gracefully, with exit code 0; at a second SIGINT immediately."""
        del frame  # unlike uvicorn's own handler, this does not raise the signal again at the end
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        """Stop accepting connections, close those of the gateway with a resumable code, and finish running requests."""
        for server in self.servers:
            server.close()
        if self._app.activities is not None:
            self._app.activities.end_event_streams()
        await self._app.gateway.close()
        await super().shutdown(sockets)


class RoleServer(Server):
    """The server of one process of several on this machine. It reports its greeting once it is ready.

    It stops at SIGTERM. SIGINT is for the supervisor.
    """

    def __init__(self, config: uvicorn.Config, app: App, role: ClusterRole, report: Callable[[str], None]) -> None:
        super().__init__(config, app)
        self._role = role
        self._handover = Handover(role.cluster.handovers, role.number)
        self._accepting: set[asyncio.Task[None]] = set()
        if not role.writes:
            # uvicorn calls it like a class.
            config.http = cast("type[asyncio.Protocol]", partial(WorkerHttp, handover=self._handover))
        self._report = report

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start accepting connections, in the process that writes those of workers too."""
        await uvicorn.Server.startup(self, sockets)
        loop = asyncio.get_running_loop()
        if self._role.writes:
            self.servers.append(
                await loop.create_unix_server(
                    self._make_protocol,
                    sock=self._role.cluster.requests,
                )
            )
            if self._app.settings.metrics_listen is not None:
                log.info("metrics are at http://%s%s", self._app.settings.metrics_listen, MetricsPage.PATH)
        else:
            loop.add_reader(self._handover.receiving, self._accept_passed_on)
        self._report(self._app.greeting())

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down gracefully at SIGTERM."""
        if sig == signal.SIGTERM:
            super().handle_exit(sig, frame)

    def _accept_passed_on(self) -> None:
        task = asyncio.get_running_loop().create_task(accept_passed_on(self._handover, self._make_protocol))
        self._accepting.add(task)
        task.add_done_callback(self._accepting.discard)

    def _make_protocol(self) -> asyncio.Protocol:
        make: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        return make(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)


def bind(host: str, port: int, *, shared: bool = False) -> list[socket.socket]:
    """Bind sockets at all addresses of a host, with one port; 0 is any free port. Raises OSError.

    Several processes may bind `shared` ones; each connection then reaches one of those that listen.
    """
    sockets: list[socket.socket] = []
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            bound.bind((address[0], port, *address[2:]))
        except OSError as error:
            for unused in (*sockets, bound):
                unused.close()
            raise OSError(f"cannot listen at {address[0]} port {port}: {error.strerror}") from error
        port = bound.getsockname()[1]
        sockets.append(bound)
    return sockets


def bind_metrics(settings: Settings) -> tuple[Settings, list[socket.socket]]:
    """Bind the address of the metrics, if they have one; the settings with its port. Raises OSError."""
    if settings.metrics_address is None:
        return settings, []
    host = settings.metrics_address[0]
    sockets = bind(*settings.metrics_address)
    shown = f"[{host}]" if ":" in host else host
    return structs.replace(settings, metrics_listen=f"{shown}:{sockets[0].getsockname()[1]}"), sockets


def _end_with(lifeline: int) -> None:
    """End this process at once when the supervisor has ended, whose end of the pipe closes with it.

    It was killed: a server that is started again must find the port and the database free. What was acknowledged is
    on the disk.
    """
    while os.read(lifeline, 1):
        pass
    os._exit(1)


def serve_role(
    settings: Settings, role: ClusterRole, metrics: list[socket.socket], report: Callable[[str], None], *, lifeline: int
) -> int:
    """Run one of several processes of this machine; returns its exit status. Raises OSError.

    `report` is called with the greeting once it serves. The process ends when `lifeline`, a descriptor, is closed.
    """
    threading.Thread(target=_end_with, args=(lifeline,), name="moothall-lifeline", daemon=True).start()
    app = App(settings, role=role)
    config = http_config(
        RelayedRequests(app) if role.writes else app,
        shutdown_seconds=settings.shutdown_seconds,
        host=settings.host,
        port=settings.port,
        **({"timeout_keep_alive": IDLE_SECONDS} if role.writes else {}),
    )
    server = RoleServer(config, app, role, report)
    server.run(metrics if role.writes else bind(settings.host, settings.port, shared=True))
    return 0 if server.started else 3


def serve(settings: Settings) -> None:
    """Run the platform until SIGINT or SIGTERM.

    Exits with status 3 if it cannot start. Raises OSError if the port is in use, and if another server uses the same
    SQLite file.
    """
    sockets = bind(settings.host, settings.port)
    settings, metrics = bind_metrics(structs.replace(settings, port=sockets[0].getsockname()[1]))
    sockets += metrics
    app = App(settings)
    config = http_config(app, shutdown_seconds=settings.shutdown_seconds, host=settings.host, port=settings.port)
    server = Server(config, app)
    with nullcontext() if settings.database_path is None else serving_alone(settings.database_path):
        server.run(sockets)
    if not server.started:
        raise SystemExit(3)
