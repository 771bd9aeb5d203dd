"""Receiver reports and the window against replays, by the rules of RFC 3550."""

import struct

from moothall.voice.packets import WINDOW, ReplayWindow
from moothall.voice.reports import Reception


def fields(report: bytes) -> tuple[int, int, int, int]:
    """Fraction lost, packets lost, highest sequence number, jitter."""
    _, lost, highest, jitter, _, _ = struct.unpack(">IIIIII", report)
    return lost >> 24, lost & 0xFFFFFF, highest, jitter


def test_a_report_tells_what_was_lost_over_the_end_of_the_sequence_numbers() -> None:
    reception = Reception()
    numbers = [number for number in range(65_500, 65_600) if number % 10 != 5]
    for number in numbers:
        reception.add(number & 0xFFFF, 960 * (number - 65_500), 0.02 * (number - 65_500))
    fraction, lost, highest, jitter = fields(reception.report(7, 0.0))
    assert (lost, highest, jitter) == (10, 65_599, 0)
    assert fraction == 256 * 10 // 100
    assert fields(reception.report(7, 0.0))[0] == 0


def test_packets_that_come_unevenly_have_jitter() -> None:
    reception = Reception()
    for number in range(200):
        reception.add(number, 960 * number, 0.02 * number + (0.01 if number % 2 else 0.0))
    assert 400 < fields(reception.report(7, 0.0))[3] < 500


def test_a_number_is_taken_once_and_not_from_before_the_window() -> None:
    window = ReplayWindow()
    for number in (5, 3, 4, 2000):
        assert window.may_take(number)
        window.take(number)
        assert not window.may_take(number)
    assert window.may_take(2000 - WINDOW + 1)
    assert not window.may_take(2000 - WINDOW)
    assert not window.may_take(5)
