"""One WebSocket connection: the payloads that the client sends, and the responses."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol

from moothall.gateway.protocol.commands import (
    BulkGuildSubscriptionsCommand,
    CallConnectCommand,
    GuildSubscription,
    GuildSubscriptionsCommand,
    IdentifyCommand,
    Payload,
    QosHeartbeatCommand,
    RequestChannelInfoCommand,
    RequestGuildMembersCommand,
    RequestSoundboardSoundsCommand,
    ResumeCommand,
    UpdatePresenceCommand,
    UpdateVoiceStateCommand,
    read_command,
)
from moothall.gateway.protocol.frame_writer import Send, frame_writer
from moothall.gateway.protocol.frames import PAYLOAD_COMPRESSION, TEXT, Encoding, Frame
from moothall.gateway.protocol.opcodes import IGNORED_OPCODES, CloseCode, CloseConnection, Opcode
from moothall.gateway.protocol.send_queue import SendQueue
from moothall.gateway.sessions.session import Session
from moothall.gateway.settings import GatewaySettings
from moothall.objects.ids import GuildId
from moothall.runtime.budgets import SERVER, Payer
from moothall.runtime.websocket_frames import FrameBudget
from moothall.runtime.work_pool import WorkPool

_HEARTBEAT_ACK: Final = b'{"op":11,"d":null,"s":null,"t":null}'
_HEARTBEAT: Final = b'{"op":1,"d":null,"s":null,"t":null}'
_RECONNECT: Final = b'{"op":7,"d":null,"s":null,"t":null}'
_COMMAND_WINDOW: Final = 60.0
_PRESENCE_WINDOW: Final = 20.0


class SessionStarter(Protocol):
    """Starts sessions. May raise CloseConnection."""

    async def identify(self, connection: "Connection", command: IdentifyCommand) -> None:
        """Opcode 2: start a session."""


class SessionResumer(Protocol):
    """Resumes sessions. May raise CloseConnection."""

    async def resume(self, connection: "Connection", command: ResumeCommand) -> None:
        """Opcode 6: attach the connection to an existing session."""


class CommandHandler(Protocol):
    """Carries out the commands of a session. Every coroutine may raise CloseConnection."""

    async def update_presence(self, session: Session, command: UpdatePresenceCommand) -> None:
        """Opcode 3."""

    async def update_voice_state(self, session: Session, command: UpdateVoiceStateCommand) -> None:
        """Opcode 4."""

    async def request_guild_members(
        self, connection: "Connection", session: Session, command: RequestGuildMembersCommand
    ) -> None:
        """Opcode 8."""

    async def connect_call(self, session: Session, command: CallConnectCommand) -> None:
        """Opcode 13."""

    async def request_soundboard_sounds(self, session: Session, command: RequestSoundboardSoundsCommand) -> None:
        """Opcode 31."""

    async def request_channel_info(self, session: Session, command: RequestChannelInfoCommand) -> None:
        """Opcode 43."""


class SubscriptionHandler(Protocol):
    """Changes what sessions receive of their guilds."""

    def update(self, session: Session, subscriptions: Mapping[GuildId, GuildSubscription]) -> None:
        """Opcodes 14 and 37."""


class Node(Protocol):
    """What a connection needs of the node that it belongs to."""

    settings: GatewaySettings
    frames: WorkPool
    """Compresses large frames."""

    @property
    def starts(self) -> SessionStarter:
        """Carries out IDENTIFY."""

    @property
    def resumes(self) -> SessionResumer:
        """Carries out RESUME."""

    @property
    def commands(self) -> CommandHandler:
        """Carries out the other commands."""

    @property
    def subscriptions(self) -> SubscriptionHandler:
        """Carries out the commands about what a session receives."""

    def handle_overflow(self, connection: "Connection") -> None:
        """The connection was aborted because its send queue overflowed."""


class Connection:
    """A connected client, identified or not.

    Every response goes through the send queue, so nothing here waits for the client to read.
    """

    __slots__ = (
        "_command_window_end",
        "_commands_left",
        "_node",
        "_presence_updates",
        "_presence_window_end",
        "encoding",
        "frame_budget",
        "gateway_url",
        "heartbeat_requested_at",
        "last_heartbeat_at",
        "network",
        "opened_at",
        "payer",
        "replaying",
        "send_queue",
        "session",
        "version",
    )

    def __init__(
        self,
        node: Node,
        send: Send,
        encoding: Encoding,
        network: str = "",
        gateway_url: str = "",
        *,
        version: str = "",
    ) -> None:
        settings = node.settings
        self._node = node
        self.encoding = encoding
        self.version = version
        """The version of the API in the URL; empty for none."""
        self.replaying = False
        """Whether missed dispatches are being sent: new ones wait in the session's replay buffer for their turn."""
        self.session: Session | None = None
        self.network: str | None = network
        """The network under which the connection counts as unidentified; None once it has had a session."""
        self.frame_budget: FrameBudget | None = None
        """The limits on frames that the server counts; None if it counts none."""
        self.payer: Payer | None = None
        """Whom the commands are charged to, once the user is known."""
        self.gateway_url = gateway_url
        """The URL at which this client would connect again."""
        self.send_queue = SendQueue(
            frame_writer(send, direct=settings.direct_writes),
            max_frames=settings.queue_frames,
            max_bytes=settings.queue_bytes,
            on_overflow=self._handle_overflow,
        )
        self.opened_at = self.last_heartbeat_at = asyncio.get_running_loop().time()
        self.heartbeat_requested_at = 0.0
        """When the server requested a heartbeat that has not arrived yet; 0 if none is pending."""
        self._command_window_end = 0.0
        self._commands_left = 0
        self._presence_window_end = 0.0
        self._presence_updates = 0

    # Sending

    def send_hello(self) -> None:
        """Send opcode 10, the first payload of every connection."""
        interval = self._node.settings.heartbeat_ms
        self.send_queue.push(
            self.encoding.first(b'{"op":10,"d":{"heartbeat_interval":%d},"s":null,"t":null}' % interval)
        )

    def dispatch(self, seq: int, frame: Frame) -> None:
        """Send a dispatch, now or once the client reads again."""
        if not self.replaying:
            self.send_queue.push(self.encoding.dispatch(seq, frame))

    def replay(self, seq: int, frame: Frame) -> None:
        """Send a dispatch that the client has missed."""
        self.send_queue.push(self.encoding.dispatch(seq, frame))

    async def prepare(self, frame: Frame) -> None:
        """Make the forms of a large frame that sending it needs, without blocking the event loop."""
        await self.encoding.prepare(frame, self._node.frames.for_payer(self.payer or SERVER))

    def send_invalid_session(self, *, resumable: bool) -> None:
        """Send opcode 9: the client has to identify again, or to resume."""
        self.send_queue.push(
            self.encoding.control(b'{"op":9,"d":%b,"s":null,"t":null}' % (b"true" if resumable else b"false"))
        )

    def request_heartbeat(self) -> None:
        """Send opcode 1, once until the client's next heartbeat."""
        if not self.heartbeat_requested_at:
            self.heartbeat_requested_at = asyncio.get_running_loop().time()
            self.send_queue.push(self.encoding.control(_HEARTBEAT))

    def send_reconnect(self) -> None:
        """Send opcode 7: this node is shutting down."""
        self.send_queue.push(self.encoding.control(_RECONNECT))

    def close(self, code: int, reason: str) -> None:
        """Close the connection. Its session stays as it is."""
        self.send_queue.close(code, reason)

    def end(self) -> None:
        """Let go of the session and of what refers to this connection, once the WebSocket has ended.

        Whatever still refers to the connection does not keep the session's replay buffer then.
        """
        self.session = None
        self.send_queue.end()

    def enable_payload_compression(self) -> None:
        """Apply `compress` of Identify; a compressed transport and terms are left as they are."""
        if self.encoding is TEXT:
            self.encoding = PAYLOAD_COMPRESSION

    def _handle_overflow(self) -> None:
        self._node.handle_overflow(self)

    # Receiving

    async def handle(self, message: str | bytes) -> None:
        """Handle one WebSocket message. Raises CloseConnection with the documented close code."""
        self._check_rate_limit()
        payload = self.encoding.read(message)
        handle_opcode = _OPCODE_HANDLERS.get(payload.op)
        if handle_opcode is None:
            if payload.op in IGNORED_OPCODES and self.session is not None and not self.session.bot:
                return
            raise CloseConnection(CloseCode.UNKNOWN_OPCODE, "Unknown opcode.")
        await handle_opcode(self, payload)

    def _check_rate_limit(self) -> None:
        limit = self._node.settings.commands_per_minute
        now = asyncio.get_running_loop().time()
        if now >= self._command_window_end:
            self._command_window_end, self._commands_left = now + _COMMAND_WINDOW, limit
        self._commands_left -= 1
        if limit and self._commands_left < 0:
            raise CloseConnection(CloseCode.RATE_LIMITED, "You are being rate limited.")

    def _require_session(self) -> Session:
        if self.session is None:
            raise CloseConnection(CloseCode.NOT_AUTHENTICATED, "Not authenticated.")
        return self.session

    def _require_no_session(self) -> None:
        if self.session is not None:
            raise CloseConnection(CloseCode.ALREADY_AUTHENTICATED, "Already authenticated.")

    async def heartbeat(self, payload: Payload) -> None:
        """Opcode 1: acknowledge the dispatches up to the client's sequence number.

        Some clients of people send with it what belongs to opcode 40.
        """
        command: QosHeartbeatCommand | int | None = read_command(payload.d, QosHeartbeatCommand | int | None)
        self._acknowledge(command.seq if isinstance(command, QosHeartbeatCommand) else command)

    async def qos_heartbeat(self, payload: Payload) -> None:
        """Opcode 40: a heartbeat with measurements of the client, which are dropped."""
        command: QosHeartbeatCommand = read_command(payload.d, QosHeartbeatCommand)
        self._acknowledge(command.seq)

    def _acknowledge(self, seq: int | None) -> None:
        self.last_heartbeat_at = asyncio.get_running_loop().time()
        self.heartbeat_requested_at = 0.0
        session = self.session
        if session is not None and seq is not None:
            session.acknowledge(seq)
        self.send_queue.push(self.encoding.control(_HEARTBEAT_ACK))

    async def identify(self, payload: Payload) -> None:
        """Opcode 2."""
        self._require_no_session()
        await self._node.starts.identify(self, read_command(payload.d, IdentifyCommand))

    async def resume(self, payload: Payload) -> None:
        """Opcode 6."""
        self._require_no_session()
        await self._node.resumes.resume(self, read_command(payload.d, ResumeCommand))

    async def update_presence(self, payload: Payload) -> None:
        """Opcode 3; updates above the rate limit are ignored."""
        session = self._require_session()
        command = read_command(payload.d, UpdatePresenceCommand)
        now = asyncio.get_running_loop().time()
        limit = self._node.settings.presences_per_window
        if now >= self._presence_window_end:
            self._presence_window_end, self._presence_updates = now + _PRESENCE_WINDOW, 0
        self._presence_updates += 1
        if not limit or self._presence_updates <= limit:
            await self._node.commands.update_presence(session, command)

    async def update_voice_state(self, payload: Payload) -> None:
        """Opcode 4."""
        session = self._require_session()
        await self._node.commands.update_voice_state(session, read_command(payload.d, UpdateVoiceStateCommand))

    async def request_guild_members(self, payload: Payload) -> None:
        """Opcode 8."""
        session = self._require_session()
        await self._node.commands.request_guild_members(
            self, session, read_command(payload.d, RequestGuildMembersCommand)
        )

    async def update_guild_subscriptions(self, payload: Payload) -> None:
        """Opcode 14."""
        session = self._require_session()
        command: GuildSubscriptionsCommand = read_command(payload.d, GuildSubscriptionsCommand)
        self._node.subscriptions.update(session, {command.guild_id: command})

    async def bulk_update_guild_subscriptions(self, payload: Payload) -> None:
        """Opcode 37."""
        session = self._require_session()
        command: BulkGuildSubscriptionsCommand = read_command(payload.d, BulkGuildSubscriptionsCommand)
        self._node.subscriptions.update(session, command.subscriptions)

    async def connect_call(self, payload: Payload) -> None:
        """Opcode 13, which bots do not know."""
        session = self._require_session()
        if session.bot:
            raise CloseConnection(CloseCode.UNKNOWN_OPCODE, "Unknown opcode.")
        await self._node.commands.connect_call(session, read_command(payload.d, CallConnectCommand))

    async def request_soundboard_sounds(self, payload: Payload) -> None:
        """Opcode 31."""
        session = self._require_session()
        command = read_command(payload.d, RequestSoundboardSoundsCommand)
        await self._node.commands.request_soundboard_sounds(session, command)

    async def request_channel_info(self, payload: Payload) -> None:
        """Opcode 43."""
        session = self._require_session()
        await self._node.commands.request_channel_info(session, read_command(payload.d, RequestChannelInfoCommand))


_OPCODE_HANDLERS: Final[dict[int, Callable[[Connection, Payload], Awaitable[None]]]] = {
    Opcode.HEARTBEAT: Connection.heartbeat,
    Opcode.IDENTIFY: Connection.identify,
    Opcode.RESUME: Connection.resume,
    Opcode.PRESENCE_UPDATE: Connection.update_presence,
    Opcode.VOICE_STATE_UPDATE: Connection.update_voice_state,
    Opcode.REQUEST_GUILD_MEMBERS: Connection.request_guild_members,
    Opcode.CALL_CONNECT: Connection.connect_call,
    Opcode.GUILD_SUBSCRIPTIONS: Connection.update_guild_subscriptions,
    Opcode.GUILD_SUBSCRIPTIONS_BULK: Connection.bulk_update_guild_subscriptions,
    Opcode.REQUEST_SOUNDBOARD_SOUNDS: Connection.request_soundboard_sounds,
    Opcode.QOS_HEARTBEAT: Connection.qos_heartbeat,
    Opcode.REQUEST_CHANNEL_INFO: Connection.request_channel_info,
}
