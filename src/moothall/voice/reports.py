"""Receiver reports of RTCP: what has arrived of a client's sound (RFC 3550, 6.4.2 and A.3, A.8)."""

import struct
from typing import Final

from moothall.voice.packets import RECEIVER_REPORT

_CLOCK_RATE: Final = 48_000
_BLOCK: Final = struct.Struct(">IIIIII")
_MAX_LOST: Final = 0x7FFFFF
_SEQUENCES: Final = 0x10000
_HALF: Final = 0x8000
_TIMESTAMPS: Final = 0xFFFFFFFF


class Reception:
    """Counts the packets of one source."""

    __slots__ = (
        "_clock_rate",
        "_cycles",
        "_expected",
        "_first",
        "_highest",
        "_jitter",
        "_sender_report",
        "_sender_report_at",
        "_taken",
        "_transit",
        "received",
    )

    def __init__(self, clock_rate: int = _CLOCK_RATE) -> None:
        """`clock_rate` is that of the timestamps, in Hz."""
        self.received = 0
        self._clock_rate = clock_rate
        self._first = 0
        self._highest = 0
        self._cycles = 0
        self._transit: float | None = None
        self._jitter = 0.0
        """In units of the timestamps."""
        self._expected = 0
        self._taken = 0
        self._sender_report = 0
        """The middle 32 bits of the time in the last sender report; 0 for none."""
        self._sender_report_at = 0.0

    def add_sender_report(self, body: bytes, now: float) -> None:
        """Note what follows the header of a sender report that arrived at a time."""
        self._sender_report = int.from_bytes(body[2:6], "big")
        self._sender_report_at = now

    def add(self, sequence: int, timestamp: int, now: float) -> None:
        """Count a packet that arrived at a time, in seconds."""
        if not self.received:
            self._first = self._highest = sequence
        else:
            ahead = (sequence - self._highest) % _SEQUENCES
            if 0 < ahead < _HALF:
                if sequence < self._highest:
                    self._cycles += _SEQUENCES
                self._highest = sequence
        self.received += 1
        transit = now * self._clock_rate - timestamp
        if self._transit is not None:
            difference = abs(transit - self._transit)
            if difference < self._clock_rate:  # else the source has started a new stream
                self._jitter += (difference - self._jitter) / 16
        self._transit = transit

    def report(self, ssrc: int, now: float) -> bytes:
        """The report block about a source; it is about what has come since the last one.

        By the sender report and how long ago it came, the client knows how long a packet takes there and back.
        """
        highest = self._cycles + self._highest
        expected = highest - self._first + 1
        lost = max(0, min(expected - self.received, _MAX_LOST))
        expected_now = expected - self._expected
        lost_now = expected_now - (self.received - self._taken)
        fraction = 0 if expected_now <= 0 or lost_now <= 0 else min(255, 256 * lost_now // expected_now)
        self._expected, self._taken = expected, self.received
        jitter = round(self._jitter) & _TIMESTAMPS
        delay = round((now - self._sender_report_at) * 65_536) & _TIMESTAMPS if self._sender_report else 0
        return _BLOCK.pack(
            ssrc, fraction << 24 | lost, highest & _TIMESTAMPS, jitter, self._sender_report & _TIMESTAMPS, delay
        )


def report_header(sender: int, *, blocks: int) -> bytes:
    """The header of a receiver report, which is not encrypted."""
    return struct.pack(">BBHI", 0x80 | blocks, RECEIVER_REPORT, 1 + 6 * blocks, sender)
