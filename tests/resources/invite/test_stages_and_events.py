"""The scheduled event and the stage instance in an invite object."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from moothall.resources.voice.operations.sessions import handle_voice_update
from tests.resources.scheduled_event.planning import external, path_of, plan, within
from tests.support.harness import STAGE, VOICE, Guild, Platform


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


async def code_to(guild: Guild, channel: int) -> str:
    code: str = (await guild.owner.post(f"/channels/{channel}/invites", {})).json["code"]
    return code


async def test_an_invite_shows_the_requested_event(platform: Platform, guild: Guild) -> None:
    event = await plan(guild.owner, guild, external())
    path = f"/invites/{await code_to(guild, guild.general)}"

    async def shown(event_id: Any) -> Any:
        reply = await platform.anonymous.get(path, guild_scheduled_event_id=event_id)
        assert reply.status == 200
        return reply.json.get("guild_scheduled_event")

    assert await shown(event["id"]) == event | {"user_count": 0}
    elsewhere = await platform.guild(guild.owner)
    foreign = await plan(guild.owner, elsewhere, external())
    assert [await shown(foreign["id"]), await shown(1)] == [None, None]
    assert "guild_scheduled_event" not in (await platform.anonymous.get(path)).json
    await guild.owner.patch(path_of(event), {"status": 4})
    assert await shown(event["id"]) is None
    assert (await platform.anonymous.get(path, guild_scheduled_event_id="x")).errors_at("guild_scheduled_event_id")


async def test_an_invite_does_not_reveal_a_hidden_event(platform: Platform, guild: Guild) -> None:
    secret = [(guild.id, 0, 0, Permissions.VIEW_CHANNEL)]
    hidden = await guild.channel(type=VOICE, overwrites=secret)
    event = await plan(guild.owner, guild, within(hidden))
    lounge = await guild.channel(type=VOICE)
    open_event = await plan(guild.owner, guild, within(lounge))
    path = f"/invites/{await code_to(guild, guild.general)}"

    async def sees(caller: Any, where: str, event: dict[str, Any]) -> bool:
        return "guild_scheduled_event" in (await caller.get(where, guild_scheduled_event_id=event["id"])).json

    assert not await sees(platform.anonymous, path, event)
    assert await sees(platform.anonymous, path, open_event)
    assert await sees(guild.owner, path, event)
    assert not await sees(await guild.member_with(0), path, event)
    # An invite to the channel itself shows its events.
    assert await sees(platform.anonymous, f"/invites/{await code_to(guild, hidden)}", event)


async def test_an_invite_to_a_public_stage_lists_its_speakers(platform: Platform, guild: Guild) -> None:
    stage = await guild.channel(type=STAGE)
    path = f"/invites/{await code_to(guild, stage)}"
    listener = await guild.member_with(0)
    for who in (guild.owner, listener):
        assert await handle_voice_update(
            platform.services, user_id=who.id, session_id=who.name, guild_id=guild.id, channel_id=stage,
            self_mute=False, self_deaf=False, self_video=False,
        )  # fmt: skip
    await guild.owner.patch(f"/guilds/{guild.id}/voice-states/@me", {"suppress": False})
    await guild.owner.post("/stage-instances", {"channel_id": str(stage), "topic": "Open house"})
    assert "stage_instance" not in (await platform.anonymous.get(path)).json
    await guild.owner.patch(f"/stage-instances/{stage}", {"privacy_level": 1})
    shown = (await platform.anonymous.get(path)).json["stage_instance"]
    assert [member["user"]["id"] for member in shown.pop("members")] == [str(guild.owner.id)]
    assert shown == {"participant_count": 2, "speaker_count": 1, "topic": "Open house"}
