"""One WebSocket: what the peer sends, and what it is answered."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from moothall.gateway.commands import (
    IdentifyCommand,
    MembersCommand,
    Payload,
    PresenceCommand,
    ResumeCommand,
    SoundboardCommand,
    VoiceCommand,
    read_command,
    read_payload,
)
from moothall.gateway.frames import COMPRESSED_PACKETS, TEXT, Encoding, Frame
from moothall.gateway.opcodes import CloseCode, Closing, Opcode
from moothall.gateway.outbox import Outbox, Send
from moothall.gateway.session import Session
from moothall.gateway.settings import GatewaySettings

_ACK: Final = b'{"op":11,"d":null,"s":null,"t":null}'
_HEARTBEAT: Final = b'{"op":1,"d":null,"s":null,"t":null}'
_RECONNECT: Final = b'{"op":7,"d":null,"s":null,"t":null}'
_COMMAND_WINDOW: Final = 60.0
_PRESENCE_WINDOW: Final = 20.0


class Desk(Protocol):
    """What the node does for its connections. Each may raise Closing."""

    settings: GatewaySettings

    async def identify(self, connection: "Connection", command: IdentifyCommand) -> None:
        """Begin a session."""

    async def resume(self, connection: "Connection", command: ResumeCommand) -> None:
        """Carry a session on."""

    async def set_presence(self, session: Session, command: PresenceCommand) -> None:
        """Opcode 3."""

    async def set_voice(self, session: Session, command: VoiceCommand) -> None:
        """Opcode 4."""

    async def send_members(self, connection: "Connection", session: Session, command: MembersCommand) -> None:
        """Opcode 8."""

    async def send_sounds(self, session: Session, command: SoundboardCommand) -> None:
        """Opcode 31."""

    def overflowed(self, connection: "Connection") -> None:
        """A connection was cut because its peer does not read."""


class Connection:
    """A peer that is connected, identified or not.

    Every answer goes through the outbox, so nothing here waits for the peer to read.
    """

    __slots__ = (
        "_allowance",
        "_desk",
        "_presences",
        "_presences_until",
        "_until",
        "asked_at",
        "encoding",
        "last_heard",
        "network",
        "opened",
        "outbox",
        "session",
        "url",
    )

    def __init__(self, desk: Desk, send: Send, encoding: Encoding, network: str = "", url: str = "") -> None:
        settings = desk.settings
        self._desk = desk
        self.encoding = encoding
        self.session: Session | None = None
        self.network: str | None = network
        """Where the peer is counted as a stranger; None once it has had a session."""
        self.url = url
        """Where the peer would connect again."""
        self.outbox = Outbox(
            send,
            max_frames=settings.queue_frames,
            max_bytes=settings.queue_bytes,
            on_overflow=self._overflowed,
        )
        self.opened = self.last_heard = asyncio.get_running_loop().time()
        """`last_heard` is when the last heartbeat came."""
        self.asked_at = 0.0
        """When the peer was asked for a heartbeat that has not come yet; 0 if it was not."""
        self._until = 0.0
        self._allowance = 0
        self._presences_until = 0.0
        self._presences = 0

    # Out

    def hello(self) -> None:
        """The first payload of every connection."""
        interval = self._desk.settings.heartbeat_ms
        self.outbox.push(self.encoding.first(b'{"op":10,"d":{"heartbeat_interval":%d},"s":null,"t":null}' % interval))

    def dispatch(self, seq: int, frame: Frame) -> None:
        """Send a dispatch, now or as soon as the peer reads."""
        self.outbox.push(self.encoding.dispatch(seq, frame))

    def invalid_session(self, *, resumable: bool) -> None:
        """Opcode 9: the client has to identify (again), or to resume."""
        self.outbox.push(
            self.encoding.control(b'{"op":9,"d":%b,"s":null,"t":null}' % (b"true" if resumable else b"false"))
        )

    def ask_heartbeat(self) -> None:
        """Opcode 1, once until the peer answers."""
        if not self.asked_at:
            self.asked_at = asyncio.get_running_loop().time()
            self.outbox.push(self.encoding.control(_HEARTBEAT))

    def ask_reconnect(self) -> None:
        """Opcode 7: this node is going away."""
        self.outbox.push(self.encoding.control(_RECONNECT))

    def close(self, code: int, reason: str) -> None:
        """End the connection. The session behind it stays as it is."""
        self.outbox.close(code, reason)

    def compress_packets(self) -> None:
        """`compress` of Identify; a compressed transport is left as it is."""
        if self.encoding is TEXT:
            self.encoding = COMPRESSED_PACKETS

    def _overflowed(self) -> None:
        self._desk.overflowed(self)

    # In

    async def handle(self, message: str | bytes) -> None:
        """Do what a message asks. Raises Closing with the code that the public documentation gives for it."""
        self._count()
        payload = read_payload(message)
        known = _HANDLERS.get(payload.op)
        if known is None:
            raise Closing(CloseCode.UNKNOWN_OPCODE, "Unknown opcode.")
        await known(self, payload)

    def _count(self) -> None:
        maximum = self._desk.settings.commands_per_minute
        now = asyncio.get_running_loop().time()
        if now >= self._until:
            self._until, self._allowance = now + _COMMAND_WINDOW, maximum
        self._allowance -= 1
        if maximum and self._allowance < 0:
            raise Closing(CloseCode.RATE_LIMITED, "You are being rate limited.")

    def _identified(self) -> Session:
        if self.session is None:
            raise Closing(CloseCode.NOT_AUTHENTICATED, "Not authenticated.")
        return self.session

    async def heartbeat(self, payload: Payload) -> None:
        """Opcode 1: what the client says it has received need not be kept for a resume."""
        seq = read_command(payload.d, int | None)
        self.last_heard = asyncio.get_running_loop().time()
        self.asked_at = 0.0
        session = self.session
        if session is not None and seq is not None:
            session.acknowledge(seq)
        self.outbox.push(self.encoding.control(_ACK))

    async def identify(self, payload: Payload) -> None:
        """Opcode 2."""
        if self.session is not None:
            raise Closing(CloseCode.ALREADY_AUTHENTICATED, "Already authenticated.")
        await self._desk.identify(self, read_command(payload.d, IdentifyCommand))

    async def resume(self, payload: Payload) -> None:
        """Opcode 6."""
        if self.session is not None:
            raise Closing(CloseCode.ALREADY_AUTHENTICATED, "Already authenticated.")
        await self._desk.resume(self, read_command(payload.d, ResumeCommand))

    async def presence(self, payload: Payload) -> None:
        """Opcode 3; too many are ignored."""
        session = self._identified()
        command = read_command(payload.d, PresenceCommand)
        now = asyncio.get_running_loop().time()
        maximum = self._desk.settings.presences_per_window
        if now >= self._presences_until:
            self._presences_until, self._presences = now + _PRESENCE_WINDOW, 0
        self._presences += 1
        if not maximum or self._presences <= maximum:
            await self._desk.set_presence(session, command)

    async def voice(self, payload: Payload) -> None:
        """Opcode 4."""
        await self._desk.set_voice(self._identified(), read_command(payload.d, VoiceCommand))

    async def members(self, payload: Payload) -> None:
        """Opcode 8."""
        await self._desk.send_members(self, self._identified(), read_command(payload.d, MembersCommand))

    async def sounds(self, payload: Payload) -> None:
        """Opcode 31."""
        await self._desk.send_sounds(self._identified(), read_command(payload.d, SoundboardCommand))


_HANDLERS: Final[dict[int, Callable[[Connection, Payload], Awaitable[None]]]] = {
    Opcode.HEARTBEAT: Connection.heartbeat,
    Opcode.IDENTIFY: Connection.identify,
    Opcode.RESUME: Connection.resume,
    Opcode.PRESENCE_UPDATE: Connection.presence,
    Opcode.VOICE_STATE_UPDATE: Connection.voice,
    Opcode.REQUEST_GUILD_MEMBERS: Connection.members,
    Opcode.REQUEST_SOUNDBOARD_SOUNDS: Connection.sounds,
}
