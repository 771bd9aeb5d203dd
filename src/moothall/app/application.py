"""The composition root: builds every service of the platform, passes it to what uses it, starts and stops it."""

import asyncio
import logging
import sys
from contextlib import suppress
from functools import lru_cache, partial
from typing import Final

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 both register endpoints
from moothall import __version__
from moothall.api.endpoint import endpoints
from moothall.api.jobs import JobRunner
from moothall.api.outbox import OutboxRelay
from moothall.api.pipeline import Pipeline
from moothall.api.request.http_request import client_network
from moothall.api.router import Router
from moothall.app.cluster import ClusterRole
from moothall.app.cluster_bus import cluster_bus, everywhere, gateway_settings, id_number, shared_bus
from moothall.app.gauges import (
    JobGauges,
    add_gateway_gauges,
    add_nats_gauges,
    add_voice_gauges,
    collect_from_workers,
    count_published,
    figures_over_time,
    watch_loop,
)
from moothall.app.routes import Routes, address_limits
from moothall.app.server_start import check_server_key, continue_ids, renew_setup_link
from moothall.app.services import (
    base_url,
    build_budgets,
    build_services,
    close_services,
    server_key,
)
from moothall.app.session_effects import SessionEffects
from moothall.app.voice_process import VoiceSocket
from moothall.app.voice_states import VoiceStates
from moothall.authority.guild_states import GuildStates
from moothall.bus import Bus, BusUnavailable
from moothall.bus.local import LocalBus
from moothall.demo.community import LoadedCommunity, ensure_community, tokens_text
from moothall.demo.output import as_text
from moothall.demo.record import DemoRecord
from moothall.demo.seeding import ensure_demo, store_base_url
from moothall.gateway.activity_sessions import ActivitySessions
from moothall.gateway.cluster_members import ClusterMembers
from moothall.gateway.node import GatewayNode
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.gateway.writer_calls import (
    ConnectedTokens,
    UsedTokens,
    worker_callbacks,
)
from moothall.logs import json_line
from moothall.objects.ids import GuildId
from moothall.resources import load_endpoints
from moothall.resources.interaction.response_timers import ResponseTimers
from moothall.resources.mail.sender import MailSender
from moothall.resources.member.encoded import EncodedMembers
from moothall.resources.message.attachment.sweeper import FileSweeper
from moothall.resources.message.preview_worker import PreviewWorker
from moothall.resources.message.search.indexing import Indexer
from moothall.resources.push.sender import PushSender
from moothall.resources.retention.eraser import Eraser
from moothall.resources.server_setting.running import RunningSettings
from moothall.resources.user.auth_session.sweeper import SessionSweeper
from moothall.resources.user.auth_session.usage import TokenUseRecorder
from moothall.resources.webhook_event.sender import WebhookEventSender
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.budgets import SERVER
from moothall.runtime.collector import IdleCollector
from moothall.runtime.loop_watch import LoopWatch
from moothall.runtime.metrics import Metrics
from moothall.runtime.secrets import ServerKeyError, hash_token
from moothall.server.health import HealthPage
from moothall.server.metrics_page import MetricsPage
from moothall.server.writer_relay import WriterRelay
from moothall.settings import Settings
from moothall.storage.database import StorageError
from moothall.storage.engines import database_at, replica_at
from moothall.storage.nodes import NodeNumberTaken, new_name

log = logging.getLogger("moothall")

_CLOSE_SECONDS: Final = 5.0
"""Maximum seconds for closing the database after a failed start."""


class App:
    """The whole platform as one ASGI application.

    `start` opens the database and the bus, `stop` closes them; the lifespan protocol calls both. `local_bus` carries
    the events of a single process, which a test server listens to. `role` is that of this process among several of one
    machine; a worker answers reads and holds gateway sessions, and passes on everything else.
    """

    demo: DemoRecord | None = None
    """The demo community, once the server has started; None without one."""
    setup_url: str | None = None
    """The link that makes the first operator; None if there is one when the server starts."""
    loaded: LoadedCommunity | None = None
    """The community of the setting `fixture`, if this start has made it."""
    _loop_watch: LoopWatch | None = None
    _collector: IdleCollector | None = None
    voice: VoiceStates | None = None
    """Who is in voice; None in a worker, and where no sound is carried."""

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
        self._shared = None if settings.nats_url is None else shared_bus(settings, self.database, name, key)
        # A single process uses a constant name, by which the next one finds the voice connections of this one.
        self._voice_node = name if self._shared is not None or self._is_worker else ""
        self.bus: Bus = cluster_bus(role, name) or self._shared or local_bus or LocalBus()
        self.usage = TokenUseRecorder(self.database)
        self.used_tokens = UsedTokens(self.bus)
        effects = SessionEffects(self.usage, node=self._voice_node)
        states = GuildStates(self.database)
        self.gateway = GatewayNode(
            gateway_settings(settings, worker=0 if role is None else role.number),
            self.bus,
            DatabaseSource(self.database, states),
            worker_callbacks(self.bus, name, self.used_tokens, effects.leave_activities, effects.time_out_activity)
            if self._is_worker
            else effects.callbacks(),
            self.metrics,
            name=name,
            network_of=partial(client_network, trusted=self._trusts),
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
            has_listeners=self._has_listeners if role is None else everywhere,
            count_unreceived=self.metrics.count_published,
            record_token_use=self.used_tokens.record_actor if self._is_worker else self.usage.record_actor,
            windows=None if role is None else role.windows,
            budgets=budgets,
        )
        self.services.resources.add(self.gateway)
        # Workers reach the socket of the process that writes.
        self._voice_socket = None
        if settings.carries_voice:
            self._voice_socket = VoiceSocket() if role is None else role.cluster.voice
            if not self._is_worker:
                self.voice = VoiceStates(self.services, self.bus, settings, self._voice_socket)
        self.activity_sessions = ActivitySessions(
            self.services, self.gateway, self.bus, self._voice_node, writes_elsewhere=self._is_worker
        )
        self.connected_tokens = ConnectedTokens(self.used_tokens, self._connected_tokens)
        effects.connect(self.services, self.activity_sessions, self.voice)
        self.writer_calls = effects.writer_calls(self.bus, self.gateway) if role is not None and role.writes else None
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
        self.sweeper = FileSweeper(self.services)
        self.session_sweeper = SessionSweeper(self.services, self.usage, self._connected_tokens)
        self.eraser = Eraser(self.services)
        self._build_routes(WriterRelay(role.cluster.requests_path) if role is not None and self._is_worker else None)

    def _build_routes(self, writer: WriterRelay | None) -> None:
        """Build the metrics, and what answers connections; `writer` passes requests on to the process that writes."""
        limits = address_limits(self.settings, self.services.limiter, self._trusts)
        jobs, pool = JobGauges(self.database), self.services.pools.drawings.for_payer(SERVER)
        self._writer = writer
        self.routes = Routes(
            self.settings,
            self.services,
            self.gateway,
            pipeline=self.pipeline,
            health_page=self.health_page,
            metrics_page=MetricsPage(
                self.metrics,
                limits,
                token=self.settings.metrics_token,
                apart=self.settings.metrics_address is not None,
                refresh=jobs.refresh,
                pool=pool,
                collector=collect_from_workers(self.bus, self.metrics, pool, is_worker=self._is_worker),
            ),
            limits=limits,
            writer=writer,
            voice_socket=self._voice_socket,
            trusts=self._trusts,
            find_demo=lambda: self.demo,
        )
        jobs.add_to(self.metrics)
        add_gateway_gauges(self.metrics, self.gateway)
        timers = self.services.resources[ResponseTimers]
        self.metrics.add_gauge("interactions_waiting", "Interactions that wait for their answers.", lambda: len(timers))
        if self.voice is not None:
            add_voice_gauges(self.metrics, self.voice)
        if self._shared is not None:
            add_nats_gauges(self.metrics, self._shared)
        if not self._is_worker:
            count_published(self.bus, self.metrics)
        self.figures = figures_over_time(self.services, self.bus, self.metrics, is_worker=self._is_worker)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, or the lifespan of the application."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:
            await self.routes(scope, receive, send)

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
            self.services.resources[RunningSettings].start()
            self.connected_tokens.start()
            self.figures.start()
        else:
            await self._start_writing()
        if self._loop_watch is not None:
            watch_loop(self._loop_watch, self.metrics)
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
        await self.services.resources[RunningSettings].load()
        self.services.resources[RunningSettings].start()
        self.setup_url = await renew_setup_link(self.services, logged=self.settings.log_format == "json")
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
        self.eraser.start()
        self.figures.start()
        self.routes.files.start()

    async def stop(self) -> None:
        """Stop the background tasks, wait for commits under way, and close the database and the bus."""
        if self._loop_watch is not None:
            self._loop_watch.stop()
        if self._collector is not None:
            await self._collector.stop()
        await self.jobs.stop()
        await self.services.resources[RunningSettings].stop()
        await self.services.resources[WebhookEventSender].stop()
        await self.services.resources[MailSender].stop()
        await self.services.resources[PreviewWorker].stop()
        await self.services.resources[PushSender].stop()
        await self.indexer.stop()
        await self.sweeper.stop()
        await self.session_sweeper.stop()
        await self.eraser.stop()
        await self.figures.stop()
        await self.routes.files.stop()
        await self.gateway.close()
        if self.writer_calls is not None:
            await self.writer_calls.stop()
        await self.connected_tokens.stop()
        self.activity_sessions.close()
        if self.voice is not None:
            await self.voice.stop()
        if self.routes.activities is not None:
            await self.routes.activities.close()
        await self.relay.stop()
        await close_services(self.services)
        await self.usage.close()
        await self.used_tokens.close()
        if self._writer is not None:
            self._writer.close()
        await self.cluster_members.leave()
        await self.database.settled()
        await self.database.close()
        self.routes.files.close()
        self.gateway.frames.close()

    def greeting(self) -> str:
        """The text on standard output once the server is ready: its version and URL, and the logins it created.

        Where logs are JSON, the first line is as well, and the link for the first operator is in the log.
        """
        url = base_url(self.settings)
        is_json = self.settings.log_format == "json"
        paragraphs = [f"Moothall {__version__} serves at {url}"]
        if is_json:
            paragraphs = [json_line(log.name, paragraphs[0], url=url, version=__version__)]
        if self.loaded is not None:
            paragraphs.append(tokens_text(self.loaded))
        elif self.demo is not None:
            paragraphs.append(as_text(self.demo, url))
        if self.setup_url is not None and not is_json:
            paragraphs.append(f"It has no operator yet. This link makes the first one, once:\n  {self.setup_url}")
        return "\n\n".join(paragraphs)

    def _has_listeners(self, guild_id: GuildId) -> bool:
        """Whether anyone hears the events of a guild: a session, or the voice process."""
        return guild_id in self.gateway.hub.views or (self.voice is not None and guild_id in self.voice)

    def _connected_tokens(self) -> set[bytes]:
        """The hashes of the tokens of people's gateway sessions."""
        return {session.token_hash for session in self.gateway.hub.sessions.values() if not session.bot}

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
