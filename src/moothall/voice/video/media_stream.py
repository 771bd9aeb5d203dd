"""One stream of a browser beside its microphone: a layer of its camera or screen, or the sound of its screen."""

from typing import Any, Final, NamedTuple

from moothall.voice.reports import Reception
from moothall.voice.video.codecs import H264, VP8, Vp8Descriptor, read_vp8, starts_h264_keyframe

AUDIO: Final = "audio"
TYPES: Final = frozenset({"video", "screen", AUDIO})

HISTORY: Final = 512
"""Packets that are kept for receivers that lack them: 1.5 s of 2.5 Mbit/s and more."""
CLOCK_RATE: Final = 90_000
FLOWING_SECONDS: Final = 1.0
"""A layer without a packet for so long is not sent at present."""
KEYFRAME_SECONDS: Final = 0.3
"""Between two requests for a keyframe."""
_MAX_GAP: Final = 256
"""More lost packets in a row are not asked for: a keyframe is."""
_FIRST_ASK_SECONDS: Final = 0.01
"""Packets that only arrive in another order need not be asked for."""
_ASK_AGAIN_SECONDS: Final = 0.06
_MAX_ASKS: Final = 10
_MAX_NUMBERS: Final = 128
"""Numbers in one request."""
_NUMBERS: Final = 0xFFFF
_RATE_SECONDS: Final = 1.0


class VideoPacket(NamedTuple):
    """A packet as it has come, decrypted."""

    number: int
    """The sequence number, which goes on above 16 bits."""
    timestamp: int
    marker: int
    """The bit of the marker, in its place."""
    payload: bytes
    codec: str
    starts_keyframe: bool
    vp8: Vp8Descriptor | None


class MediaStream:
    """What is known of a stream, and its last packets."""

    __slots__ = (
        "_bytes",
        "_highest",
        "_history",
        "_keyframe_requested_at",
        "_missing",
        "_rate_from",
        "bitrate",
        "heard_at",
        "is_requested",
        "kind",
        "lead",
        "limits",
        "own_rtx_ssrc",
        "own_ssrc",
        "quality",
        "reception",
        "rid",
        "rtx_ssrc",
        "ssrc",
    )

    def __init__(self, kind: str, rid: str, quality: int, ssrc: int, rtx_ssrc: int) -> None:
        self.kind = kind
        """One of `TYPES`."""
        self.rid = rid
        self.quality = quality
        """From 1 to 100, compared among the layers of one kind."""
        self.ssrc = ssrc
        """The SSRC under which others know it."""
        self.rtx_ssrc = rtx_ssrc
        """That of its packets that are sent again."""
        self.lead: MediaStream = self
        """The best layer of this kind, whose SSRCs receivers know."""
        self.is_requested = False
        """Whether the client says that it sends the stream."""
        self.limits: dict[str, Any] = {}
        """`max_bitrate`, `max_framerate` and `max_resolution` as the client tells them."""
        self.own_ssrc = 0
        """The SSRC that the client itself sends it with; 0 until it is known."""
        self.own_rtx_ssrc = 0
        self.reception = Reception(CLOCK_RATE)
        self.heard_at = 0.0
        self.bitrate = 0.0
        """Over about the last second."""
        self._bytes = 0
        self._rate_from = 0.0
        self._highest = -1
        self._history: dict[int, VideoPacket] = {}
        self._missing: dict[int, tuple[float, int]] = {}
        """Numbers that have not come: when each is to be asked for, and how often it was."""
        self._keyframe_requested_at = 0.0

    def describe(self, *, active: bool) -> dict[str, Any]:
        """The entry of `streams` in messages of the voice gateway: for the client itself, or active ones for others."""
        known = self.lead if active else self
        rtx = {} if self.kind == AUDIO else {"rtx_ssrc": known.rtx_ssrc}
        entry = {"type": self.kind, "rid": self.rid, "ssrc": known.ssrc, **rtx, "quality": self.quality}
        return {**entry, "active": active, **self.limits}

    def is_flowing(self, now: float) -> bool:
        """Whether packets have come within the last second."""
        return now - self.heard_at < FLOWING_SECONDS

    def take(
        self, number: int, timestamp: int, marker: int, payload: bytes, codec: str, now: float
    ) -> VideoPacket | None:
        """Note a packet that has come, of whose number the lower 16 bits are known; None for one that came before."""
        if self._highest < 0:
            full = self._highest = number
        else:
            ahead = (number - self._highest) & _NUMBERS
            full = self._highest + (ahead if ahead <= _NUMBERS >> 1 else ahead - _NUMBERS - 1)
            if full > self._highest:
                self._note_gap(full, now)
                self._highest = full
            elif self.packet(full) is not None or full <= self._highest - HISTORY:
                return None
            else:
                self._missing.pop(full, None)
        vp8 = read_vp8(payload) if codec == VP8 else None
        starts = vp8.starts_keyframe if vp8 is not None else codec == H264 and starts_h264_keyframe(payload)
        packet = VideoPacket(full, timestamp, marker, payload, codec, starts, vp8)
        self._history[full % HISTORY] = packet
        self.heard_at = now
        self._count(len(payload), now)
        return packet

    def _note_gap(self, number: int, now: float) -> None:
        """Note that the numbers up to one have not come."""
        if number - self._highest > _MAX_GAP:
            self._missing.clear()
            return
        for lost in range(self._highest + 1, number):
            self._missing[lost] = now + _FIRST_ASK_SECONDS, 0

    def _count(self, size: int, now: float) -> None:
        self._bytes += size
        elapsed = now - self._rate_from
        if elapsed >= _RATE_SECONDS:
            self.bitrate = 8 * self._bytes / elapsed if elapsed < 2 * _RATE_SECONDS else self.bitrate
            self._bytes, self._rate_from = 0, now

    def packet(self, number: int) -> VideoPacket | None:
        """A packet that is still kept."""
        packet = self._history.get(number % HISTORY)
        return packet if packet is not None and packet.number == number else None

    def lacks(self) -> bool:
        """Whether numbers are missing that may be asked for."""
        return bool(self._missing)

    def due(self, now: float) -> list[int]:
        """The numbers to be asked for now, in ascending order. Those that do not come are given up after a while."""
        numbers: list[int] = []
        for number, (at, asks) in list(self._missing.items()):
            if asks >= _MAX_ASKS:
                del self._missing[number]
            elif at <= now and len(numbers) < _MAX_NUMBERS:
                self._missing[number] = now + _ASK_AGAIN_SECONDS, asks + 1
                numbers.append(number & _NUMBERS)
        return numbers

    def may_ask_keyframe(self, now: float) -> bool:
        """Whether a keyframe may be asked for again, which then counts as asked."""
        if now - self._keyframe_requested_at < KEYFRAME_SECONDS:
            return False
        self._keyframe_requested_at = now
        return True


def set_leads(streams: list[MediaStream]) -> None:
    """Let the streams of a session know the best layer of their kind."""
    for stream in streams:
        stream.lead = max((each for each in streams if each.kind == stream.kind), key=lambda each: each.quality)
        if stream.kind == AUDIO:
            stream.lead = stream
