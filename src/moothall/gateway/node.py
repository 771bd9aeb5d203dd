"""A gateway node: all connections and sessions of this process (ASGI websocket scopes)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import parse_qs, urlsplit

from msgspec import UNSET, Raw, structs

from moothall.bus import Audience, Bus, Envelope
from moothall.gateway.account_bounds import AccountBounds
from moothall.gateway.audience.guild_view import GuildView
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.delivery.initial_guilds import InitialGuilds
from moothall.gateway.delivery.invalidation import Invalidations
from moothall.gateway.delivery.passive_updates import PassiveUpdates
from moothall.gateway.delivery.visibility import activity_frames
from moothall.gateway.delivery.watch import DeliveryWatch
from moothall.gateway.member_lists.chunks import send_member_chunks
from moothall.gateway.member_lists.lists import MemberLists
from moothall.gateway.presence.cluster import ClusterPresences
from moothall.gateway.presence.local import Presences
from moothall.gateway.protocol.commands import (
    GuildSubscription,
    IdentifyCommand,
    RequestChannelInfoCommand,
    RequestGuildMembersCommand,
    RequestSoundboardSoundsCommand,
    ResumeCommand,
    UpdatePresenceCommand,
    UpdateVoiceStateCommand,
)
from moothall.gateway.protocol.frame_writer import Send
from moothall.gateway.protocol.frames import ENCODINGS, TEXT, Encoding, Frame
from moothall.gateway.protocol.identify import (
    IdentifyLimits,
    read_client,
    read_intents,
    read_large_threshold,
    read_shard,
    read_system,
)
from moothall.gateway.protocol.opcodes import CloseCode, CloseConnection
from moothall.gateway.sessions.callbacks import GatewayCallbacks, VoiceStateRequest
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.control_messages import GuildOpen, SessionsClose, SessionsInvalidate, VoiceServer
from moothall.gateway.sessions.presence_events import friend_updates
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.subscriptions import PendingSubscriptions, read_subscription, threads_of
from moothall.gateway.sessions.unidentified import UnidentifiedConnections
from moothall.gateway.sessions.user_presence import OFFLINE, SessionPresence
from moothall.gateway.settings import GatewaySettings, Metrics, NoMetrics
from moothall.gateway.snapshot.account_state import AccountState
from moothall.gateway.snapshot.ready import (
    Identity,
    InitialGuild,
    UnavailableGuild,
    has_supplement,
    person_ready,
    ready,
    ready_supplemental,
    sessions_replace,
    trace,
)
from moothall.gateway.snapshot.source import GatewaySource
from moothall.gateway.snapshot.threads import thread_member_list
from moothall.objects.clock import stopwatch
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.presence import Presence, Status
from moothall.objects.relationship import RelationshipType
from moothall.objects.wire import decoder, encode
from moothall.runtime.asgi import Receive, Scope
from moothall.runtime.budgets import Budgets, Payer
from moothall.runtime.cpu_time import Measured
from moothall.runtime.lanes import enter_lane
from moothall.runtime.turns import room_in_turn, yield_turn
from moothall.runtime.websocket_frames import frame_budget

_log = logging.getLogger(__name__)

_VERSIONS: Final = frozenset({"", "9", "10"})
_RESUMABLE: Final = CloseCode.UNKNOWN_ERROR
"""A close code after which clients resume."""
_ENDED_ELSEWHERE: Final = "Another connection could not resume the session."
_REPLAYED_AT_ONCE: Final = 32
"""Missed dispatches that are sent without a break for other tasks."""


class _Lane:
    """The lane in which the messages of a connection wait for their turn: its network's, and its account's in the end.

    Tasks and timers that a message starts refer to it, so it does not refer to the connection.
    """

    __slots__ = ("key",)

    def __init__(self, key: Hashable) -> None:
        self.key = key

    def __call__(self) -> Hashable:
        return self.key


class GatewayNode:
    """Serves WebSockets: call `serve` with every websocket scope, `start` before and `close` after.

    `presences` implements the API's `PresenceSource`. `name` identifies this node on a bus that several processes
    share. `network_of` returns the network of a scope's client, "" for loopback. Commands are charged to `budgets`.
    """

    def __init__(
        self,
        settings: GatewaySettings,
        bus: Bus,
        source: GatewaySource,
        callbacks: GatewayCallbacks | None = None,
        metrics: Metrics | None = None,
        *,
        name: str = "",
        network_of: Callable[[Scope], str] = lambda _scope: "",
        budgets: Budgets | None = None,
    ) -> None:
        self.settings = settings
        self.unidentified = UnidentifiedConnections(settings.max_unidentified, settings.max_unidentified_per_network)
        self.callbacks = callbacks or GatewayCallbacks()
        self.dropped = 0
        """Connections that the server closed because their client did not read or sent no heartbeat."""
        self.connections: set[Connection] = set()
        self.limits = IdentifyLimits(settings)
        self.hub = Hub(
            settings,
            source,
            metrics or NoMetrics(),
            on_control=self._handle_control,
            on_join=self._handle_join,
            on_friend=self._send_presence_of_friend,
            on_guild_event=self._handle_guild_event,
            on_leave=self._end_subscription,
            on_broken=self._invalidate,
            on_removed=self._handle_removed,
            online=self._online_in_guild,
        )
        self.invalidations = Invalidations(self._invalidate_session)
        self.delivery_watch = DeliveryWatch(self.hub)
        self.bounds = AccountBounds(
            settings, self.hub, self.limits, budgets or Budgets.unlimited(), end=self._drop_session
        )
        self.frames = self.bounds.frames
        self._source = source
        self._bus = bus
        self._name = name
        self._detached: set[Session] = set()
        """Sessions without a connection."""
        self._sweeper: asyncio.Task[None] | None = None
        self._sweep_seconds = min(5.0, settings.heartbeat_ms / 4000)
        """Seconds from one round of `sweep` to the next."""
        self._closing = False
        self._network_of = network_of
        bus.subscribe(self.hub.receive, on_gap=self._handle_gap)
        self.cluster_presences = ClusterPresences(self.hub, bus, name, self._announce_sessions) if bus.shared else None
        self.presences = self.cluster_presences or Presences(self.hub, bus.publish)
        self.member_lists = MemberLists(self.hub, source, self.presences)
        self.passive_updates = PassiveUpdates(self.hub, source)

    async def start(self) -> None:
        """Start closing silent connections and expired sessions."""
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().create_task(self._sweep_periodically())
        if self.cluster_presences is not None:
            self.cluster_presences.request()

    async def close(self) -> None:
        """Send opcode 7 to every client and close its connection with a resumable code."""
        self._closing = True
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for connection in list(self.connections):
            with suppress(Exception):  # one client's failure must not affect the others
                connection.send_reconnect()
                connection.close(_RESUMABLE, "The server is going away.")
        self.invalidations.close()
        self.hub.close()
        if self.cluster_presences is not None:
            self.cluster_presences.leave()
        await asyncio.sleep(0)

    def invalidate_all_sessions(self, reason: str) -> None:
        """Let the clients of all nodes identify anew, since events may be lost that cannot be named.

        They are told at a pace at which the nodes can serve them. Until then sessions go on, but cannot be resumed.
        `reason` is in the log and in the close frame, in at most 100 letters.
        """
        self._invalidate_here(reason)
        if self._bus.shared:
            message = SessionsInvalidate(self._name, reason)
            envelope = Envelope(name="SESSIONS_INVALIDATE", data=Raw(encode(message)), audience=Audience.NODE)
            self._bus.publish([envelope])

    def _invalidate_here(self, reason: str) -> None:
        sessions = list(self.hub.sessions.values())
        if sessions:
            _log.warning("%d sessions of this process identify anew: %s", len(sessions), reason)
        self._invalidate(sessions, reason)

    def _handle_gap(self) -> None:
        """Events for this node are lost."""
        self._invalidate_here("Events were lost.")
        self.hub.drop_views()
        if self.cluster_presences is not None:
            self.cluster_presences.request()
            # What is lost may be what this process published.
            self.cluster_presences.publish_all()

    def _invalidate(self, sessions: Collection[Session], reason: str) -> None:
        self.invalidations.add(sessions, reason)

    async def _invalidate_session(self, session: Session, reason: str) -> None:
        """Let the client of a session identify anew, and end the session."""
        connection = session.connection
        if isinstance(connection, Connection):
            connection.send_invalid_session(resumable=False)
            connection.close(_RESUMABLE, reason)
        await self.end_session(session)

    # Connections

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one WebSocket from its handshake to its end (ASGI)."""
        await receive()
        network = self._network_of(scope)
        if not self.unidentified.try_add(network):
            await send({"type": "websocket.close"})
            return
        try:
            await send({"type": "websocket.accept"})
            connection, error = self._open(scope, send, network)
        except BaseException:
            # The client has gone already.
            self.unidentified.remove(network)
            raise
        self.connections.add(connection)
        code = 1006
        try:
            if error is None and not self._closing:
                connection.send_hello()
            else:
                closing = error or CloseConnection(_RESUMABLE, "The server is going away.")
                connection.close(closing.code, closing.reason)
            code = await self._handle_messages(connection, receive)
        finally:
            self.connections.discard(connection)
            closed_by_client = not connection.send_queue.closed
            connection.send_queue.closed = True
            self._remove_unidentified(connection)
            try:
                await self._detach(connection, end_session=closed_by_client and code in {1000, 1001})
            finally:
                connection.end()

    def _open(self, scope: Scope, send: Send, network: str) -> tuple[Connection, CloseConnection | None]:
        """Build the connection of an accepted WebSocket, with the error of its query if there is one."""
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        headers = {name: value.decode("latin-1") for name, value in scope.get("headers", ())}
        url = self.settings.resume_url_for(headers.get(b"host"), headers.get(b"x-forwarded-proto"))
        budget = frame_budget(scope)
        # The server refers to the scope as long as the WebSocket is open.
        scope.clear()
        connection = Connection(self, send, _encoding(query) or TEXT, network, url, version=_first(query, "v"))
        if budget is not None:
            budget.close_code = CloseCode.RATE_LIMITED
            connection.frame_budget = budget
        return connection, _query_error(query)

    def _remove_unidentified(self, connection: Connection) -> None:
        """Count a connection as unidentified no longer. Does nothing the second time."""
        if connection.network is not None:
            self.unidentified.remove(connection.network)
            connection.network = None
            if connection.session is not None and connection.frame_budget is not None:
                connection.frame_budget.identify()

    async def _handle_messages(self, connection: Connection, receive: Receive) -> int:
        """Handle the client's messages until it disconnects; returns its close code."""
        lane = _Lane(connection.network)
        enter_lane(lane)
        while True:
            event = await receive()
            if event["type"] == "websocket.disconnect":
                return int(event.get("code") or 1005)
            if connection.send_queue.closed:
                continue
            message = event.get("text")
            if connection.payer is not None:
                lane.key = connection.payer.lane
                await self.bounds.wait_for_budget(connection.payer)
            await room_in_turn()
            handling = Measured(connection.handle(message if message is not None else event.get("bytes") or b""))
            try:
                await handling
            except CloseConnection as closing:
                connection.close(closing.code, closing.reason)
                # A client that failed to authenticate does not own the session.
                if closing.code is CloseCode.AUTHENTICATION_FAILED and connection.session is not None:
                    await self.end_session(connection.session)
            except Exception:  # noqa: BLE001 - one client's failure must not affect the others
                _log.exception("a gateway command failed")
                connection.close(CloseCode.UNKNOWN_ERROR, "Unknown error.")
            if connection.payer is not None:
                self.bounds.charge(connection.payer, handling.seconds)

    async def _detach(self, connection: Connection, *, end_session: bool) -> None:
        session = connection.session
        if session is None or session.connection is not connection:
            return
        session.connection = None
        if end_session or not session.resumable:
            await self.end_session(session)
        elif session.id in self.hub.sessions:
            session.expires_at = asyncio.get_running_loop().time() + self.settings.resume_seconds
            self._detached.add(session)

    async def end_session(self, session: Session) -> None:
        """End a session, which cannot be resumed then. Does nothing the second time."""
        self._detached.discard(session)
        if session.id not in self.hub.sessions:
            return
        # Removing the session clears its guilds, to which the presence is announced.
        guild_ids = frozenset(session.guild_ids)
        last = self.hub.remove(session)
        try:
            self.presences.update(session.user_id, guild_ids)
            if not session.bot:
                self._announce_sessions(session.user_id)
        except Exception:  # noqa: BLE001 - logged
            _log.exception("the end of a session of user %s could not be announced", session.user_id)
        if self.callbacks.on_session_end is not None:
            await _log_errors(self.callbacks.on_session_end(session.user_id, session.id))
        if last and self.callbacks.on_offline is not None and not self.presences.is_connected(session.user_id):
            await _log_errors(self.callbacks.on_offline(session.user_id, guild_ids))

    async def _drop_session(self, session: Session) -> None:
        """End a session and its connection, which costs too much."""
        connection = session.connection
        await self.end_session(session)
        if isinstance(connection, Connection):
            self.dropped += 1
            connection.send_queue.abort()

    def handle_overflow(self, connection: Connection) -> None:
        """A connection was aborted because its client does not read; its session can be resumed."""
        self.dropped += 1
        session = connection.session
        _log.info("user %s reads too slowly and was disconnected", session.user_id if session else 0)

    async def sweep(self, now: float) -> None:
        """Close the connections that are silent, and end the sessions that have expired, by the event loop's time.

        It also notices a delivery of events that stands still.

        Sessions without a connection for a heartbeat interval leave their Activity, although they can be resumed.
        """
        self.delivery_watch.check(now)
        interval = self.settings.heartbeat_ms / 1000
        lost: list[Session] = []
        for connection in list(self.connections):
            silence = now - connection.last_heartbeat_at
            requested_at = connection.heartbeat_requested_at
            if connection.session is None and now - connection.opened_at > self.settings.identify_seconds:
                connection.close(CloseCode.SESSION_TIMED_OUT, "Session timed out.")
            elif requested_at and now - requested_at > interval / 4:
                # The client had time to respond to the request, even if the event loop itself was late.
                self.dropped += 1
                connection.close(CloseCode.SESSION_TIMED_OUT, "No heartbeat.")
                if connection.session is not None:
                    lost.append(connection.session)
            elif silence > 1.25 * interval:
                connection.request_heartbeat()
        for session in [session for session in self._detached if session.expires_at <= now]:
            try:
                await self.end_session(session)
            except Exception:  # noqa: BLE001 - logged
                _log.exception("an expired session of user %s could not be ended", session.user_id)
        await self.bounds.enforce_bytes()
        # Also those that are due before the next round: no participant stays for longer than the interval.
        lost_before = now - interval + self._sweep_seconds
        lost += [each for each in self._detached if each.expires_at - self.settings.resume_seconds <= lost_before]
        await self._leave_activities(lost)

    async def _leave_activities(self, sessions: list[Session]) -> None:
        callback = self.callbacks.on_activity_timeout
        for session in sessions:
            if session.embedded_activity is None or callback is None or _is_connected(session):
                continue  # a session may be resumed while others leave
            await _log_errors(callback(session.user_id, session.id))

    async def _sweep_periodically(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._sweep_seconds)
            try:
                await self.sweep(loop.time())
            except Exception:  # noqa: BLE001 - logged
                _log.exception("silent connections and expired sessions could not be ended")

    # Commands

    async def identify(self, connection: Connection, command: IdentifyCommand) -> None:
        """Opcode 2: start a session, send READY and GUILD_CREATE of each guild. Raises CloseConnection."""
        started = stopwatch()
        identity = await self._authenticate(command.token)
        intents = read_intents(
            command, bot=identity.bot, application_flags=identity.application_flags, version=connection.version
        )
        shard = read_shard(command)
        payer = connection.payer = self._payer(connection, identity)
        if not await self.bounds.admit(identity, shard, payer):
            connection.send_invalid_session(resumable=False)
            return
        session = Session(
            user_id=identity.user_id,
            bot=identity.bot,
            application_id=identity.application_id,
            token_hash=identity.token_hash,
            intents=intents,
            shard=shard,
            large_threshold=read_large_threshold(command, bot=identity.bot),
            client=read_client(command, bot=identity.bot),
            system=read_system(command),
            presence=SessionPresence.from_identify(command.presence, bot=identity.bot),
            capabilities=0 if identity.bot else command.capabilities or 0,
        )
        # Added before the guilds are read, so that a guild joined meanwhile is not missed.
        self.hub.add(session)
        try:
            async with self.bounds.starts.slot(session.user_id):
                await self._start_session(connection, session, identity, command, started)
        except BaseException:
            # The client has not all guilds: it must not resume.
            if session.connection is None:
                guild_ids = frozenset(session.guild_ids)
                self.hub.remove(session)
                self.presences.update(session.user_id, guild_ids)
            else:
                connection.send_invalid_session(resumable=False)
                await self.end_session(session)
            raise
        if self.callbacks.on_identify is not None:
            await _log_errors(self.callbacks.on_identify(session.user_id))

    async def _start_session(
        self, connection: Connection, session: Session, identity: Identity, command: IdentifyCommand, started: float
    ) -> None:
        """Send a new session READY, its guilds and what else its client begins with.

        If its connection is lost before that is done, the session ends.
        """
        if not session.bot:
            self.hub.friends.start(session.user_id)
        initial = InitialGuilds(self.hub, session)
        try:
            await self._check_login(command.token)
            greeting, guild_ids = await self._greet(session, identity, command, connection, initial, started)
            if not session.bot:
                session.pending_subscriptions = PendingSubscriptions(guild_ids)
            self._attach(connection, session, greeting)
            self.presences.update(session.user_id)
            await initial.finish()
        finally:
            initial.stop()
        await self._send_initial_guilds(connection, session, guild_ids)
        session.pending_subscriptions = None
        for instance in [] if session.bot else await self._source.direct_activities(session.user_id):
            for frame in activity_frames(instance):
                self.hub.send_frame(session, frame)
        if connection.send_queue.closed:
            await self.end_session(session)
        elif session.id not in self.hub.sessions:
            # It was ended meanwhile, perhaps when it had no connection yet that could be told.
            connection.send_invalid_session(resumable=False)
            connection.close(_RESUMABLE, "The session has ended.")
        else:
            session.complete = True

    async def _send_initial_guilds(
        self, connection: Connection, session: Session, guild_ids: Sequence[GuildId]
    ) -> None:
        """Send GUILD_CREATE of each guild that READY named only, as long as there is a client to send it to."""
        for guild_id in guild_ids:
            if connection.send_queue.closed or session.id not in self.hub.sessions:
                break
            await self.hub.join(session, guild_id, joined=False)
            # Each guild takes milliseconds: other tasks run in between.
            await yield_turn()
            if not connection.send_queue.has_room():
                await connection.send_queue.drain()

    async def _greet(
        self,
        session: Session,
        identity: Identity,
        command: IdentifyCommand,
        connection: Connection,
        initial: InitialGuilds,
        started: float,
    ) -> tuple[list[Frame], list[GuildId]]:
        """READY, for a person's client that asks for it READY_SUPPLEMENTAL, and the guilds of the session.

        Raises CloseConnection for a bot with too many guilds.
        """
        url = connection.gateway_url
        user = await self._source.current_user(identity.user_id)
        guild_ids = [g for g in await self._source.guild_ids(identity.user_id) if session.in_shard(g)]
        if command.compress:
            connection.enable_payload_compression()
        if identity.bot:
            if len(guild_ids) > self.settings.guilds_per_shard:
                raise CloseConnection(CloseCode.SHARDING_REQUIRED, "Sharding required.")
            greeting = ready(session, identity, user, guild_ids, url, stopwatch() - started)
            return [Frame("READY", greeting)], guild_ids
        state = await self._source.account_state(identity.user_id, settings_proto=session.takes_settings_proto)
        friend_ids = [each.id for each in state.relationships if each.type is RelationshipType.FRIEND]
        self.hub.friends.add_all(identity.user_id, friend_ids)
        if isinstance(command.presence, dict) and command.presence.get("status") == "unknown":
            session.presence = SessionPresence(Status(state.settings.status))
        if session.reads_guilds_in_ready:
            await initial.read(guild_ids)
        frames = self._person_greeting(session, user, guild_ids, initial, state, url, started)
        for frame in frames:
            await connection.prepare(frame)
        return frames, guild_ids

    def _person_greeting(
        self,
        session: Session,
        user: bytes,
        guild_ids: list[GuildId],
        initial: InitialGuilds,
        state: AccountState,
        url: str,
        started: float,
    ) -> list[Frame]:
        presences = self.presences.online(
            each.id for each in state.relationships if each.type is RelationshipType.FRIEND
        )
        guilds: Sequence[InitialGuild] = initial.snapshots
        if not session.reads_guilds_in_ready:
            guilds = [UnavailableGuild(guild_id) for guild_id in guild_ids]
        greeting = person_ready(
            session,
            user,
            guilds,
            url,
            state,
            sessions=self.presences.sessions(session.user_id),
            overall=self.presences.overall(session.user_id),
            presences=presences,
            max_upload_bytes=self.settings.max_upload_bytes,
            seconds=stopwatch() - started,
        )
        frames = [Frame("READY", greeting)]
        if has_supplement(session.capabilities):
            frames.append(Frame("READY_SUPPLEMENTAL", ready_supplemental(session, guilds, presences)))
        return frames

    def _attach(self, connection: Connection, session: Session, greeting: list[Frame]) -> None:
        """Send a new session its first frames, then those that were dispatched to it before."""
        # READY is the first dispatch: what is being dispatched to many was before it.
        self.hub.finish_fan_out()
        early = session.take_unsent()
        if early is None:
            raise CloseConnection(_RESUMABLE, "Too many events before READY.")  # without a session to resume
        connection.session = session
        self._remove_unidentified(connection)
        session.connection = connection
        for frame in greeting:
            self.hub.send_frame(session, frame)
        for frame in early:
            self.hub.dispatch_frame((session,), frame)
        if not session.bot:
            self._announce_sessions(session.user_id, except_session=session)

    def _announce_sessions(self, user_id: UserId, *, except_session: Session | None = None) -> None:
        """Send SESSIONS_REPLACE to the sessions of a person on this node, but the one that has just received READY."""
        sessions = self.hub.sessions_by_user.get(user_id, ())
        audience = [session for session in sessions if session is not except_session and not session.bot]
        if audience:
            data = sessions_replace(self.presences.sessions(user_id), self.presences.overall(user_id))
            self.hub.dispatch(audience, "SESSIONS_REPLACE", data)

    def _send_presence_of_friend(self, user_id: UserId, friend_id: UserId) -> None:
        """Send the presence of a new friend who is online to the sessions of a user."""
        presence = self.presences.get(friend_id)
        if presence is not OFFLINE:
            self.hub.receive(friend_updates(friend_id, presence, [user_id]))

    async def _authenticate(self, token: str) -> Identity:
        scheme, _, rest = token.partition(" ")
        identity = await self._source.identity(rest.strip() if rest and scheme.lower() == "bot" else token.strip())
        if identity is None:
            raise CloseConnection(CloseCode.AUTHENTICATION_FAILED, "Authentication failed.")
        if self.callbacks.on_token_use is not None and not identity.bot:
            self.callbacks.on_token_use(identity.token_hash)
        return identity

    @staticmethod
    def _payer(connection: Connection, identity: Identity) -> Payer:
        network = connection.network or ""
        return Payer(identity.user_id, network, loopback=not network)

    async def _check_login(self, token: str) -> None:
        """Raise CloseConnection for a login that ended before its session was registered, and so without closing it.

        With a database that is read without a break, it cannot have ended meanwhile.
        """
        if not self._source.embedded:
            await self._authenticate(token)

    async def resume(self, connection: Connection, command: ResumeCommand) -> None:
        """Opcode 6: send the missed dispatches in order, then RESUMED; or opcode 9. Raises CloseConnection.

        Heartbeats are answered meanwhile. Dispatches of the time that it takes are sent in their order, before RESUMED.
        """
        started = stopwatch()
        identity = await self._authenticate(command.token)
        session = self.hub.sessions.get(command.session_id)
        # Not the user alone: a session lasts no longer than the login that started it.
        if session is None or session.token_hash != identity.token_hash or not session.resumable:
            connection.send_invalid_session(resumable=False)
            return
        # The session may have another connection: this one can be older, and its RESUME late.
        if command.seq > session.seq or command.seq < 0:
            await self._invalidate_session(session, _ENDED_ELSEWHERE)
            raise CloseConnection(CloseCode.INVALID_SEQ, "Invalid seq.")
        if session.frames_after(command.seq) is None:
            await self._invalidate_session(session, _ENDED_ELSEWHERE)
            connection.send_invalid_session(resumable=False)
            return
        previous = session.connection
        connection.payer = self._payer(connection, identity)
        self._detached.discard(session)
        connection.session = session
        self._remove_unidentified(connection)
        connection.replaying = True
        session.connection = connection
        if isinstance(previous, Connection):
            previous.close(_RESUMABLE, "The session was resumed elsewhere.")
        self.hub.run_for_sessions((session,), self._replay(connection, session, command.seq, started))

    async def _replay(self, connection: Connection, session: Session, seq: int, started: float) -> None:
        """Send the dispatches after a sequence number, no faster than the client reads, then RESUMED.

        A client that falls so far behind meanwhile that the replay buffer drops some must identify anew.
        """
        queue = connection.send_queue
        while frames := session.frames_after(seq):
            for frame in frames[:_REPLAYED_AT_ONCE]:
                if not queue.has_room(frame.size):
                    await queue.drain()
                    break
                seq += 1
                connection.replay(seq, frame)
            await yield_turn()
            if session.connection is not connection or queue.closed or session.broken:
                return
        if frames is None:
            self._invalidate((session,), "Too many events came while missed ones were sent.")
            return
        connection.replaying = False
        self.hub.send(session, "RESUMED", b'{"_trace":%b}' % trace(stopwatch() - started))

    async def update_presence(self, session: Session, command: UpdatePresenceCommand) -> None:
        """Opcode 3."""
        session.presence = SessionPresence.from_command(command, bot=session.bot)
        self.presences.update(session.user_id)
        if not session.bot:
            self._announce_sessions(session.user_id)

    async def update_voice_state(self, session: Session, command: UpdateVoiceStateCommand) -> None:
        """Opcode 4. Without a guild it is about calls in direct messages, which are not supported: ignored."""
        if self.callbacks.on_voice_state_update is None or command.guild_id is None:
            return
        if command.guild_id in session.guild_ids:
            await self.callbacks.on_voice_state_update(
                VoiceStateRequest(
                    user_id=session.user_id,
                    session_id=session.id,
                    guild_id=command.guild_id,
                    channel_id=command.channel_id,
                    self_mute=command.self_mute,
                    self_deaf=command.self_deaf,
                    self_video=command.self_video,
                )
            )

    async def request_guild_members(
        self, connection: Connection, session: Session, command: RequestGuildMembersCommand
    ) -> None:
        """Opcode 8."""
        reads = self.bounds.reads
        await send_member_chunks(
            self.hub,
            self._source,
            self.presences,
            reads,
            connection,
            session,
            command,
            list_seconds=self.settings.member_list_seconds,
        )

    def update_guild_subscriptions(self, session: Session, subscriptions: Mapping[GuildId, GuildSubscription]) -> None:
        """Opcodes 14 and 37, of people: what their session receives of guilds, and ranges of member lists."""
        if session.bot:
            return  # a list has members and presences, which bots need privileged intents for
        for guild_id, subscription in subscriptions.items():
            view = self.hub.views.get(guild_id)
            if view is not None and guild_id in session.guild_ids:
                self._subscribe(session, view, subscription)
                continue
            pending = session.pending_subscriptions
            if (view is not None and session in view.joining) or (pending is not None and pending.expects(guild_id)):
                if pending is None:
                    pending = session.pending_subscriptions = PendingSubscriptions()
                pending.add(guild_id, subscription)

    def _subscribe(self, session: Session, view: GuildView, subscription: GuildSubscription) -> None:
        before = view.interests.get(session)
        if before is not None:
            after = view.interests[session] = before.updated(subscription)
            if after.active and not before.active:
                self.passive_updates.catch_up(view, session)
            if after.threads and not before.threads:
                self.hub.run_for_sessions((session,), self._send_threads(session, view))
            for presence in self.presences.presences(view.id, after.member_ids - before.member_ids):
                data = encode(structs.replace(presence, guild_id=view.id))
                self.hub.send(session, "PRESENCE_UPDATE", data)
        thread_ids = threads_of(subscription)
        if thread_ids:
            self.hub.run_for_sessions((session,), self._send_thread_members(session, view, thread_ids))
        if isinstance(subscription.channels, dict):
            self.member_lists.subscribe(session, view.id, read_subscription(subscription.channels))

    async def _send_threads(self, session: Session, view: GuildView) -> None:
        """Send THREAD_LIST_SYNC for all channels, as the session has missed changes of threads."""
        member = view.members.get(session.user_id)
        if member is None:
            return
        visible = view.visible_channels(member)
        data = await self._source.thread_list_sync(view, member, visible, allow_empty=True)
        if data is not None and view.id in session.guild_ids:
            self.hub.send(session, "THREAD_LIST_SYNC", data)

    async def _send_thread_members(self, session: Session, view: GuildView, thread_ids: list[ChannelId]) -> None:
        """Send THREAD_MEMBER_LIST_UPDATE for those of some threads that the session's user can reach."""
        for thread_id in thread_ids:
            member = view.members.get(session.user_id)
            if member is None:
                return
            members = await self._source.thread_members(view, member, thread_id)
            if members is None or view.id not in session.guild_ids:
                continue
            user_ids = [each.user_id for each in members if each.user_id is not UNSET]
            presences = {
                user_id: self.presences.get_in_guild(view.id, user_id).to_object(user_id) for user_id in user_ids
            }
            data = thread_member_list(view.id, thread_id, members, presences)
            self.hub.send(session, "THREAD_MEMBER_LIST_UPDATE", data)

    async def request_soundboard_sounds(self, session: Session, command: RequestSoundboardSoundsCommand) -> None:
        """Opcode 31: send SOUNDBOARD_SOUNDS for each of the guilds that the session has joined."""
        for guild_id in dict.fromkeys(command.guild_ids):
            if guild_id in session.guild_ids:
                sounds = await self._source.soundboard_sounds(guild_id)
                self.hub.send(
                    session, "SOUNDBOARD_SOUNDS", b'{"guild_id":"%d","soundboard_sounds":%b}' % (guild_id, sounds)
                )

    async def request_channel_info(self, session: Session, command: RequestChannelInfoCommand) -> None:
        """Opcode 43: send CHANNEL_INFO with the requested fields of the channels that the user may view."""
        view = self.hub.views.get(command.guild_id)
        member = None if view is None else view.members.get(session.user_id)
        if view is None or member is None or command.guild_id not in session.guild_ids:
            return
        fields: dict[ChannelId, dict[str, object]] = {}
        if "status" in command.fields:
            for channel_id, status in (await self._source.voice_statuses(command.guild_id)).items():
                fields[channel_id] = {"status": status}
        if "voice_start_time" in command.fields:
            for channel_id, started_at in (await self._source.voice_starts(command.guild_id)).items():
                fields.setdefault(channel_id, {})["voice_start_time"] = started_at // 1000
        visible = view.visible_channels(member)
        channels = [{"id": each.wire(), **fields[each]} for each in sorted(fields) if each in visible]
        self.hub.send(session, "CHANNEL_INFO", encode({"guild_id": command.guild_id.wire(), "channels": channels}))

    # Callbacks of the hub

    def _handle_join(self, session: Session, view: GuildView) -> None:
        self.presences.announce(session, view.id)
        subscription = self._take_pending(session, view.id)
        if subscription is not None:
            self._subscribe(session, view, subscription)

    @staticmethod
    def _take_pending(session: Session, guild_id: GuildId) -> GuildSubscription | None:
        pending = session.pending_subscriptions
        return None if pending is None else pending.take(guild_id)

    def _handle_guild_event(self, view: GuildView, envelope: Envelope) -> None:
        self.member_lists.handle_event(view, envelope)
        if view.interests:
            self.passive_updates.handle_event(view, envelope)

    def _end_subscription(self, session: Session, guild_id: GuildId) -> None:
        self._take_pending(session, guild_id)
        self.member_lists.unsubscribe(session, guild_id)

    def _handle_removed(self, user_id: UserId) -> None:
        self.presences.leave_guild(user_id)

    def _online_in_guild(self, guild_id: GuildId, user_ids: Iterable[UserId], own_id: UserId) -> list[Presence]:
        return self.presences.online_in_guild(guild_id, user_ids, own_id)

    def _handle_control(self, envelope: Envelope) -> None:
        if envelope.name == "SESSIONS_CLOSE":
            self.hub.run_in_background(self._close_sessions(decoder(SessionsClose).decode(envelope.data)))
        elif envelope.name == "GUILD_OPEN":
            opened: GuildOpen = decoder(GuildOpen).decode(envelope.data)
            self.hub.join_user_sessions(opened.user_id, opened.guild_id)
        elif envelope.name == "VOICE_SERVER":
            self._send_voice_server(decoder(VoiceServer).decode(envelope.data))
        elif envelope.name == "SESSIONS_INVALIDATE":
            message: SessionsInvalidate = decoder(SessionsInvalidate).decode(envelope.data)
            if message.node != self._name:
                self._invalidate_here(message.reason)

    def _send_voice_server(self, message: VoiceServer) -> None:
        """Send VOICE_SERVER_UPDATE to the session that is in voice, if it is one of this node."""
        session = self.hub.sessions.get(message.session_id)
        if session is None or session.user_id != message.user_id:
            return
        if bytes(message.state) != b"null":
            self.hub.send(session, "VOICE_STATE_UPDATE", bytes(message.state))
        connection = session.connection
        url = connection.gateway_url if isinstance(connection, Connection) else self.settings.public_url
        data = {
            "token": message.token,
            "guild_id": message.guild_id.wire(),
            "endpoint": (message.endpoint or _host_and_port(url)) if message.is_carried else None,
        }
        self.hub.send(session, "VOICE_SERVER_UPDATE", encode(data))

    async def _close_sessions(self, message: SessionsClose) -> None:
        for session in list(self.hub.sessions_by_user.get(message.user_id, ())):
            if message.token_hash is None or session.token_hash.hex() == message.token_hash:
                # First the connection: what follows from a session's end may take long, or fail.
                if isinstance(session.connection, Connection):
                    session.connection.close(CloseCode.AUTHENTICATION_FAILED, "Authentication failed.")
                await self.end_session(session)


def _host_and_port(url: str) -> str:
    """The host and port of a WebSocket's URL, as libraries expect a voice server's: always with a port."""
    parts = urlsplit(url)
    return parts.netloc if parts.port is not None else f"{parts.netloc}:{443 if parts.scheme == 'wss' else 80}"


def _first(query: dict[str, list[str]], name: str) -> str:
    return query.get(name, [""])[0]


def _query_error(query: dict[str, list[str]]) -> CloseConnection | None:
    """The reason to close a connection with this query string; None if it is valid."""
    if _first(query, "v") not in _VERSIONS:
        return CloseConnection(CloseCode.INVALID_VERSION, "Invalid API version.")
    if _encoding(query) is None:
        return CloseConnection(CloseCode.DECODE_ERROR, "Encodings: json, etf. Transports: zlib-stream, zstd-stream.")
    return None


def _encoding(query: dict[str, list[str]]) -> Encoding | None:
    """The encoding that a query string asks for; None for an unknown one."""
    return ENCODINGS.get(_first(query, "encoding") or "json", {}).get(_first(query, "compress"))


def _is_connected(session: Session) -> bool:
    """Whether a session has a connection that is not being closed."""
    connection = session.connection
    return isinstance(connection, Connection) and not connection.send_queue.closed


async def _log_errors(callback: Awaitable[None]) -> None:
    try:
        await callback
    except Exception:  # noqa: BLE001 - logged
        _log.exception("a callback of the gateway failed")
