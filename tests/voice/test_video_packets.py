"""What is read and written of packets of video: extensions, descriptors, feedback, and the numbers of a receiver."""

import struct

import pytest
from aiortc.rtp import RtcpPacket, RtcpPsfbPacket, RtcpRtpfbPacket, pack_remb_fci

from moothall.voice.video.bandwidth import Bandwidth
from moothall.voice.video.codecs import read_vp8, renumbered_vp8, starts_h264_keyframe
from moothall.voice.video.feedback import (
    Arrivals,
    BandwidthEstimate,
    KeyframeRequest,
    Nack,
    nack,
    picture_loss,
    read_feedback,
)
from moothall.voice.video.media_stream import MediaStream
from moothall.voice.video.subscription import Outgoing, Subscription
from moothall.voice.webrtc.extensions import elements, read_extensions, send_time

KEY = b"\x90\xe0\x80\x05\x07\x00\x10\x02\x00rest"
"""VP8 with picture id 5 of 15 bits, TL0PICIDX 7; a keyframe begins."""
DELTA = b"\x90\xe0\x80\x05\x07\x00\x11\x02\x00rest"


def test_the_extensions_of_an_offer_are_read_by_their_names() -> None:
    lines = [
        "a=extmap:4 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
        "a=extmap:10/recvonly urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id",
        "a=extmap:99999 urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id",
    ]
    assert read_extensions(lines) == (0, 4, 10, 0)


@pytest.mark.parametrize(
    ("extension", "expected"),
    [
        (b"\xbe\xde\0\2\x10A\0\x31BC\0\0", {1: b"A", 3: b"BC"}),
        (b"\x10\x00\0\2\x01\x01A\x14\x02BC\0", {1: b"A", 20: b"BC"}),
        (b"\xbe\xde\0\1\x1fABC", {}),
        (b"\xab\xcd\0\1\x10A\0\0", {}),
    ],
)
def test_header_extensions_of_both_forms_are_read_up_to_the_first_damage(
    extension: bytes, expected: dict[int, bytes]
) -> None:
    assert elements(b"\x90" + bytes(11) + extension + b"payload") == expected


def test_the_time_of_sending_is_of_six_bits_of_seconds() -> None:
    assert send_time(3, 64.5) == b"\xbe\xde\0\1\x32" + (1 << 17).to_bytes(3, "big")
    assert send_time(15, 1.0) == b""


def test_a_keyframe_of_vp8_is_known_by_its_first_packet() -> None:
    assert read_vp8(KEY) == (True, 2, 5, True, 4, 7)
    assert not read_vp8(DELTA).starts_keyframe
    assert not read_vp8(b"\x80" + KEY[1:]).starts_keyframe
    assert not read_vp8(b"\x90").starts_keyframe
    changed = renumbered_vp8(KEY, read_vp8(KEY), 0x7FFE, -8)
    assert read_vp8(changed)[2:] == (3, True, 4, 255)
    assert changed[5:] == KEY[5:]


def test_a_keyframe_of_h264_is_known_alone_in_an_aggregate_and_in_a_fragment() -> None:
    assert starts_h264_keyframe(b"\x65idr")
    assert starts_h264_keyframe(b"\x67parameters")
    assert starts_h264_keyframe(b"\x78\0\2\x09\xf0\0\4\x67abc")
    assert starts_h264_keyframe(b"\x7c\x85start")
    assert not starts_h264_keyframe(b"\x7c\x05middle")
    assert not starts_h264_keyframe(b"\x41slice")
    assert not starts_h264_keyframe(b"\x78\0")


def test_what_is_asked_for_again_is_read_by_others() -> None:
    numbers = [65_530, 65_535, 0, 9, 12, 400]
    (packet,) = RtcpPacket.parse(nack(7, numbers))
    assert isinstance(packet, RtcpRtpfbPacket)
    assert (packet.media_ssrc, [each & 0xFFFF for each in packet.lost]) == (7, numbers)
    assert list(read_feedback(nack(7, numbers) + picture_loss(8))) == [Nack(7, numbers), KeyframeRequest(8)]


def test_an_estimate_of_another_make_is_read() -> None:
    data = bytes(RtcpPsfbPacket(fmt=15, ssrc=1, media_ssrc=0, fci=pack_remb_fci(2_500_000, [5])))
    (estimate,) = read_feedback(data)
    assert isinstance(estimate, BandwidthEstimate)
    assert estimate.bitrate == pytest.approx(2_500_000, rel=0.001)


def reported(message: bytes) -> dict[int, float]:
    """The arrivals in a message, in seconds, by number: a reader of its own, by the draft."""
    base, count, rest = struct.unpack_from(">HHI", message, 12)
    at = 20
    symbols: list[int] = []
    while len(symbols) < count:
        (chunk,) = struct.unpack_from(">H", message, at)
        at += 2
        if chunk >> 15:
            symbols += [chunk >> 2 * (6 - index) & 3 for index in range(7)]
        else:
            symbols += [chunk >> 13] * (chunk & 0x1FFF)
    time = (rest >> 8) * 256
    arrivals: dict[int, float] = {}
    for index, symbol in enumerate(symbols[:count]):
        if symbol:
            size = 1 if symbol == 1 else 2
            time += int.from_bytes(message[at : at + size], "big", signed=symbol == 2)
            at += size
            arrivals[(base + index) & 0xFFFF] = time / 4000
    assert len(message) == 4 * (int.from_bytes(message[2:4], "big") + 1)
    assert len(message) - at < 4
    return arrivals


def test_a_sender_is_told_when_each_of_its_packets_has_arrived() -> None:
    arrivals = Arrivals()
    times = {65_534: 10.0, 65_535: 10.001, 1: 10.0105, 0: 10.012, 40: 10.5, 41: 10.5}
    for number, now in times.items():
        arrivals.add(number, now)
    message = arrivals.message(9)
    assert message is not None
    assert reported(message) == pytest.approx(times, abs=0.0003)
    assert arrivals.message(9) is None
    arrivals.add(43, 11.0)
    message = arrivals.message(9)
    assert message is not None
    assert reported(message) == pytest.approx({43: 11.0}, abs=0.0003)
    assert struct.unpack_from(">HH", message, 12) == (42, 2)


def test_a_long_pause_is_told_in_two_messages() -> None:
    arrivals = Arrivals()
    arrivals.add(1, 10.0)
    arrivals.add(2, 30.0)
    first, second = arrivals.message(9), arrivals.message(9)
    assert first is not None
    assert second is not None
    assert reported(first) | reported(second) == pytest.approx({1: 10.0, 2: 30.0}, abs=0.0003)


def layer(rid: str, quality: int) -> MediaStream:
    """A layer of a camera."""
    return MediaStream("video", rid, quality, quality, quality + 1)


def send(subscription: Subscription, stream: MediaStream, number: int, payload: bytes, now: float) -> Outgoing | None:
    """Let a packet come, and take it for a receiver."""
    packet = stream.take(number & 0xFFFF, 3000 * number & 0xFFFFFFFF, 0x80, payload, "VP8", now)
    return None if packet is None else subscription.take(stream, packet, now)


def test_a_receiver_gets_another_layer_from_a_keyframe_on_without_a_gap() -> None:
    low, high, subscription = layer("50", 50), layer("100", 100), Subscription()
    subscription.target = low
    assert send(subscription, low, 65_534, DELTA, 1.0) is None
    first = send(subscription, low, 65_535, KEY, 1.1)
    assert first is not None
    assert first[:2] == (65_535, 3000 * 65_535)
    assert send(subscription, high, 7, KEY, 1.1) is None

    subscription.target = high
    assert send(subscription, high, 8, DELTA, 1.2) is None
    second = send(subscription, low, 65_536, DELTA, 1.2)
    third = send(subscription, high, 9, KEY, 1.3)
    assert second is not None
    assert third is not None
    assert (second.number, third.number) == (0, 1)
    assert third.timestamp - second.timestamp == 9000
    assert read_vp8(third.payload).picture_id == read_vp8(second.payload).picture_id + 1
    assert send(subscription, low, 65_537, KEY, 1.4) is None
    assert subscription.sent(1) == third
    assert subscription.sent(0) == second
    assert subscription.sent(2) is None


def test_packets_that_come_late_keep_their_numbers_and_those_from_before_are_left_out() -> None:
    stream, subscription = layer("100", 100), Subscription()
    subscription.target = stream
    assert send(subscription, stream, 10, KEY, 1.0) is not None
    ahead = send(subscription, stream, 12, DELTA, 1.0)
    late = send(subscription, stream, 11, DELTA, 1.0)
    assert ahead is not None
    assert late is not None
    assert (ahead.number, late.number) == (12, 11)
    assert send(subscription, stream, 11, DELTA, 1.0) is None
    assert send(subscription, stream, 9, DELTA, 1.0) is None


def test_what_does_not_come_is_asked_for_a_few_times() -> None:
    stream = layer("100", 100)
    for number in (1, 2, 5):
        stream.take(number, 0, 0, DELTA, "VP8", 1.0)
    assert stream.due(1.0) == []
    assert stream.due(1.02) == [3, 4]
    assert stream.due(1.03) == []
    stream.take(4, 0, 0, DELTA, "VP8", 1.04)
    requests = [numbers for step in range(40) if (numbers := stream.due(1.1 + step / 10))]
    assert requests == [[3]] * 9
    assert not stream.lacks()


def test_a_receiver_is_limited_once_its_estimate_falls_and_more_is_tried_ever_more_rarely() -> None:
    bandwidth = Bandwidth()
    now = 100.0

    def limit() -> int | None:
        return bandwidth.limit

    def second(size: int) -> None:
        nonlocal now
        bandwidth.count(size // 8)
        now += 1.0
        bandwidth.measure(now)

    def seconds_until_free() -> int:
        count = 0
        while limit() is not None:
            second(500_000)
            count += 1
        return count

    bandwidth.measure(now)
    second(2_000_000)
    bandwidth.estimate(300_000, now)
    assert limit() is None  # it follows slowly
    bandwidth.estimate(1_900_000, now)
    bandwidth.estimate(1_500_000, now)
    assert limit() == 1_500_000
    first = seconds_until_free()
    second(2_000_000)
    bandwidth.lose(0.05, now)
    assert limit() is None
    bandwidth.lose(0.3, now)
    assert limit() == pytest.approx(1_400_000)
    assert seconds_until_free() >= 2 * first - 2
