"""Members of voice channels hear each other, and no one else does."""

from urllib.parse import urlsplit

import pytest

from moothall.voice.encryption import MODES
from moothall.voice.packets import RECEIVER_REPORT
from tests.voice.conftest import Hall


@pytest.mark.parametrize("mode", MODES)
async def test_what_one_says_is_what_the_others_hear(hall: Hall, mode: str) -> None:
    alice, bob = await hall.member(), await hall.member()
    speaking, update = await hall.in_voice(alice, mode=mode)
    assert update["endpoint"] == urlsplit(hall.server.url).netloc
    assert update["guild_id"] == hall.guild_id
    listening, _ = await hall.in_voice(bob)

    connected = await speaking.message(11)
    assert connected == {"user_ids": [bob.user_id]}
    await speaking.send(5, {"speaking": 1, "delay": 0, "ssrc": speaking.ready["ssrc"]})
    assert await listening.message(5) == {"speaking": 1, "ssrc": speaking.ready["ssrc"], "user_id": alice.user_id}
    for number in range(50):
        speaking.say(b"frame %d" % number, sequence=number)
    heard = [await listening.hear() for _ in range(50)]

    assert heard == [(speaking.ready["ssrc"], b"frame %d" % number) for number in range(50)]


async def test_sources_extensions_and_sender_reports_are_passed_on_and_receptions_reported(hall: Hall) -> None:
    alice, bob = await hall.member(), await hall.member()
    speaking, _ = await hall.in_voice(alice)
    listening, _ = await hall.in_voice(bob)
    assert speaking.cipher is not None
    assert listening.cipher is not None
    ssrc = speaking.ready["ssrc"].to_bytes(4, "big")

    # One contributing source, and an extension of one word, whose content is encrypted with the rest.
    header = b"\x91\x78\0\1\0\0\0\2" + ssrc + b"\0\0\0\7" + b"\xbe\xde\0\1"
    number = (1).to_bytes(4, "big")
    speaking.udp.send(header + speaking.cipher.encrypt(number, b"wordopus", header) + number)
    sender_report = b"\x80\xc8\0\6" + ssrc
    number = (2).to_bytes(4, "big")
    speaking.udp.send(sender_report + speaking.cipher.encrypt(number, bytes(20), sender_report) + number)

    received: list[bytes] = []
    while len(received) < 2:
        data = await listening.datagram()
        assert data is not None
        if data[1] != RECEIVER_REPORT:
            received.append(data)
    packet, report = received
    assert packet.startswith(header)
    assert listening.cipher.decrypt(packet[-4:], packet[20:-4], header) == b"wordopus"
    assert report.startswith(sender_report)
    assert listening.cipher.decrypt(report[-4:], report[8:-4], sender_report) == bytes(20)
    own = await speaking.datagram()
    while own is None or own[1] != RECEIVER_REPORT or own[0] != 0x81:
        own = await speaking.datagram()
    block = speaking.cipher.decrypt(own[-4:], own[8:-4], own[:8])
    assert block is not None
    assert block[:4] == ssrc
