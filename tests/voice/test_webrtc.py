"""The datagrams of browsers: who proves nothing gets no answer, and what is not authentic or new is not passed on."""

import struct
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from moothall.voice.session import PACKETS_PER_SECOND
from moothall.voice.webrtc.description import DescriptionError, Fingerprint, read_offer
from moothall.voice.webrtc.transport import CONSENT_SECONDS, MAX_SOURCES
from tests.voice.in_process import InProcessChannel
from tests.voice.peer import ICE_CONTROLLED, binding_request


@pytest.fixture
async def channel() -> AsyncIterator[InProcessChannel]:
    """A room."""
    async with AsyncExitStack() as stack:
        yield InProcessChannel(stack)


async def test_an_authentic_check_is_answered_with_less_than_it_was(channel: InProcessChannel) -> None:
    peer, _ = await channel.peer()
    answer = await peer.check()
    assert answer is not None
    assert answer[:2] == b"\x01\x01"
    assert len(answer) <= len(peer.request())


@pytest.mark.parametrize("wrong", ["server's name", "own name", "password", "no fingerprint", "damaged"])
async def test_a_check_that_proves_nothing_has_no_answer_and_opens_no_way(
    channel: InProcessChannel, wrong: str
) -> None:
    peer, session = await channel.peer()
    name, password = peer.credentials
    requests = {
        "server's name": binding_request(f"other:{peer.ufrag}", password),
        "own name": binding_request(f"{name}:other", password),
        "password": binding_request(f"{name}:{peer.ufrag}", "x" * 32),
        "no fingerprint": peer.request(fingerprint=False),
        "damaged": peer.request()[:-1] + b"\0\0",
    }
    peer.socket.send(requests[wrong])
    assert await peer.receive(seconds=0.1) is None
    peer.socket.send(peer.flight())
    assert await peer.receive(seconds=0.1) is None
    assert session.browser is not None
    assert not session.browser.paths
    assert channel.datagrams.dropped == 2


async def test_a_client_that_takes_the_servers_role_is_refused(channel: InProcessChannel) -> None:
    peer, session = await channel.peer()
    answer = await peer.check(role=ICE_CONTROLLED)
    assert answer is not None
    assert answer[:2] == b"\x01\x11"
    assert session.browser is not None
    assert not session.browser.paths


async def test_another_certificate_than_the_announced_one_gets_no_keys(channel: InProcessChannel) -> None:
    peer, session = await channel.peer(fingerprint=Fingerprint("sha-256", bytes(32)))
    assert await peer.check() is not None
    await peer.handshake()
    assert session.browser is None
    assert session.address is None


async def test_nothing_is_sent_before_the_handshake_and_a_nomination(channel: InProcessChannel) -> None:
    speaker, _ = await channel.connected()
    peer, session = await channel.peer()
    assert await peer.check(nominates=False) is not None
    assert await peer.handshake()
    speaker.socket.send(speaker.packet(b"unheard", 1))
    assert await peer.hear(seconds=0.1) is None
    assert await peer.check() is not None
    speaker.socket.send(speaker.packet(b"heard", 2))
    assert await peer.hear() is not None
    assert session.address == peer.socket.getsockname()


async def test_the_payload_is_what_was_sent_and_the_source_that_of_ready(channel: InProcessChannel) -> None:
    speaker, speaking = await channel.connected()
    listener, _ = await channel.connected()
    for number in range(65_530, 65_542):
        speaker.socket.send(speaker.packet(b"%d" % number, number))
    for number in range(65_530, 65_542):
        assert await listener.hear() == (speaking.ssrc, number & 0xFFFF, b"%d" % number)


async def test_a_packet_counts_once_and_unchanged_and_with_the_payload_type_of_opus(channel: InProcessChannel) -> None:
    speaker, _ = await channel.connected()
    listener, _ = await channel.connected()
    packet = speaker.packet(b"once", 1)
    changed = bytearray(speaker.packet(b"changed", 2))
    changed[-1] ^= 1
    stranger = listener.new_socket()
    stranger.send(speaker.packet(b"from elsewhere", 3))
    for each in (packet, packet, bytes(changed), speaker.packet(b"video", 4, payload_type=96)):
        speaker.socket.send(each)
    heard = await listener.hear()
    assert heard is not None
    assert heard[2] == b"once"
    assert await listener.hear(seconds=0.1) is None
    assert channel.datagrams.dropped == 4
    stranger.close()


async def test_the_sound_goes_on_at_a_new_address_and_not_at_the_old_one(channel: InProcessChannel) -> None:
    speaker, _ = await channel.connected()
    listener, _ = await channel.connected()
    moved = listener.new_socket()
    assert await listener.check(moved) is not None
    speaker.socket.send(speaker.packet(b"here", 1))
    heard = await listener.hear(moved)
    assert heard is not None
    assert heard[2] == b"here"
    assert await listener.hear(seconds=0.1) is None

    # And what it says from there is heard, with the keys that there are.
    moved.send(listener.packet(b"hello", 1))
    answer = await speaker.hear()
    assert answer is not None
    assert answer[2] == b"hello"
    moved.close()


async def test_restarting_ice_keeps_the_keys_and_another_certificate_ends_them(channel: InProcessChannel) -> None:
    speaker, _ = await channel.connected()
    listener, session = await channel.connected()
    browsers, context = channel.datagrams.browsers, await channel.datagrams.browsers.context()
    for number in range(4):
        listener.ufrag = f"again{number}"
        listener.offer = listener.offer._replace(ufrag=listener.ufrag)
        listener.credentials = browsers.select(session, listener.offer, context).credentials[0]
        assert await listener.check() is not None
        speaker.socket.send(speaker.packet(b"%d" % number, number))
        heard = await listener.hear()
        assert heard is not None
        assert heard[2] == b"%d" % number
    assert len(channel.rooms.by_ufrag) == 3  # two of the listener, one of the speaker

    browsers.select(session, listener.offer._replace(fingerprint=Fingerprint("sha-256", bytes(32))), context)
    assert session.address is None
    assert await listener.check() is None


async def test_no_client_takes_the_address_of_another_one_that_is_there(channel: InProcessChannel) -> None:
    victim, session = await channel.connected()
    thief, _ = await channel.peer()
    own, thief.socket = thief.socket, victim.socket
    assert await thief.check() is None
    assert session.address == victim.socket.getsockname()
    assert channel.rooms.by_address[victim.socket.getsockname()] is session
    own.close()


async def test_a_flood_is_cut_off_and_sources_are_few(channel: InProcessChannel) -> None:
    speaker, session = await channel.connected()
    for number in range(PACKETS_PER_SECOND + 50):
        speaker.socket.send(speaker.packet(b"", number, ssrc=number + 1))
        if number % 50 == 0:
            assert await speaker.receive(seconds=0.02) is None
    assert await speaker.receive(seconds=0.1) is None
    assert session.browser is not None
    assert len(session.browser.sources) <= MAX_SOURCES
    assert channel.datagrams.dropped > 50


async def test_a_browser_that_no_longer_checks_gets_nothing_until_it_does(channel: InProcessChannel) -> None:
    speaker, _ = await channel.connected()
    listener, session = await channel.connected()
    assert session.browser is not None
    channel.datagrams.browsers.expire(session.browser.checked_at + CONSENT_SECONDS + 1)
    assert session.address is None
    speaker.socket.send(speaker.packet(b"unheard", 1))
    assert await listener.hear(seconds=0.1) is None
    assert await listener.check(nominates=False) is not None
    speaker.socket.send(speaker.packet(b"heard", 2))
    heard = await listener.hear()
    assert heard is not None
    assert heard[2] == b"heard"


async def test_sound_goes_on_after_a_gap_of_any_length_and_late_packets_come_too(channel: InProcessChannel) -> None:
    _, speaking = await channel.connected()
    listener, _ = await channel.connected()
    number, last = 1, 0
    for gap in (1, 200, 20_000, 32_768, 40_000, 65_000, 5, -2, 3):
        number += gap
        header = struct.pack(">BBHII", 0x80, 120, number & 0xFFFF, 960 * number, speaking.ssrc)
        channel.datagrams.forwarding.forward(speaking, header, b"%d" % number)
        heard = await listener.hear(seconds=1.0)
        assert heard is not None, gap
        assert heard[2] == b"%d" % number
        assert 0 < (heard[1] - last) & 0xFFFF < 20_001 or gap < 0
        last = heard[1]


async def test_a_wish_not_to_hear_a_source_ends_its_packets(channel: InProcessChannel) -> None:
    speaker, speaking = await channel.connected()
    listener, session = await channel.connected()
    for unwanted in (frozenset({speaking.ssrc}), frozenset[int]()):
        session.unwanted = unwanted
        channel.rooms.room_of(session).renew_receivers()
        speaker.socket.send(speaker.packet(b"", len(unwanted)))
        speaker.socket.send(speaker.packet(b"x", 5 - len(unwanted)))
        assert (await listener.hear(seconds=0.2) is None) is bool(unwanted)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a=ice-ufrag:abcd\na=fingerprint:sha-256 " + "00:" * 31 + "00",
        "a=ice-ufrag:abcd\na=ice-pwd:" + "x" * 22,
        "a=ice-ufrag:abcd\na=ice-pwd:" + "x" * 22 + "\na=fingerprint:sha-1 " + "00:" * 19 + "00",
        "a=ice-ufrag:a b\na=ice-pwd:" + "x" * 22 + "\na=fingerprint:sha-256 " + "00:" * 31 + "00",
    ],
)
def test_an_offer_without_what_is_needed_is_refused(text: str) -> None:
    with pytest.raises(DescriptionError):
        read_offer(text + "\na=rtpmap:111 opus/48000/2", [])
