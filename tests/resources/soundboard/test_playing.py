"""Playing sounds in voice channels (resources: soundboard)."""

from typing import Any

import pytest
from sqlalchemy import bindparam, update

from moothall.objects.ids import ChannelId
from moothall.objects.permissions import Permissions
from moothall.resources.voice.operations.sessions import handle_voice_update
from moothall.storage.database import Query
from moothall.storage.schema import members
from tests.resources.guild.pictures import picture
from tests.resources.soundboard.sound_files import mp3, uri
from tests.support.harness import STAGE, VOICE, Caller, Guild, Platform, Reply

PLAYED = "VOICE_CHANNEL_EFFECT_SEND"
SOUND = uri(mp3(1))


async def enter(
    platform: Platform,
    guild: Guild,
    who: Caller,
    channel: ChannelId,
    *,
    self_mute: bool = False,
    self_deaf: bool = False,
) -> None:
    assert await handle_voice_update(
        platform.services,
        user_id=who.id,
        session_id=f"s{who.id}",
        guild_id=guild.id,
        channel_id=channel,
        self_mute=self_mute,
        self_deaf=self_deaf,
        self_video=False,
    )


async def play(who: Caller, channel: ChannelId, sound: Any, **fields: Any) -> Reply:
    return await who.post(f"/channels/{channel}/send-soundboard-sound", {"sound_id": str(sound), **fields})


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


@pytest.fixture
async def lobby(guild: Guild) -> ChannelId:
    return await guild.channel(type=VOICE)


async def test_only_users_in_the_channel_receive_the_effect(platform: Platform, guild: Guild, lobby: ChannelId) -> None:
    owner, bob, carol = guild.owner, await platform.person(), await platform.person()
    await guild.join(bob, carol)
    emoji = (await owner.post(f"/guilds/{guild.id}/emojis", {"name": "moot", "image": picture()})).json["id"]
    made = {"name": "gong", "sound": SOUND, "volume": 0.25, "emoji_id": emoji}
    sound = (await owner.post(f"/guilds/{guild.id}/soundboard-sounds", made)).json["sound_id"]
    await enter(platform, guild, owner, lobby)
    await enter(platform, guild, bob, lobby, self_mute=True)
    await enter(platform, guild, carol, await guild.channel(type=VOICE))
    platform.heard.clear()
    assert (await play(bob, lobby, sound)).status == 204
    assert platform.heard_names == [PLAYED]
    assert set(platform.heard[0].user_ids) == {int(owner.id), int(bob.id)}
    assert platform.heard_data(PLAYED) == [
        {
            "channel_id": str(int(lobby)),
            "guild_id": str(int(guild.id)),
            "user_id": str(int(bob.id)),
            "emoji": {"id": emoji, "name": "moot", "animated": False},
            "animation_type": 1,
            "animation_id": 0,
            "sound_id": sound,
            "sound_volume": 0.25,
        }
    ]


async def test_default_sounds_can_be_played_anywhere(platform: Platform, guild: Guild, lobby: ChannelId) -> None:
    await enter(platform, guild, guild.owner, lobby)
    assert (await play(guild.owner, lobby, 1)).status == 204
    effect = platform.heard_data(PLAYED)[0]
    assert (effect["sound_id"], effect["sound_volume"], effect["emoji"]) == ("1", 1.0, {"id": None, "name": "🔔"})


async def test_absent_or_muted_users_cannot_play_sounds(platform: Platform, guild: Guild, lobby: ChannelId) -> None:
    bob, elsewhere = await platform.person(), await guild.channel(type=VOICE)
    await guild.join(bob)
    assert (await play(bob, guild.general, 1)).code == 50024
    assert (await play(bob, lobby, 1)).code == 40032
    await enter(platform, guild, bob, elsewhere)
    assert (await play(bob, lobby, 1)).code == 40032
    await enter(platform, guild, bob, lobby, self_deaf=True)
    assert (await play(bob, lobby, 1)).code == 50167
    await enter(platform, guild, bob, lobby)
    for what in ("mute", "deaf"):
        change = Query(update(members).where(members.c.user_id == bindparam("of_user")).values({what: bindparam("on")}))
        for on in (True, False):
            async with platform.database.transaction() as tx:
                await tx.execute(change, of_user=bob.id, on=on)
            platform.heard.clear()
            reply = await play(bob, lobby, 1)
            assert (reply.status, platform.heard_names) == ((403, []) if on else (204, [PLAYED]))
    stage = await guild.channel(type=STAGE)
    await enter(platform, guild, bob, stage)
    assert (await play(bob, stage, 1)).code == 50167


@pytest.mark.parametrize("missing", [Permissions.SPEAK, Permissions.USE_SOUNDBOARD])
async def test_playing_needs_speak_and_use_soundboard_in_the_channel(
    platform: Platform, guild: Guild, missing: int
) -> None:
    bob = await platform.person()
    await guild.join(bob)
    quiet = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, missing)])
    await enter(platform, guild, bob, quiet)
    platform.heard.clear()
    reply = await play(bob, quiet, 1)
    assert (reply.status, reply.code, platform.heard) == (403, 50013, [])


async def test_a_sound_of_another_guild_needs_membership_and_a_permission(
    platform: Platform, guild: Guild, lobby: ChannelId
) -> None:
    bob, other = await platform.person(), await platform.guild(await platform.person())
    await guild.join(bob)
    sound = (await other.owner.post(f"/guilds/{other.id}/soundboard-sounds", {"name": "gong", "sound": SOUND})).json[
        "sound_id"
    ]
    strict = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.USE_EXTERNAL_SOUNDS)])
    source = {"source_guild_id": str(int(other.id))}
    await enter(platform, guild, bob, lobby)
    assert (await play(bob, lobby, sound, **source)).code == 10097
    await other.join(bob)
    assert (await play(bob, lobby, sound)).code == 10097
    platform.heard.clear()
    assert (await play(bob, lobby, sound, **source)).status == 204
    assert platform.heard_data(PLAYED)[0]["guild_id"] == str(int(guild.id))
    await enter(platform, guild, bob, strict)
    assert (await play(bob, strict, sound, **source)).code == 50013
    assert (await play(bob, strict, 1)).status == 204


async def test_unknown_sounds_are_refused(platform: Platform, guild: Guild, lobby: ChannelId) -> None:
    await enter(platform, guild, guild.owner, lobby)
    platform.heard.clear()
    assert (await play(guild.owner, lobby, 99)).code == 10097
    assert (await play(guild.owner, lobby, "x")).errors_at("sound_id") == ["NUMBER_TYPE_COERCE"]
    reply = await guild.owner.post(f"/channels/{lobby}/send-soundboard-sound", {})
    assert reply.errors_at("sound_id") == ["BASE_TYPE_REQUIRED"]
    assert platform.heard == []
