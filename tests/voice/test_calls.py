"""Calls in direct messages: their sound, and what else a gateway session is in meanwhile."""

from typing import Any

from tests.voice.client import Gateway
from tests.voice.conftest import Hall


async def call_between(hall: Hall, one: Gateway, other: Gateway) -> str:
    """The id of the direct message of two people who share a guild."""
    channel = await hall.request("POST", "/users/@me/channels", {"recipient_id": other.user_id}, token=one.token)
    return str(channel["id"])


async def join(gateway: Gateway, channel: str) -> Any:
    """Join a call; where to connect for its sound."""
    before = gateway.count("VOICE_SERVER_UPDATE")
    await gateway.socket.send_json(
        {"op": 4, "d": {"guild_id": None, "channel_id": channel, "self_mute": False, "self_deaf": False}}
    )
    return await gateway.event("VOICE_SERVER_UPDATE", skip=before)


async def test_people_in_a_call_hear_each_other_until_they_hang_up(hall: Hall) -> None:
    alice, bob = await hall.member(), await hall.member()
    channel = await call_between(hall, alice, bob)
    voices = []
    for gateway in (alice, bob):
        update = await join(gateway, channel)
        assert (update["guild_id"], update["channel_id"]) == (None, channel)
        voice = await hall.connection()
        await voice.begin(gateway, {**update, "guild_id": channel})
        voices.append(voice)
    first, second = voices
    first.say(b"hello")
    assert await second.hear() == (first.ready["ssrc"], b"hello")
    await hall.request("POST", f"/channels/{channel}/call/ring", {}, token=alice.token)
    await bob.socket.send_json({"op": 4, "d": {"guild_id": None, "channel_id": None}})
    assert await second.closed() == 4014
    assert (await alice.event("CALL_CREATE"))["channel_id"] == channel
    await alice.socket.send_json({"op": 4, "d": {"guild_id": None, "channel_id": None}})
    assert (await bob.event("CALL_DELETE"))["channel_id"] == channel


async def test_who_joins_a_call_leaves_the_voice_channel_and_the_other_way_round(hall: Hall) -> None:
    alice, bob = await hall.member(), await hall.member()
    channel = await call_between(hall, alice, bob)
    voice, _ = await hall.in_voice(alice)
    await join(alice, channel)
    assert await voice.closed() == 4014
    await hall.in_voice(alice)
    assert (await bob.event("CALL_DELETE"))["channel_id"] == channel
