"""What the voice process is told of who may speak, whatever else changes meanwhile."""

import asyncio
from typing import Any

import pytest
from msgspec import Raw

from moothall.app import voice_states
from moothall.app.voice_process import VoiceProcess, VoiceSocket
from moothall.app.voice_states import VoiceStates
from moothall.bus import Audience, Envelope
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import encode
from moothall.settings import Settings
from moothall.storage.database import StorageUnavailable
from moothall.voice.link import Participant
from tests.support.harness import VOICE, Caller, Guild, Platform


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person("owner"))


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the voice process was sent, which never runs."""
    sent: list[Any] = []
    monkeypatch.setattr(VoiceProcess, "tell", lambda _process, message: sent.append(message))
    monkeypatch.setattr(VoiceProcess, "ensure_started", lambda _process: None)
    return sent


def announce(platform: Platform, guild: Guild, person: Caller, channel_id: int, *, self_mute: bool) -> None:
    state = {"user_id": str(person.id), "session_id": "s", "channel_id": str(channel_id), "self_mute": self_mute}
    envelope = Envelope(
        name="VOICE_STATE_UPDATE", data=Raw(encode(state)), audience=Audience.GUILD, guild_id=GuildId(guild.id)
    )
    platform.bus.publish([envelope])


async def until_silent(messages: list[Any]) -> None:
    async with asyncio.timeout(30):
        while not (isinstance(messages[-1], Participant) and not messages[-1].may_speak):  # noqa: ASYNC110 no event
            await asyncio.sleep(0.005)


@pytest.fixture
def states(platform: Platform, messages: list[Any]) -> VoiceStates:
    del messages
    return VoiceStates(platform.services, platform.bus, Settings(), VoiceSocket())


async def test_who_lost_speak_may_not_speak_for_a_moment_when_they_unmute(
    platform: Platform, guild: Guild, states: VoiceStates, messages: list[Any]
) -> None:
    bob = await platform.person("bob")
    await guild.join(bob)
    channel = await guild.channel(type=VOICE)
    announce(platform, guild, bob, channel, self_mute=False)
    assert messages[-1].may_speak
    overwrite = {"type": 0, "allow": "0", "deny": str(int(Permissions.SPEAK))}
    assert (await guild.owner.put(f"/channels/{channel}/permissions/{guild.id}", overwrite)).status == 204
    await until_silent(messages)
    messages.clear()
    for self_mute in (True, False):
        announce(platform, guild, bob, channel, self_mute=self_mute)
    assert [message.may_speak for message in messages] == [False, False]
    await states.stop()


async def test_permissions_that_could_not_be_read_are_read_again(
    platform: Platform, guild: Guild, states: VoiceStates, messages: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = await platform.person("bob")
    await guild.join(bob)
    channel = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.SPEAK)])
    monkeypatch.setattr(voice_states, "_RETRY_SECONDS", 0.01)
    read, failures = platform.services.states.authority, 2

    async def authority(*arguments: Any, **options: Any) -> Any:
        nonlocal failures
        if failures:
            failures -= 1
            raise StorageUnavailable("away")
        return await read(*arguments, **options)

    monkeypatch.setattr(platform.services.states, "authority", authority)
    announce(platform, guild, bob, channel, self_mute=False)
    await until_silent(messages)
    assert failures == 0
    await states.stop()
