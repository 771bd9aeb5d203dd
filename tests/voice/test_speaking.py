"""Members of voice channels hear each other, and no one else does."""

from urllib.parse import urlsplit

import pytest

from moothall.voice.encryption import MODES
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
