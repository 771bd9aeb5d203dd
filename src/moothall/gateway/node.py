"""A gateway node: every connection and session of this process, and the outside that they meet."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final, Protocol
from urllib.parse import parse_qs

from moothall.bus import Bus, Envelope
from moothall.gateway.commands import (
    IdentifyCommand,
    MembersCommand,
    PresenceCommand,
    ResumeCommand,
    SoundboardCommand,
    VoiceCommand,
)
from moothall.gateway.connection import Connection
from moothall.gateway.frames import ENCODINGS, TEXT
from moothall.gateway.hooks import GuildOpen, Hooks, SessionsClose, VoiceRequest
from moothall.gateway.hub import Hub
from moothall.gateway.identifying import IdentifyLimits, client_of, intents_of, shard_of
from moothall.gateway.member_chunks import MemberSource, send_member_chunks
from moothall.gateway.opcodes import CloseCode, Closing
from moothall.gateway.outbox import Send
from moothall.gateway.presence import Presences, SessionPresence
from moothall.gateway.ready import Identity, ready
from moothall.gateway.session import Session
from moothall.gateway.settings import GatewaySettings, Metrics, NoMetrics
from moothall.gateway.shared_presence import SharedPresences
from moothall.gateway.snapshots import Snapshots
from moothall.gateway.unidentified import UnidentifiedConnections
from moothall.objects.presence import Presence
from moothall.objects.wire import decoder

_log = logging.getLogger(__name__)

_VERSIONS: Final = frozenset({"", "9", "10"})
_RESUMABLE: Final = CloseCode.UNKNOWN_ERROR

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Source(Snapshots, MemberSource, Protocol):
    """Everything that a node reads from the database."""

    async def identity(self, token: str) -> Identity | None:
        """Whose token it is; None if it opens no session."""

    async def current_user(self, user_id: int) -> bytes:
        """The `user` of READY."""

    async def guild_ids(self, user_id: int) -> list[int]:
        """The guilds that a user is in, oldest first."""

    async def sounds(self, guild_id: int) -> bytes:
        """The sounds of a guild, as JSON."""

    def use_presences(self, presences_of: Callable[[Iterable[int]], list[Presence]]) -> None:
        """Where GUILD_CREATE finds who is online."""


class GatewayNode:
    """Serves WebSockets. Give `serve` every WebSocket scope; call `start` and `close` around it.

    `presences` answers what others ask about who is here. `name` tells this node from the others on a
    bus that several processes share. `network_of` says where a WebSocket scope comes from, "" for this
    machine itself.
    """

    def __init__(
        self,
        settings: GatewaySettings,
        bus: Bus,
        source: Source,
        hooks: Hooks | None = None,
        metrics: Metrics | None = None,
        *,
        name: str = "",
        network_of: Callable[[Scope], str] = lambda _scope: "",
    ) -> None:
        self.settings = settings
        self.strangers = UnidentifiedConnections(settings.max_strangers, settings.max_strangers_of_network)
        self.hooks = hooks or Hooks()
        self.dropped = 0
        """Connections that the server ended because their peer read too slowly or fell silent."""
        self.connections: set[Connection] = set()
        self.limits = IdentifyLimits(settings)
        self.hub = Hub(settings, source, metrics or NoMetrics())
        self._source = source
        self._detached: set[Session] = set()
        self._sweeper: asyncio.Task[None] | None = None
        self._closing = False
        self._network_of = network_of
        self.hub.control = self._control
        self.hub.came = lambda session, view: self.presences.announce(session, view.id)
        bus.subscribe(self.hub.hear)
        self.shared_presences = SharedPresences(self.hub, bus, name) if bus.durable else None
        self.presences = self.shared_presences or Presences(self.hub, bus.publish)
        source.use_presences(self.presences.listed)

    async def start(self) -> None:
        """Begin to watch over silent connections and abandoned sessions."""
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().create_task(self._sweep())
        if self.shared_presences is not None:
            self.shared_presences.ask()

    async def close(self) -> None:
        """Ask every client to reconnect and close its connection, resumable."""
        self._closing = True
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for connection in list(self.connections):
            connection.ask_reconnect()
            connection.close(_RESUMABLE, "The server is going away.")
        self.hub.close()
        if self.shared_presences is not None:
            self.shared_presences.leave()
        await asyncio.sleep(0)

    def start_over(self) -> None:
        """Let every client identify anew: something that they should have heard is lost."""
        self.hub.run(self._end_all())

    async def _end_all(self) -> None:
        for session in list(self.hub.sessions.values()):
            link = session.link
            await self.end(session)
            if isinstance(link, Connection):
                link.invalid_session(resumable=False)
                link.close(_RESUMABLE, "Events were lost.")
        if self.shared_presences is not None:
            self.shared_presences.ask()

    # The socket

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry one WebSocket from its handshake to its end (ASGI)."""
        await receive()
        network = self._network_of(scope)
        if not self.strangers.admit(network):
            await send({"type": "websocket.close"})
            return
        await send({"type": "websocket.accept"})
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        refusal = _refusal(query)
        headers = {name: value.decode("latin-1") for name, value in scope.get("headers", ())}
        url = self.settings.resume_url or self.settings.url_for(headers.get(b"host"), headers.get(b"x-forwarded-proto"))
        connection = Connection(self, send, ENCODINGS.get(_first(query, "compress"), TEXT), network, url)
        self.connections.add(connection)
        code = 1006
        try:
            if refusal is None and not self._closing:
                connection.hello()
            else:
                closing = refusal or Closing(_RESUMABLE, "The server is going away.")
                connection.close(closing.code, closing.reason)
            code = await self._converse(connection, receive)
        finally:
            self.connections.discard(connection)
            by_peer = not connection.outbox.closed
            connection.outbox.closed = True
            self._known(connection)
            await self._detach(connection, for_good=by_peer and code in {1000, 1001})

    def _known(self, connection: Connection) -> None:
        """Count a connection among the strangers no longer. Nothing the second time."""
        if connection.network is not None:
            self.strangers.forget(connection.network)
            connection.network = None

    async def _converse(self, connection: Connection, receive: Receive) -> int:
        """Handle what the peer sends until it is gone; its close code."""
        while True:
            event = await receive()
            if event["type"] == "websocket.disconnect":
                return int(event.get("code") or 1005)
            if connection.outbox.closed:
                continue
            message = event.get("text")
            try:
                await connection.handle(message if message is not None else event.get("bytes") or b"")
            except Closing as closing:
                connection.close(closing.code, closing.reason)
                await self._give_up(connection, closing.code)
            except Exception:  # noqa: BLE001 - one failure must not end the others
                _log.exception("a gateway command failed")
                connection.close(CloseCode.UNKNOWN_ERROR, "Unknown error.")

    async def _give_up(self, connection: Connection, code: CloseCode) -> None:
        # A session does not outlive what says that it is not its client's.
        if code is CloseCode.AUTHENTICATION_FAILED and connection.session is not None:
            await self.end(connection.session)

    async def _detach(self, connection: Connection, *, for_good: bool) -> None:
        session = connection.session
        if session is None or session.link is not connection:
            return
        session.link = None
        if for_good:
            await self.end(session)
        elif session.id in self.hub.sessions:
            session.expires_at = asyncio.get_running_loop().time() + self.settings.resume_seconds
            self._detached.add(session)

    async def end(self, session: Session) -> None:
        """End a session for good. Does nothing the second time."""
        self._detached.discard(session)
        if session.id not in self.hub.sessions:
            return
        guild_ids = frozenset(session.guilds)
        # The presence is announced to guilds that the session still hears, so that others there are told.
        last = self.hub.remove(session)
        self.presences.update(session.user_id, guild_ids)
        if self.hooks.session_ended is not None:
            await _safely(self.hooks.session_ended(session.user_id, session.id))
        if last and self.hooks.offline is not None and not self.presences.is_connected(session.user_id):
            await _safely(self.hooks.offline(session.user_id, guild_ids))

    def overflowed(self, connection: Connection) -> None:
        """A connection was cut because its peer does not read; its session waits for a resume."""
        self.dropped += 1
        session = connection.session
        _log.info("user %s reads too slowly and was disconnected", session.user_id if session else 0)

    async def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        interval = self.settings.heartbeat_ms / 1000
        while True:
            await asyncio.sleep(min(5.0, interval / 4))
            now = loop.time()
            for connection in list(self.connections):
                silent = now - connection.last_heard
                if connection.session is None and now - connection.opened > self.settings.identify_seconds:
                    connection.close(CloseCode.SESSION_TIMED_OUT, "Session timed out.")
                elif connection.asked_at and now - connection.asked_at > interval / 4:
                    # Asked for it, and given time to answer: also after the loop itself was late.
                    self.dropped += 1
                    connection.close(CloseCode.SESSION_TIMED_OUT, "No heartbeat.")
                elif silent > 1.25 * interval:
                    connection.ask_heartbeat()
            for session in [session for session in self._detached if session.expires_at <= now]:
                await self.end(session)

    # What connections ask for

    async def identify(self, connection: Connection, command: IdentifyCommand) -> None:
        """Opcode 2: a new session, READY and then GUILD_CREATE of each guild. Raises Closing."""
        identity = await self._identity(command.token)
        intents = intents_of(command, bot=identity.bot, application_flags=identity.application_flags)
        shard = shard_of(command)
        maximum, held = self.settings.max_sessions_of_user, self.hub.by_user.get(identity.user_id, ())
        if (maximum and len(held) >= maximum) or (identity.bot and not self.limits.admit(identity.user_id, shard)):
            connection.invalid_session(resumable=False)
            return
        session = Session(
            user_id=identity.user_id,
            bot=identity.bot,
            application_id=identity.application_id,
            token_hash=identity.token_hash,
            intents=intents,
            shard=shard,
            large_threshold=command.large_threshold or 50,
            client=client_of(command, bot=identity.bot),
        )
        session.presence = SessionPresence.of(command.presence, bot=identity.bot)
        # Heard of from here on, so that no guild joined meanwhile is missed.
        self.hub.add(session)
        try:
            user = await self._source.current_user(identity.user_id)
            guild_ids = [g for g in await self._source.guild_ids(identity.user_id) if session.hears_guild(g)]
            if identity.bot and len(guild_ids) > self.settings.guilds_per_shard:
                raise Closing(CloseCode.SHARDING_REQUIRED, "Sharding required.")
        except BaseException:
            self.hub.remove(session)
            raise
        if command.compress:
            connection.compress_packets()
        connection.session = session
        self._known(connection)
        session.link = connection
        self.hub.send(session, "READY", ready(session, identity, user, guild_ids, connection.url))
        self.presences.update(session.user_id)
        for guild_id in guild_ids:
            await self.hub.join(session, guild_id, joined=False)
            # Each guild costs milliseconds: others get their turn in between.
            await asyncio.sleep(0)
        if self.hooks.seen is not None:
            await _safely(self.hooks.seen(session.user_id))

    async def _identity(self, token: str) -> Identity:
        scheme, _, rest = token.partition(" ")
        identity = await self._source.identity(rest.strip() if rest and scheme.lower() == "bot" else token.strip())
        if identity is None:
            raise Closing(CloseCode.AUTHENTICATION_FAILED, "Authentication failed.")
        if self.hooks.token_used is not None and not identity.bot:
            self.hooks.token_used(identity.token_hash)
        return identity

    async def resume(self, connection: Connection, command: ResumeCommand) -> None:
        """Opcode 6: what was missed, in order, then RESUMED; or opcode 9. Raises Closing."""
        identity = await self._identity(command.token)
        session = self.hub.sessions.get(command.session_id)
        if session is None or session.user_id != identity.user_id:
            connection.invalid_session(resumable=False)
            return
        if command.seq > session.seq or command.seq < 0:
            await self.end(session)
            raise Closing(CloseCode.INVALID_SEQ, "Invalid seq.")
        missed = session.missed(command.seq)
        if missed is None:
            await self.end(session)
            connection.invalid_session(resumable=False)
            return
        old = session.link
        self._detached.discard(session)
        connection.session = session
        self._known(connection)
        for seq, frame in enumerate(missed, command.seq + 1):
            connection.dispatch(seq, frame)
        session.link = connection
        if isinstance(old, Connection):
            old.close(_RESUMABLE, "The session was resumed elsewhere.")
        self.hub.send(session, "RESUMED", b'{"_trace":["moothall"]}')

    async def set_presence(self, session: Session, command: PresenceCommand) -> None:
        """Opcode 3."""
        session.presence = SessionPresence.of(command, bot=session.bot)
        self.presences.update(session.user_id)

    async def set_voice(self, session: Session, command: VoiceCommand) -> None:
        """Opcode 4. Without a guild it is about calls in direct messages, which there are none of."""
        if self.hooks.voice_update is None or command.guild_id is None or command.guild_id not in session.guilds:
            return
        await self.hooks.voice_update(
            VoiceRequest(
                user_id=session.user_id,
                session_id=session.id,
                guild_id=int(command.guild_id),
                channel_id=None if command.channel_id is None else int(command.channel_id),
                self_mute=command.self_mute,
                self_deaf=command.self_deaf,
                self_video=command.self_video,
            )
        )

    async def send_members(self, connection: Connection, session: Session, command: MembersCommand) -> None:
        """Opcode 8."""
        await send_member_chunks(self.hub, self._source, self.presences, connection, session, command)

    async def send_sounds(self, session: Session, command: SoundboardCommand) -> None:
        """Opcode 31: SOUNDBOARD_SOUNDS for each of the guilds that the session hears."""
        for guild_id in dict.fromkeys(command.guild_ids):
            if guild_id in session.guilds:
                sounds = await self._source.sounds(guild_id)
                self.hub.send(
                    session, "SOUNDBOARD_SOUNDS", b'{"guild_id":"%d","soundboard_sounds":%b}' % (guild_id, sounds)
                )

    # From the bus

    def _control(self, envelope: Envelope) -> None:
        if envelope.name == "SESSIONS_CLOSE":
            self.hub.run(self._close_sessions(decoder(SessionsClose).decode(envelope.data)))
        elif envelope.name == "GUILD_OPEN":
            opened: GuildOpen = decoder(GuildOpen).decode(envelope.data)
            self.hub.open_guild(opened.user_id, opened.guild_id)

    async def _close_sessions(self, order: SessionsClose) -> None:
        for session in list(self.hub.by_user.get(order.user_id, ())):
            if order.token_hash is None or session.token_hash.hex() == order.token_hash:
                link = session.link
                await self.end(session)
                if isinstance(link, Connection):
                    link.close(CloseCode.AUTHENTICATION_FAILED, "Authentication failed.")


def _first(query: dict[str, list[str]], name: str) -> str:
    return query.get(name, [""])[0]


def _refusal(query: dict[str, list[str]]) -> Closing | None:
    if _first(query, "v") not in _VERSIONS:
        return Closing(CloseCode.INVALID_VERSION, "Invalid API version.")
    if _first(query, "encoding") not in {"", "json"}:
        return Closing(CloseCode.DECODE_ERROR, "The encoding is json.")
    if _first(query, "compress") not in ENCODINGS:
        return Closing(CloseCode.DECODE_ERROR, "Transports are zlib-stream and zstd-stream.")
    return None


async def _safely(work: Awaitable[None]) -> None:
    try:
        await work
    except Exception:  # noqa: BLE001 - one failure must not end the others
        _log.exception("a hook of the gateway failed")
