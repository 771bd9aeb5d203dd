"""Opcode 2: starting a session, with READY and the guilds that its client begins with."""

from collections.abc import Sequence

from moothall.gateway.account_bounds import AccountBounds
from moothall.gateway.commands.authentication import Authentication, payer_of
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.delivery.initial_guilds import InitialGuilds
from moothall.gateway.delivery.visibility import activity_frames
from moothall.gateway.presence.local import Presences
from moothall.gateway.protocol.commands import IdentifyCommand
from moothall.gateway.protocol.frames import Frame
from moothall.gateway.protocol.identify import (
    read_client,
    read_intents,
    read_large_threshold,
    read_shard,
    read_system,
)
from moothall.gateway.protocol.opcodes import RESUMABLE, CloseCode, CloseConnection
from moothall.gateway.session_ends import SessionEnds
from moothall.gateway.sessions.callbacks import GatewayCallbacks, log_errors
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.subscriptions import PendingSubscriptions
from moothall.gateway.sessions.unidentified import UnidentifiedConnections
from moothall.gateway.sessions.user_presence import SessionPresence
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.account_state import AccountState
from moothall.gateway.snapshot.ready import (
    Identity,
    InitialGuild,
    UnavailableGuild,
    has_supplement,
    person_ready,
    ready,
    ready_supplemental,
)
from moothall.gateway.snapshot.source import GatewaySource
from moothall.objects.clock import stopwatch
from moothall.objects.ids import GuildId
from moothall.objects.presence import Status
from moothall.objects.relationship import RelationshipType
from moothall.objects.wire import encode
from moothall.runtime.turns import yield_turn


class SessionStarts:
    """Starts the sessions of this node."""

    def __init__(
        self,
        settings: GatewaySettings,
        hub: Hub,
        source: GatewaySource,
        presences: Presences,
        *,
        authentication: Authentication,
        bounds: AccountBounds,
        callbacks: GatewayCallbacks,
        ends: SessionEnds,
        unidentified: UnidentifiedConnections,
    ) -> None:
        self._settings = settings
        self._hub = hub
        self._source = source
        self._presences = presences
        self._authentication = authentication
        self._bounds = bounds
        self._callbacks = callbacks
        self._ends = ends
        self._unidentified = unidentified

    async def identify(self, connection: Connection, command: IdentifyCommand) -> None:
        """Opcode 2: start a session, send READY and GUILD_CREATE of each guild. Raises CloseConnection."""
        started = stopwatch()
        identity = await self._authentication.identify(command.token)
        intents = read_intents(
            command, bot=identity.bot, application_flags=identity.application_flags, version=connection.version
        )
        shard = read_shard(command)
        payer = connection.payer = payer_of(connection, identity)
        if not await self._bounds.admit(identity, shard, payer):
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
        self._hub.add(session)
        try:
            async with self._bounds.starts.slot(session.user_id):
                await self._start_session(connection, session, identity, command, started)
        except BaseException:
            # The client has not all guilds: it must not resume.
            if session.connection is None:
                guild_ids = frozenset(session.guild_ids)
                self._hub.remove(session)
                self._presences.update(session.user_id, guild_ids)
            else:
                connection.send_invalid_session(resumable=False)
                await self._ends.end(session)
            raise
        if self._callbacks.on_identify is not None:
            await log_errors(self._callbacks.on_identify(session.user_id))

    async def _start_session(
        self, connection: Connection, session: Session, identity: Identity, command: IdentifyCommand, started: float
    ) -> None:
        """Send a new session READY, its guilds and what else its client begins with.

        If its connection is lost before that is done, the session ends.
        """
        if not session.bot:
            self._hub.friends.start(session.user_id)
        initial = InitialGuilds(self._hub, session)
        try:
            await self._authentication.check_login(command.token)
            greeting, guild_ids = await self._greet(session, identity, command, connection, initial, started)
            if not session.bot:
                session.pending_subscriptions = PendingSubscriptions(guild_ids)
            self._attach(connection, session, greeting)
            self._presences.update(session.user_id)
            await initial.finish()
        finally:
            initial.stop()
        await self._send_initial_guilds(connection, session, guild_ids)
        session.pending_subscriptions = None
        for instance in [] if session.bot else await self._source.direct_activities(session.user_id):
            for frame in activity_frames(instance):
                self._hub.send_frame(session, frame)
        for call in [] if session.bot else await self._source.calls(session.user_id):
            self._hub.send(session, "CALL_CREATE", encode(call))
        if connection.send_queue.closed:
            await self._ends.end(session)
        elif session.id not in self._hub.sessions:
            # It was ended meanwhile, perhaps when it had no connection yet that could be told.
            connection.send_invalid_session(resumable=False)
            connection.close(RESUMABLE, "The session has ended.")
        else:
            session.complete = True

    async def _send_initial_guilds(
        self, connection: Connection, session: Session, guild_ids: Sequence[GuildId]
    ) -> None:
        """Send GUILD_CREATE of each guild that READY named only, as long as there is a client to send it to."""
        for guild_id in guild_ids:
            if connection.send_queue.closed or session.id not in self._hub.sessions:
                break
            await self._hub.join(session, guild_id, joined=False)
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
            if len(guild_ids) > self._settings.guilds_per_shard:
                raise CloseConnection(CloseCode.SHARDING_REQUIRED, "Sharding required.")
            greeting = ready(session, identity, user, guild_ids, url, stopwatch() - started)
            return [Frame("READY", greeting)], guild_ids
        state = await self._source.account_state(identity.user_id, settings_proto=session.takes_settings_proto)
        friend_ids = [each.id for each in state.relationships if each.type is RelationshipType.FRIEND]
        self._hub.friends.add_all(identity.user_id, friend_ids)
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
        presences = self._presences.online(
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
            sessions=self._presences.sessions(session.user_id),
            overall=self._presences.overall(session.user_id),
            presences=presences,
            max_upload_bytes=self._settings.max_upload_bytes,
            seconds=stopwatch() - started,
        )
        frames = [Frame("READY", greeting)]
        if has_supplement(session.capabilities):
            frames.append(Frame("READY_SUPPLEMENTAL", ready_supplemental(session, guilds, presences)))
        return frames

    def _attach(self, connection: Connection, session: Session, greeting: list[Frame]) -> None:
        """Send a new session its first frames, then those that were dispatched to it before."""
        # READY is the first dispatch: what is being dispatched to many was before it.
        self._hub.finish_fan_out()
        early = session.take_unsent()
        if early is None:
            raise CloseConnection(RESUMABLE, "Too many events before READY.")  # without a session to resume
        connection.session = session
        self._unidentified.release(connection)
        session.connection = connection
        for frame in greeting:
            self._hub.send_frame(session, frame)
        for frame in early:
            self._hub.dispatch_frame((session,), frame)
        if not session.bot:
            self._presences.announce_sessions(session.user_id, except_session=session)
