"""What a member may do in a voice channel holds for their packets, at once after the change."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.voice.client import SOON, Gateway, Voice
from tests.voice.conftest import Hall

WAIT = 0.2
"""Seconds within which a packet arrives on a busy machine."""


class Pair:
    """Two members in one channel: what the first says is heard by the second, or not."""

    def __init__(self, hall: Hall, speaker: Gateway, listener: Gateway, speaking: Voice, listening: Voice) -> None:
        self.hall = hall
        self.speaker = speaker
        self.listener = listener
        self.speaking = speaking
        self.listening = listening
        self._sequence = 0

    async def is_heard(self) -> bool:
        """Whether a packet that is sent now arrives."""
        self._sequence += 1
        body = secrets.token_bytes(40)
        self.speaking.say(body, sequence=self._sequence)
        while (heard := await self.listening.hear(seconds=WAIT)) is not None:
            if heard == (self.speaking.ready["ssrc"], body):
                return True
        return False

    async def becomes(self, *, heard: bool) -> None:
        """Wait until packets arrive, or arrive no longer: some tens of milliseconds, more on a busy machine."""
        async with asyncio.timeout(SOON):
            while await self.is_heard() is not heard:  # noqa: ASYNC110 it sends a packet each time
                await asyncio.sleep(0.01)

    async def modify(self, member: Gateway, **changes: Any) -> None:
        """Modify a member as the owner."""
        await self.hall.request("PATCH", f"/guilds/{self.hall.guild_id}/members/{member.user_id}", changes)

    async def overwrite(self, **permissions: str) -> None:
        """Set what everyone may do in the channel."""
        path = f"/channels/{self.hall.channels['General']}/permissions/{self.hall.guild_id}"
        await self.hall.request("PUT", path, {"type": 0, "allow": "0", "deny": "0", **permissions})

    async def rejoin(self, member: Gateway, **flags: bool) -> None:
        """Change the own voice state."""
        await member.join(self.hall.guild_id, self.hall.channels["General"], **flags)


@pytest.fixture
async def pair(hall: Hall) -> Pair:
    """Two members in General."""
    speaker, listener = await hall.member(), await hall.member()
    speaking, _ = await hall.in_voice(speaker)
    listening, _ = await hall.in_voice(listener)
    await speaking.message(11)
    made = Pair(hall, speaker, listener, speaking, listening)
    assert await made.is_heard()
    return made


Change = Callable[[Pair, bool], Awaitable[None]]
SPEAK = str(1 << 21)

CHANGES: dict[str, Change] = {
    "a server mute": lambda pair, on: pair.modify(pair.speaker, mute=on),
    "a server deafening of the listener": lambda pair, on: pair.modify(pair.listener, deaf=on),
    "a mute by oneself": lambda pair, on: pair.rejoin(pair.speaker, self_mute=on),
    "a deafening by oneself": lambda pair, on: pair.rejoin(pair.listener, self_deaf=on),
    "a denied SPEAK": lambda pair, on: pair.overwrite(deny=SPEAK if on else "0"),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_it_silences_until_it_is_taken_back(pair: Pair, change: str) -> None:
    await CHANGES[change](pair, True)
    await pair.becomes(heard=False)

    await CHANGES[change](pair, False)
    await pair.becomes(heard=True)


async def test_a_moved_member_is_cut_off_and_directed_where_to_connect_now(pair: Pair) -> None:
    hall = pair.hall
    sent_before = pair.speaker.count("VOICE_SERVER_UPDATE")
    await pair.modify(pair.speaker, channel_id=hall.channels["Other"])

    assert await pair.speaking.closed() == 4014
    assert await pair.listening.message(13) == {"user_id": pair.speaker.user_id}
    update = await pair.speaker.event("VOICE_SERVER_UPDATE", skip=sent_before)
    again = await hall.connection()
    await again.begin(pair.speaker, update)
    pair.speaking = again
    assert not await pair.is_heard()


async def test_a_disconnected_member_is_cut_off_and_their_token_is_worth_nothing(pair: Pair) -> None:
    update = await pair.speaker.event("VOICE_SERVER_UPDATE")
    await pair.modify(pair.speaker, channel_id=None)

    assert await pair.speaking.closed() == 4014
    assert not await pair.is_heard()
    again = await pair.hall.connection()
    await again.identify(pair.speaker, update)
    assert await again.closed() == 4004


@pytest.mark.parametrize("end", ["kick", "deleted channel", "gateway"])
async def test_voice_ends_with_what_it_belongs_to(pair: Pair, end: str) -> None:
    hall = pair.hall
    if end == "kick":
        await hall.request("DELETE", f"/guilds/{hall.guild_id}/members/{pair.speaker.user_id}")
    elif end == "deleted channel":
        await hall.request("DELETE", f"/channels/{hall.channels['General']}")
    else:
        await pair.speaker.socket.close()

    assert await pair.speaking.closed() == 4014


async def test_only_those_who_may_lower_the_others_speak_with_priority(pair: Pair) -> None:
    seen = len(pair.listening.all(5))
    await pair.speaking.send(5, {"speaking": 5, "delay": 0, "ssrc": pair.speaking.ready["ssrc"]})
    assert (await pair.listening.message(5, skip=seen))["speaking"] == 1

    await pair.overwrite(allow=str(1 << 8))
    async with asyncio.timeout(SOON):
        while pair.listening.all(5)[-1]["speaking"] != 5:
            await pair.speaking.send(5, {"speaking": 5, "delay": 0, "ssrc": pair.speaking.ready["ssrc"]})
            await asyncio.sleep(0.05)
