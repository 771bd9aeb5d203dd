"""RTCP about video: what receivers lack and ask for, and what has arrived (RFC 4585, 5104, and two drafts)."""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from moothall.voice import packets

_TRANSPORT_FEEDBACK: Final = 205
_PAYLOAD_FEEDBACK: Final = 206
_NACK: Final = 1
_TRANSPORT_WIDE: Final = 15
_PICTURE_LOSS: Final = 1
_FULL_INTRA: Final = 4
_APPLICATION: Final = 15
_OWN_SSRC: Final = 1
_FEEDBACK_HEADER: Final = 12
_BLOCK_BYTES: Final = 24
_NUMBERS: Final = 0xFFFF
_SENDER_INFO: Final = slice(8, 28)

_MAX_REPORTED: Final = 1000
"""Numbers in one message about arrivals; the ones below are not told any more."""
_TICKS: Final = 4000
"""Per second, in which arrivals are told."""
_REFERENCE_TICKS: Final = 256
"""64 ms."""
_SMALL_DELTA: Final = range(0x100)
_LARGE_DELTA: Final = range(-0x8000, 0x8000)
_RUN: Final = 7
"""Symbols in a chunk that is no run."""
_MAX_RUN: Final = 0x1FFF


class Nack(NamedTuple):
    """Packets of a source that a receiver lacks."""

    ssrc: int
    numbers: list[int]


class KeyframeRequest(NamedTuple):
    """A receiver cannot go on without a keyframe of a source."""

    ssrc: int


class BandwidthEstimate(NamedTuple):
    """What a receiver believes that can reach it, in bits per second (REMB)."""

    bitrate: int


class SenderReport(NamedTuple):
    """The sender's clock and counters: 20 bytes."""

    ssrc: int
    info: bytes


class Loss(NamedTuple):
    """How much of a source a receiver has lost since its last report, from 0 to 1."""

    ssrc: int
    share: float


Feedback = Loss | Nack | KeyframeRequest | BandwidthEstimate | SenderReport


def read_feedback(data: bytes) -> Iterator[Feedback]:
    """What a compound packet says of video, up to the first damaged part."""
    at = 0
    while at + 4 <= len(data):
        size = 4 * (int.from_bytes(data[at + 2 : at + 4], "big") + 1)
        packet = data[at : at + size]
        if data[at] >> 6 != 2 or len(packet) != size:
            return
        at += size
        kind, count = packet[1], packet[0] & 0x1F
        if kind == packets.SENDER_REPORT and size >= packets.SENDER_REPORT_BYTES:
            yield SenderReport(int.from_bytes(packet[4:8], "big"), packet[_SENDER_INFO])
            yield from _read_blocks(packet, packets.SENDER_REPORT_BYTES, count)
        elif kind == packets.RECEIVER_REPORT:
            yield from _read_blocks(packet, packets.RTCP_HEADER, count)
        elif size < _FEEDBACK_HEADER:
            continue
        elif kind == _TRANSPORT_FEEDBACK and count == _NACK:
            yield Nack(int.from_bytes(packet[8:12], "big"), _nacked(packet))
        elif kind == _PAYLOAD_FEEDBACK:
            yield from _read_payload_feedback(packet, count)


def _read_blocks(packet: bytes, at: int, count: int) -> Iterator[Loss]:
    for block in range(at, min(at + count * _BLOCK_BYTES, len(packet) - _BLOCK_BYTES + 1), _BLOCK_BYTES):
        yield Loss(int.from_bytes(packet[block : block + 4], "big"), packet[block + 4] / 256)


def _read_payload_feedback(packet: bytes, kind: int) -> Iterator[Feedback]:
    if kind == _PICTURE_LOSS:
        yield KeyframeRequest(int.from_bytes(packet[8:12], "big"))
    elif kind == _FULL_INTRA:
        for at in range(_FEEDBACK_HEADER, len(packet) - 7, 8):
            yield KeyframeRequest(int.from_bytes(packet[at : at + 4], "big"))
    elif kind == _APPLICATION and packet[12:16] == b"REMB" and len(packet) >= 20:
        value = int.from_bytes(packet[17:20], "big")
        yield BandwidthEstimate((value & 0x3FFFF) << (value >> 18))


def _nacked(packet: bytes) -> list[int]:
    numbers: list[int] = []
    for at in range(_FEEDBACK_HEADER, len(packet) - 3, 4):
        first, mask = struct.unpack_from(">HH", packet, at)
        numbers.append(first)
        numbers += [first + bit + 1 & _NUMBERS for bit in range(16) if mask >> bit & 1]
    return numbers


def nack(ssrc: int, numbers: list[int]) -> bytes:
    """Ask a sender for packets again; the numbers ascend."""
    entries: list[list[int]] = []
    for number in numbers:
        ahead = (number - entries[-1][0] & _NUMBERS) - 1 if entries else 16
        if 0 <= ahead < 16:
            entries[-1][1] |= 1 << ahead
        else:
            entries.append([number & _NUMBERS, 0])
    body = b"".join(struct.pack(">HH", *entry) for entry in entries)
    return _message(_NACK, _TRANSPORT_FEEDBACK, ssrc, body)


def picture_loss(ssrc: int) -> bytes:
    """Ask a sender for a keyframe."""
    return _message(_PICTURE_LOSS, _PAYLOAD_FEEDBACK, ssrc, b"")


def _message(count: int, kind: int, ssrc: int, body: bytes) -> bytes:
    words = 2 + len(body) // 4
    return struct.pack(">BBHII", packets.VERSION_BITS | count, kind, words, _OWN_SSRC, ssrc) + body


class Arrivals:
    """When packets of one connection came, by their transport-wide numbers, until their sender is told.

    The sender estimates by it how much gets through (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    """

    __slots__ = ("_highest", "_messages", "_next", "_times")

    def __init__(self) -> None:
        self._times: dict[int, float] = {}
        """By the numbers, which go on above 16 bits."""
        self._highest = -1
        self._next = 0
        """The first number that has not been told of."""
        self._messages = 0

    def add(self, number: int, now: float) -> None:
        """Note a packet. `now` is in seconds."""
        if self._highest < 0:
            self._highest = self._next = number
        else:
            ahead = (number - self._highest) & _NUMBERS
            number = self._highest + (ahead if ahead < 0x8000 else ahead - 0x10000)
            self._highest = max(self._highest, number)
        if number > self._highest - _MAX_REPORTED:
            self._times.setdefault(number, now)

    def waits(self) -> bool:
        """Whether something has come that the sender has not been told of."""
        return bool(self._times)

    def message(self, ssrc: int) -> bytes | None:
        """The next message about what came, if anything has since the last one. `ssrc` is one of the sender's."""
        if not self._times:
            return None
        base = max(min(self._next, *self._times), self._highest - _MAX_REPORTED + 1)
        # Before the first arrival nothing can be told of the time.
        reference = int(min(self._times.values()) * _TICKS) // _REFERENCE_TICKS
        clock = reference * _REFERENCE_TICKS
        symbols: list[int] = []
        deltas = b""
        number = base
        while number <= self._highest:
            time = self._times.get(number)
            if time is None:
                symbols.append(0)
            else:
                delta = int(time * _TICKS) - clock
                if delta in _SMALL_DELTA:
                    symbols.append(1)
                    deltas += bytes((delta,))
                elif delta in _LARGE_DELTA:
                    symbols.append(2)
                    deltas += delta.to_bytes(2, "big", signed=True)
                else:
                    break  # it begins the next message, which has another reference
                clock += delta
                del self._times[number]
            number += 1
        for late in [each for each in self._times if each < number]:
            del self._times[late]
        self._next = number
        if not symbols:
            return None
        head = struct.pack(">HHI", base & _NUMBERS, len(symbols), (reference & 0xFFFFFF) << 8 | self._messages)
        self._messages = self._messages + 1 & 0xFF
        body = head + _chunks(symbols) + deltas
        return _message(_TRANSPORT_WIDE, _TRANSPORT_FEEDBACK, ssrc, body + bytes(-len(body) % 4))


def _chunks(symbols: list[int]) -> bytes:
    """Runs of one symbol, and else seven of them in a chunk."""
    chunks = bytearray()
    at = 0
    while at < len(symbols):
        run = 1
        while run < _MAX_RUN and at + run < len(symbols) and symbols[at + run] == symbols[at]:
            run += 1
        if run >= _RUN or at + run == len(symbols):
            chunks += (symbols[at] << 13 | run).to_bytes(2, "big")
            at += run
        else:
            chunk = 0b11 << 14
            for index, symbol in enumerate(symbols[at : at + _RUN]):
                chunk |= symbol << 2 * (_RUN - 1 - index)
            chunks += chunk.to_bytes(2, "big")
            at += _RUN
    return bytes(chunks)
