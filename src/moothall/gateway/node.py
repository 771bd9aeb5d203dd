"""A gateway node: all connections and sessions of this process (ASGI websocket scopes)."""

import asyncio
import logging
from collections.abc import Callable, Collection, Hashable, Iterable
from contextlib import suppress
from typing import Final
from urllib.parse import parse_qs, urlsplit

from msgspec import Raw

from moothall.bus import Audience, Bus, Envelope
from moothall.gateway.account_bounds import AccountBounds
from moothall.gateway.audience.guild_view import GuildView
from moothall.gateway.commands.authentication import Authentication
from moothall.gateway.commands.guild_subscriptions import GuildSubscriptions
from moothall.gateway.commands.identify import SessionStarts
from moothall.gateway.commands.resume import SessionResumes
from moothall.gateway.commands.session_commands import SessionCommands
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.delivery.watch import DeliveryWatch
from moothall.gateway.presence.cluster import ClusterPresences
from moothall.gateway.presence.local import Presences
from moothall.gateway.protocol.frame_writer import Send
from moothall.gateway.protocol.frames import ENCODINGS, TEXT, Encoding
from moothall.gateway.protocol.identify import IdentifyLimits
from moothall.gateway.protocol.opcodes import RESUMABLE, CloseCode, CloseConnection
from moothall.gateway.session_ends import SessionEnds
from moothall.gateway.sessions.callbacks import GatewayCallbacks
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.control_messages import GuildOpen, SessionsClose, SessionsInvalidate, VoiceServer
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.unidentified import UnidentifiedConnections
from moothall.gateway.settings import GatewaySettings, Metrics, NoMetrics
from moothall.gateway.snapshot.source import GatewaySource
from moothall.objects.ids import GuildId, UserId
from moothall.objects.presence import Presence
from moothall.objects.wire import decoder, encode
from moothall.runtime.asgi import Receive, Scope
from moothall.runtime.budgets import Budgets
from moothall.runtime.cpu_time import Measured
from moothall.runtime.lanes import enter_lane
from moothall.runtime.turns import room_in_turn
from moothall.runtime.websocket_frames import frame_budget

_log = logging.getLogger(__name__)

_VERSIONS: Final = frozenset({"", "9", "10"})


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
        self.callbacks = callbacks = callbacks or GatewayCallbacks()
        self._source = source
        self._bus = bus
        self._name = name
        self._network_of = network_of
        self._sweeper: asyncio.Task[None] | None = None
        self._sweep_seconds = min(5.0, settings.heartbeat_ms / 4000)
        """Seconds from one round of `sweep` to the next."""
        self._closing = False
        self.connections: set[Connection] = set()
        self.unidentified = UnidentifiedConnections(settings.max_unidentified, settings.max_unidentified_per_network)
        self.limits = IdentifyLimits(settings)
        self.hub = hub = Hub(
            settings,
            source,
            metrics or NoMetrics(),
            on_control=self._handle_control,
            on_join=self._handle_join,
            on_friend=self._handle_friend,
            on_guild_event=self._handle_guild_event,
            on_leave=self._handle_leave,
            on_broken=self._handle_broken,
            on_removed=self._handle_removed,
            online=self._online_in_guild,
        )
        self.delivery_watch = DeliveryWatch(hub)
        self.cluster_presences = ClusterPresences(hub, bus, name) if bus.shared else None
        self.presences = presences = self.cluster_presences or Presences(hub, bus.publish)
        self.ends = SessionEnds(settings, hub, presences, callbacks)
        self.bounds = AccountBounds(settings, hub, self.limits, budgets or Budgets.unlimited(), end=self.ends.drop)
        self.frames = self.bounds.frames
        authentication = Authentication(source, callbacks)
        self.starts = SessionStarts(
            settings,
            hub,
            source,
            presences,
            authentication=authentication,
            bounds=self.bounds,
            callbacks=callbacks,
            ends=self.ends,
            unidentified=self.unidentified,
        )
        self.resumes = SessionResumes(hub, authentication, self.ends, self.unidentified)
        self.commands = SessionCommands(settings, hub, source, presences, self.bounds, callbacks)
        self.subscriptions = GuildSubscriptions(hub, source, presences)
        bus.subscribe(hub.receive, on_gap=self._handle_gap)

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
                connection.close(RESUMABLE, "The server is going away.")
        self.ends.invalidations.close()
        self.hub.close()
        if self.cluster_presences is not None:
            self.cluster_presences.leave()
        await asyncio.sleep(0)

    def invalidate_all_sessions(self, reason: str) -> None:
        """Let the clients of all nodes identify anew, since events may be lost that cannot be named.

        They are told at a pace at which the nodes can serve them. Until then sessions go on, but cannot be resumed.
        `reason` is in the log and in the close frame, in at most 100 letters.
        """
        self.ends.invalidate_all(reason)
        if self._bus.shared:
            message = SessionsInvalidate(self._name, reason)
            envelope = Envelope(name="SESSIONS_INVALIDATE", data=Raw(encode(message)), audience=Audience.NODE)
            self._bus.publish([envelope])

    def _handle_gap(self) -> None:
        """Events for this node are lost."""
        self.ends.invalidate_all("Events were lost.")
        self.hub.drop_views()
        if self.cluster_presences is not None:
            self.cluster_presences.request()
            # What is lost may be what this process published.
            self.cluster_presences.publish_all()

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
                closing = error or CloseConnection(RESUMABLE, "The server is going away.")
                connection.close(closing.code, closing.reason)
            code = await self._handle_messages(connection, receive)
        finally:
            self.connections.discard(connection)
            closed_by_client = not connection.send_queue.closed
            connection.send_queue.closed = True
            self.unidentified.release(connection)
            try:
                await self.ends.detach(connection, end_session=closed_by_client and code in {1000, 1001})
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
                    await self.ends.end(connection.session)
            except Exception:  # noqa: BLE001 - one client's failure must not affect the others
                _log.exception("a gateway command failed")
                connection.close(CloseCode.UNKNOWN_ERROR, "Unknown error.")
            if connection.payer is not None:
                self.bounds.charge(connection.payer, handling.seconds)

    def handle_overflow(self, connection: Connection) -> None:
        """A connection was aborted because its client does not read; its session can be resumed."""
        self.ends.dropped += 1
        session = connection.session
        _log.info("user %s reads too slowly and was disconnected", session.user_id if session else 0)

    async def sweep(self, now: float) -> None:
        """Close the connections that are silent, and end the sessions that have expired, by the event loop's time.

        It also notices a delivery of events that stands still.

        Sessions without a connection for a heartbeat interval leave their Activity, although they can be resumed.
        """
        self.delivery_watch.check(now)
        lost = self._close_silent_connections(now)
        await self.ends.end_expired(now)
        await self.bounds.enforce_bytes()
        # Also those that are due before the next round: no participant stays for longer than the interval.
        await self.ends.leave_activities(lost, now - self.settings.heartbeat_ms / 1000 + self._sweep_seconds)

    def _close_silent_connections(self, now: float) -> list[Session]:
        """Close the connections without IDENTIFY or heartbeat in time; the sessions that lose theirs."""
        interval = self.settings.heartbeat_ms / 1000
        lost: list[Session] = []
        for connection in list(self.connections):
            silence = now - connection.last_heartbeat_at
            requested_at = connection.heartbeat_requested_at
            if connection.session is None and now - connection.opened_at > self.settings.identify_seconds:
                connection.close(CloseCode.SESSION_TIMED_OUT, "Session timed out.")
            elif requested_at and now - requested_at > interval / 4:
                # The client had time to respond to the request, even if the event loop itself was late.
                self.ends.dropped += 1
                connection.close(CloseCode.SESSION_TIMED_OUT, "No heartbeat.")
                if connection.session is not None:
                    lost.append(connection.session)
            elif silence > 1.25 * interval:
                connection.request_heartbeat()
        return lost

    async def _sweep_periodically(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._sweep_seconds)
            try:
                await self.sweep(loop.time())
            except Exception:  # noqa: BLE001 - logged
                _log.exception("silent connections and expired sessions could not be ended")

    # Callbacks of the hub, which is built before what they call

    def _handle_join(self, session: Session, view: GuildView) -> None:
        self.presences.announce(session, view.id)
        self.subscriptions.handle_join(session, view)

    def _handle_friend(self, user_id: UserId, friend_id: UserId) -> None:
        self.presences.announce_to_friend(user_id, friend_id)

    def _handle_guild_event(self, view: GuildView, envelope: Envelope) -> None:
        self.subscriptions.handle_guild_event(view, envelope)

    def _handle_leave(self, session: Session, guild_id: GuildId) -> None:
        self.subscriptions.handle_leave(session, guild_id)

    def _handle_broken(self, sessions: Collection[Session], reason: str) -> None:
        self.ends.invalidate(sessions, reason)

    def _handle_removed(self, user_id: UserId) -> None:
        self.presences.leave_guild(user_id)

    def _online_in_guild(self, guild_id: GuildId, user_ids: Iterable[UserId], own_id: UserId) -> list[Presence]:
        return self.presences.online_in_guild(guild_id, user_ids, own_id)

    def _handle_control(self, envelope: Envelope) -> None:
        if envelope.name == "SESSIONS_CLOSE":
            self.hub.run_in_background(self.ends.close(decoder(SessionsClose).decode(envelope.data)))
        elif envelope.name == "GUILD_OPEN":
            opened: GuildOpen = decoder(GuildOpen).decode(envelope.data)
            self.hub.join_user_sessions(opened.user_id, opened.guild_id)
        elif envelope.name == "VOICE_SERVER":
            self._send_voice_server(decoder(VoiceServer).decode(envelope.data))
        elif envelope.name == "SESSIONS_INVALIDATE":
            message: SessionsInvalidate = decoder(SessionsInvalidate).decode(envelope.data)
            if message.node != self._name:
                self.ends.invalidate_all(message.reason)

    def _send_voice_server(self, message: VoiceServer) -> None:
        """Send VOICE_SERVER_UPDATE to the session that is in voice, if it is one of this node."""
        session = self.hub.sessions.get(message.session_id)
        if session is None or session.user_id != message.user_id:
            return
        if bytes(message.state) != b"null":
            self.hub.send(session, "VOICE_STATE_UPDATE", bytes(message.state))
        connection = session.connection
        url = connection.gateway_url if isinstance(connection, Connection) else self.settings.public_url
        in_call = {"guild_id": None, "channel_id": message.channel_id}
        data = {
            "token": message.token,
            **({"guild_id": message.guild_id} if message.guild_id is not None else in_call),
            "endpoint": (message.endpoint or _host_and_port(url)) if message.is_carried else None,
        }
        self.hub.send(session, "VOICE_SERVER_UPDATE", encode(data))


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
