"""What one receiver is sent of one sender's camera or screen: one source without gaps, whatever the layer."""

from typing import Final, NamedTuple

from moothall.voice.video.codecs import PICTURE_IDS, renumbered_vp8
from moothall.voice.video.media_stream import CLOCK_RATE, HISTORY, MediaStream, VideoPacket

_NUMBERS: Final = 0xFFFF
_TIMESTAMPS: Final = 0xFFFFFFFF


class Outgoing(NamedTuple):
    """A packet for the receiver, not encrypted yet."""

    number: int
    timestamp: int
    marker: int
    payload: bytes
    codec: str


class _Run(NamedTuple):
    """What is added to the counters of a layer, from a packet on: so they go on where the layer before has ended."""

    stream: MediaStream
    first: int
    number: int
    timestamp: int
    picture: int
    level: int


class Subscription:
    """Renumbers the packets of the layer that is sent, and changes it where a keyframe begins."""

    __slots__ = ("_level", "_number", "_picture", "_run", "_sent", "_sent_at", "_timestamp", "rtx_number", "target")

    def __init__(self) -> None:
        self.target: MediaStream | None = None
        """The layer that is to be sent; None for nothing."""
        self.rtx_number = 0
        """The number of the packet that was sent again last."""
        self._run: _Run | None = None
        self._number = self._timestamp = self._picture = self._level = 0
        """Those of the packet that was sent last."""
        self._sent_at = 0.0
        self._sent: dict[int, tuple[int, _Run, int]] = {}
        """The packets that were sent: number, run, and the number as it came."""

    @property
    def current(self) -> MediaStream | None:
        """The layer that is sent."""
        return None if self._run is None else self._run.stream

    def stop(self) -> None:
        """Send nothing until a layer is chosen again."""
        self.target = self._run = None

    def take(self, stream: MediaStream, packet: VideoPacket, now: float) -> Outgoing | None:
        """The packet as it is sent to the receiver; None if its layer is not sent."""
        run = self._run
        if run is None or run.stream is not stream:
            if stream is not self.target or not packet.starts_keyframe:
                return None
            run = self._run = self._new_run(stream, packet, now)
        if packet.number < run.first:
            return None  # it arrives late, from before the layer was sent
        outgoing = _renumbered(packet, run)
        if (outgoing.number - self._number) & _NUMBERS <= _NUMBERS >> 1 or not self._sent_at:
            self._number, self._timestamp, self._sent_at = outgoing.number, outgoing.timestamp, now
            if packet.vp8 is not None:
                self._picture = packet.vp8.picture_id + run.picture & PICTURE_IDS
                self._level = packet.vp8.level + run.level & 0xFF
        self._sent[outgoing.number % HISTORY] = outgoing.number, run, packet.number
        return outgoing

    def _new_run(self, stream: MediaStream, packet: VideoPacket, now: float) -> _Run:
        if not self._sent_at:
            return _Run(stream, packet.number, 0, 0, 0, 0)
        elapsed = max(1, round((now - self._sent_at) * CLOCK_RATE))
        vp8 = packet.vp8
        return _Run(
            stream,
            packet.number,
            self._number + 1 - packet.number,
            self._timestamp + elapsed - packet.timestamp,
            0 if vp8 is None else self._picture + 1 - vp8.picture_id,
            0 if vp8 is None else self._level + 1 - vp8.level,
        )

    def sent(self, number: int) -> Outgoing | None:
        """A packet that was sent with a number, if it is still kept."""
        entry = self._sent.get(number % HISTORY)
        if entry is None or entry[0] != number:
            return None
        packet = entry[1].stream.packet(entry[2])
        return None if packet is None else _renumbered(packet, entry[1])

    def timestamp_of(self, timestamp: int) -> int:
        """A timestamp of the layer that is sent, as the receiver knows it."""
        return timestamp if self._run is None else timestamp + self._run.timestamp & _TIMESTAMPS


def _renumbered(packet: VideoPacket, run: _Run) -> Outgoing:
    payload = packet.payload
    if packet.vp8 is not None and (run.picture or run.level):
        payload = renumbered_vp8(payload, packet.vp8, run.picture, run.level)
    number, timestamp = packet.number + run.number & _NUMBERS, packet.timestamp + run.timestamp & _TIMESTAMPS
    return Outgoing(number, timestamp, packet.marker, payload, packet.codec)
