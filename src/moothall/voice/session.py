"""A session of the voice gateway: what survives a dropped connection, and how its packets are encrypted."""

from collections import deque
from typing import Final, Protocol

from msgspec import json

from moothall.voice.encryption import Cipher
from moothall.voice.link import Participant
from moothall.voice.opcodes import CloseCode, Opcode
from moothall.voice.packets import ReplayWindow
from moothall.voice.reports import Reception
from moothall.voice.video.media_stream import MediaStream
from moothall.voice.webrtc.transport import Address, BrowserTransport, Sender

__all__ = ["Address", "Connection", "Sender", "VoiceSession"]

BUFFERED: Final = 512
"""Maximum messages that are kept for a client that resumes."""
BUFFERED_BYTES: Final = 256 * 1024
"""Maximum bytes of them."""
_SEQ_BITS: Final = 0xFFFF

PACKETS_PER_SECOND: Final = 200
"""Packets that a client may send, in a window of a second: sound takes 50."""
VIDEO_PACKETS_PER_SECOND: Final = 2000
"""The same of a client with video: 10 Mbit/s take 1,100, and measurements some more."""

QUIET_SECONDS: Final = 5.0
"""After so long without a packet, an address may become another session's."""


class Connection(Protocol):
    """The connection that a session is attached to."""

    version: int

    def send_text(self, message: bytes) -> None:
        """Send a JSON message."""

    def send_binary(self, message: bytes) -> None:
        """Send a binary message."""

    def close(self, code: CloseCode, reason: str) -> None:
        """Close the connection."""


class VoiceSession:
    """A client in a room.

    `receivers` and `browsers` are the sessions that its packets go to, itself aside, which the room renews whenever
    someone comes, goes or is muted.
    """

    __slots__ = (
        "_acknowledged",
        "_buffer",
        "_buffered_bytes",
        "_packets",
        "_window_end",
        "address",
        "announced_streams",
        "announced_wants",
        "browser",
        "browsers",
        "cipher",
        "connection",
        "dave_version",
        "discovered",
        "expires_at",
        "mode",
        "participant",
        "receivers",
        "reception",
        "repeats_discovery",
        "selected",
        "sent",
        "seq",
        "socket",
        "speaking",
        "ssrc",
        "stream_receivers",
        "streams",
        "unwanted",
        "wants",
        "wants_any",
        "window",
    )

    def __init__(self, participant: Participant, ssrc: int, connection: Connection, dave_version: int) -> None:
        self.participant = participant
        self.ssrc = ssrc
        self.connection: Connection | None = connection
        self.dave_version = dave_version
        """The highest version of the DAVE protocol that the client has; 0 for none."""
        self.expires_at = 0.0
        """When a session without a connection ends."""
        self.seq = 0
        """Of the message sent last; binary messages have its lower 16 bits."""
        self._acknowledged = 0
        self._buffer: deque[tuple[int, bytes, bool]] = deque()
        """Number, message, and whether it is binary."""
        self._buffered_bytes = 0
        self.selected = False
        """Whether the client has selected a protocol: only then the others are told of it."""
        self.mode = ""
        """The encryption mode, once it is chosen; empty for a browser."""
        self.cipher: Cipher | None = None
        self.browser: BrowserTransport | None = None
        """Of a client that has selected protocol `webrtc`; it has no cipher."""
        self.discovered: deque[Address] = deque(maxlen=4)
        """From where requests of address discovery came, until one of them is selected."""
        self.repeats_discovery = False
        """Whether the answer to the first request is repeated, until a protocol is selected."""
        self.address: Address | None = None
        """Where datagrams go to, and come from: a browser may send from several addresses."""
        self.socket: Sender | None = None
        self.window = ReplayWindow()
        self.sent = 0
        """The nonce of the packet sent last."""
        self.speaking = 0
        self.receivers: tuple[VoiceSession, ...] = ()
        self.browsers: tuple[VoiceSession, ...] = ()
        """The receivers that are browsers."""
        self.unwanted: frozenset[int] = frozenset()
        """SSRCs that the client wants no packets of."""
        self.reception = Reception()
        self._window_end = 0.0
        self._packets = 0
        self._begin_video()

    def _begin_video(self) -> None:
        self.wants: dict[int, float] = {}
        """The quality that the client wants of a source, from 0 to 100, by SSRC."""
        self.wants_any = 100.0
        """That of other sources of video."""
        self.streams: tuple[MediaStream, ...] = ()
        """What the client may send beside its microphone."""
        self.announced_streams: tuple[MediaStream, ...] = ()
        """Those that the others know to be active."""
        self.stream_receivers: dict[int, tuple[VoiceSession, ...]] = {}
        """Who is sent the client's streams, by the SSRC that they know them by."""
        self.announced_wants: dict[str, int] = {}
        """What the client was told last of which of its streams are wanted."""

    @property
    def user_id(self) -> int:
        """The participant."""
        return self.participant.user_id

    @property
    def key(self) -> tuple[int, int]:
        """Guild and user."""
        return self.participant.guild_id, self.participant.user_id

    def may_send(self, now: float) -> bool:
        """Count a packet; whether it is within the client's limit."""
        if now >= self._window_end:
            self._window_end, self._packets = now + 1.0, 0
        self._packets += 1
        return self._packets <= (VIDEO_PACKETS_PER_SECOND if self.streams else PACKETS_PER_SECOND)

    def active_streams(self) -> tuple[MediaStream, ...]:
        """The streams that the client sends and may send."""
        return tuple(each for each in self.streams if each.is_requested) if self.participant.may_stream else ()

    def is_heard(self, now: float) -> bool:
        """Whether a packet has come within the last seconds."""
        return now < self._window_end + QUIET_SECONDS

    # Messages

    def send(self, op: int, data: object) -> None:
        """Send a JSON message, numbered, and keep it until it is acknowledged."""
        self.seq += 1
        self._keep(json.encode({"op": op, "d": data, "seq": self.seq & _SEQ_BITS}), binary=False)

    def send_binary(self, op: int, data: bytes) -> None:
        """Send a binary message, numbered, and keep it until it is acknowledged."""
        self.seq += 1
        self._keep((self.seq & _SEQ_BITS).to_bytes(2, "big") + bytes((op,)) + data, binary=True)

    def _keep(self, message: bytes, *, binary: bool) -> None:
        if len(self._buffer) == BUFFERED:
            self._forget_oldest()
        self._buffer.append((self.seq, message, binary))
        self._buffered_bytes += len(message)
        while self._buffered_bytes > BUFFERED_BYTES:
            self._forget_oldest()
        if self.connection is not None:
            _send(self.connection, message, binary=binary)

    def acknowledge(self, seq_ack: int) -> None:
        """Forget the messages up to a number, of which the client has the lower 16 bits; -1 for none."""
        number = self._full_number(seq_ack)
        if number is None:
            return
        while self._buffer and self._buffer[0][0] <= number:
            self._forget_oldest()
        self._acknowledged = max(self._acknowledged, number)

    def _forget_oldest(self) -> None:
        self._buffered_bytes -= len(self._buffer.popleft()[1])

    def _full_number(self, seq_ack: int) -> int | None:
        if seq_ack < 0:
            return 0
        number = self.seq - ((self.seq - seq_ack) & _SEQ_BITS)
        return number if number >= 0 else None

    def missed(self, seq_ack: int) -> list[tuple[bytes, bool]] | None:
        """The messages after a number, and whether they are binary; None if some of them are no longer there."""
        number = self._full_number(seq_ack)
        if number is None or number < self._acknowledged:
            return None
        messages = [(message, binary) for seq, message, binary in self._buffer if seq > number]
        return messages if len(messages) == self.seq - number else None

    def resume(self, connection: Connection, seq_ack: int | None) -> bool:
        """Attach the session to a connection and send what it missed; False if that is no longer there.

        Without `seq_ack`, as before version 8, nothing is sent again.
        """
        missed = [] if seq_ack is None else self.missed(seq_ack)
        if missed is None:
            return False
        self.connection = connection
        for message, binary in missed:
            _send(connection, message, binary=binary)
        connection.send_text(json.encode({"op": Opcode.RESUMED, "d": None}))
        return True


def _send(connection: Connection, message: bytes, *, binary: bool) -> None:
    if binary:
        connection.send_binary(message)
    else:
        connection.send_text(message)
