"""The voice gateway: who may connect, what is sent again, and why connections are closed."""

import asyncio
import struct
from typing import Any

import pytest

from tests.voice.conftest import Hall


async def joined(hall: Hall) -> tuple[Any, Any]:
    """A member who has joined, and VOICE_SERVER_UPDATE."""
    alice = await hall.member()
    await alice.join(hall.guild_id, hall.channels["General"])
    return alice, await alice.event("VOICE_SERVER_UPDATE")


@pytest.mark.parametrize("version", [4, 5, 6, 7, 8])
async def test_each_version_has_its_heartbeats_and_only_the_last_one_numbers(hall: Hall, version: int) -> None:
    alice, update = await joined(hall)
    voice = await hall.connection(version=version)
    assert await voice.message(8) == {"v": version, "heartbeat_interval": 13750}
    await voice.begin(alice, update)

    await voice.send(3, {"t": 17, "seq_ack": voice.seq_ack} if version == 8 else 17)

    assert await voice.message(6) == ({"t": 17} if version == 8 else 17)
    assert voice.numbers == ([1, 2] if version == 8 else voice.numbers)


@pytest.mark.parametrize("wrong", ["token", "session_id", "user_id", "server_id"])
async def test_a_token_is_of_one_session_in_one_guild(hall: Hall, wrong: str) -> None:
    alice, update = await joined(hall)
    voice = await hall.connection()

    await voice.identify(alice, update, **{wrong: "1"})

    assert await voice.closed() == 4004


@pytest.mark.parametrize(
    ("op", "data", "code"),
    [
        (99, None, 4001),
        (1, {"protocol": "udp"}, 4002),
        (1, {"protocol": "webrtc-p2p", "data": {"address": "127.0.0.1", "port": 1, "mode": "x"}}, 4012),
        (1, {"protocol": "udp", "data": {"address": "127.0.0.1", "port": 1, "mode": "xsalsa20_poly1305"}}, 4016),
        (1, {"protocol": "udp", "data": {"address": "192.0.2.1", "port": 9, "mode": "aead_aes256_gcm_rtpsize"}}, 4020),
        (5, {"speaking": 1, "ssrc": 4_000_000_001}, 4020),
        (0, {"server_id": "1", "user_id": "1", "session_id": "", "token": ""}, 4005),
    ],
)
async def test_a_wrong_message_closes_with_its_code(hall: Hall, op: int, data: Any, code: int) -> None:
    alice, update = await joined(hall)
    voice = await hall.connection()
    await voice.identify(alice, update)
    await voice.message(2)

    await voice.send(op, data)

    assert await voice.closed() == code


async def test_before_identifying_nothing_else_is_taken(hall: Hall) -> None:
    await joined(hall)
    early, garbage = await hall.connection(), await hall.connection()
    await early.send(5, {"speaking": 1})
    await garbage.socket.send_str("{")
    assert await early.closed() == 4003
    assert await garbage.closed() == 4002


async def test_a_flood_of_messages_ends_one_connection_alone(hall: Hall) -> None:
    alice, bob = await hall.member(), await hall.member()
    flooding, _ = await hall.in_voice(alice)
    beside, _ = await hall.in_voice(bob)

    for _ in range(300):
        await flooding.send(5, {"speaking": 1, "delay": 0, "ssrc": 0})

    assert await flooding.closed() == 4021
    await beside.send(3, {"t": 5, "seq_ack": beside.seq_ack})
    assert await beside.message(6) == {"t": 5}


async def test_a_client_that_resumes_gets_what_it_missed_and_is_heard_meanwhile(hall: Hall) -> None:
    alice, bob = await hall.member(), await hall.member()
    before, update = await hall.in_voice(alice)
    listening, _ = await hall.in_voice(bob)
    await before.message(11)
    seen = before.seq_ack
    before.socket._response.connection.transport.abort()  # type: ignore[union-attr]
    await before.closed()
    await listening.send(5, {"speaking": 1, "delay": 0, "ssrc": listening.ready["ssrc"]})
    await asyncio.sleep(0.1)
    before.say(b"still here")
    assert await listening.hear() == (before.ready["ssrc"], b"still here")

    again = await hall.connection()
    body = {"server_id": hall.guild_id, "session_id": alice.session_id, "token": update["token"], "seq_ack": seen}
    await again.send(7, body)

    assert await again.message(9) is None
    assert (await again.message(5))["user_id"] == bob.user_id
    assert again.numbers[0] == seen + 1
    stale = await hall.connection()
    await stale.send(7, body | {"token": "0" * 32})
    assert await stale.closed() == 4006


async def test_another_connection_of_the_same_session_replaces_the_first(hall: Hall) -> None:
    alice, update = await joined(hall)
    first, second = await hall.connection(), await hall.connection()
    await first.begin(alice, update)
    await second.begin(alice, update)
    assert await first.closed() == 4006
    assert second.ready["ssrc"] != first.ready["ssrc"]


async def test_who_asks_again_for_the_channel_they_are_in_is_told_again_where_to_connect(hall: Hall) -> None:
    alice, update = await joined(hall)
    await alice.join(hall.guild_id, hall.channels["General"])
    assert await alice.event("VOICE_SERVER_UPDATE", skip=1) == update
    assert alice.count("VOICE_STATE_UPDATE") == 2


async def test_the_answer_to_address_discovery_is_repeated_until_a_protocol_is_selected(hall: Hall) -> None:
    alice, update = await joined(hall)
    voice = await hall.connection()
    await voice.identify(alice, update)
    voice.ready = await voice.message(2)
    voice.udp.connect((voice.ready["ip"], voice.ready["port"]))
    voice.udp.send(struct.pack(">HHI", 1, 70, voice.ready["ssrc"]) + bytes(66))
    lost = await voice.datagram()
    assert lost is not None
    assert await voice.datagram() == lost
    await voice.select()
    while (data := await voice.datagram(seconds=2.0)) is not None:
        assert len(data) != len(lost)


async def test_packets_count_only_from_their_session_once_and_as_they_were_encrypted(hall: Hall) -> None:
    alice, bob = await hall.member(), await hall.member()
    speaking, _ = await hall.in_voice(alice)
    listening, _ = await hall.in_voice(bob)
    spoofing = await hall.connection()
    first = speaking.say(b"first", sequence=1)
    assert await listening.hear() == (speaking.ready["ssrc"], b"first")

    speaking.udp.send(first)  # replayed
    speaking.say(b"of another", sequence=2, ssrc=listening.ready["ssrc"])
    forged = bytearray(speaking.packet(b"forged", sequence=3))
    forged[1] ^= 0x80  # the header is authenticated
    speaking.udp.send(forged)
    spoofing.udp.sendto(speaking.packet(b"from elsewhere"), speaking.udp.getpeername())
    speaking.udp.send(struct.pack(">HHI", 1, 70, 12345) + bytes(66))  # discovery of no one
    speaking.say(b"last", sequence=4)

    assert await listening.hear() == (speaking.ready["ssrc"], b"last")
    assert await listening.hear(seconds=0.2) is None


async def test_a_client_cannot_take_the_address_of_another_one_that_is_there(hall: Hall) -> None:
    alice, bob = await hall.member(), await hall.member()
    of_alice, _ = await hall.in_voice(alice)
    of_alice.say(b"here", sequence=1)
    await bob.join(hall.guild_id, hall.channels["General"])
    of_bob = await hall.connection()
    await of_bob.identify(bob, await bob.event("VOICE_SERVER_UPDATE"))
    of_bob.ready = await of_bob.message(2)
    of_bob.udp.close()
    of_bob.udp = of_alice.udp
    while await of_alice.datagram(seconds=0.05) is not None:
        pass

    with pytest.raises(AssertionError, match="closed with 4020"):
        await of_bob.select()


async def test_packets_that_arrive_out_of_order_are_passed_on(hall: Hall) -> None:
    alice, bob = await hall.member(), await hall.member()
    speaking, _ = await hall.in_voice(alice)
    listening, _ = await hall.in_voice(bob)
    for number in (5, 2, 9, 7):
        speaking.say(b"%d" % number, sequence=number, nonce=number)
    assert [(await listening.hear() or (0, b""))[1] for _ in range(4)] == [b"5", b"2", b"9", b"7"]
