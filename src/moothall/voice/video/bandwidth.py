"""How much reaches one receiver: by its estimates (REMB), which fall where its network is full, and by what is lost."""

from typing import Final

_FALL: Final = 0.97
"""An estimate below this share of the one before, and of what is sent, says that the network is full."""
_LOSS: Final = 0.1
"""So does a greater loss."""
_LEAST: Final = 0.5
"""The share of what is sent that a loss lowers the limit to, at most."""
_FIRST_HOLD: Final = 8.0
_MAX_HOLD: Final = 64.0
"""Seconds until more is tried again; twice as long each time that this fails."""
_LONG_AGO: Final = 4.0
"""A fall so many holds after the last one counts as the first."""


class Bandwidth:
    """The limit of what a receiver is sent, in bits per second; None for none.

    An estimate follows slowly what is sent, and of who receives little it is little. So only its fall counts, and time
    raises the limit again.
    """

    __slots__ = ("_bytes", "_estimate", "_fell_at", "_hold", "_measured_at", "limit", "rate")

    def __init__(self) -> None:
        self.limit: int | None = None
        self.rate = 0.0
        """Of what was sent between the last two measurements, in bits per second."""
        self._bytes = 0
        self._estimate = 0
        self._measured_at = 0.0
        self._hold = _FIRST_HOLD
        self._fell_at = 0.0

    def count(self, size: int) -> None:
        """Count the bytes of a packet."""
        self._bytes += size

    def measure(self, now: float) -> None:
        """Measure the rate, and forget the limit after a while; called a few times a second."""
        elapsed = now - self._measured_at
        if elapsed >= 1.0:
            self.rate = 8 * self._bytes / elapsed
            self._bytes, self._measured_at = 0, now
        if self.limit is not None and now - self._fell_at > self._hold:
            self.limit = None

    def estimate(self, bitrate: int, now: float) -> None:
        """Take over an estimate of the receiver."""
        has_fallen = bitrate < self._estimate * _FALL and bitrate < self.rate * _FALL
        self._estimate = bitrate
        if has_fallen:
            self._lower(bitrate, now)

    def lose(self, share: float, now: float) -> None:
        """Take over what share of a source has not reached the receiver."""
        if share > _LOSS and self.rate:
            self._lower(round(self.rate * max(_LEAST, 1 - share)), now)

    def _lower(self, limit: int, now: float) -> None:
        if self.limit is None:
            since = now - self._fell_at
            self._hold = min(_MAX_HOLD, 2 * self._hold) if since < _LONG_AGO * self._hold else _FIRST_HOLD
        self.limit = limit if self.limit is None else min(limit, self.limit)
        self._fell_at = now
