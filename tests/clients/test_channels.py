"""Channels of every kind, as discord.py makes, changes and copies them."""

from collections.abc import AsyncIterator

import discord
import pytest

from tests.clients.bots import Harbour, soon, until
from tests.clients.live import World


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A community with a bot online in it."""
    async with Harbour.opened(world) as opened:
        await opened.guild.edit(
            community=True,
            rules_channel=opened.channel,
            public_updates_channel=opened.channel,
            explicit_content_filter=discord.ContentFilter.all_members,
            verification_level=discord.VerificationLevel.low,
        )
        await until(lambda: "COMMUNITY" in opened.guild.features)
        yield opened


async def test_a_community_has_channels_of_every_type(harbour: Harbour) -> None:
    guild = harbour.guild
    assert guild.rules_channel == harbour.channel
    news = await guild.create_text_channel("news", news=True)
    stage = await guild.create_stage_channel("Stage", user_limit=500)
    forum = await guild.create_forum(
        "questions",
        topic="Ask",
        available_tags=[discord.ForumTag(name="open", emoji="⚓"), discord.ForumTag(name="closed", moderated=True)],
        default_reaction_emoji="👍",
        default_sort_order=discord.ForumOrderType.creation_date,
        default_layout=discord.ForumLayoutType.list_view,
        default_auto_archive_duration=4320,
        default_thread_slowmode_delay=30,
    )
    gallery = await guild.create_forum("gallery", media=True)
    assert news.is_news()
    assert isinstance(stage, discord.StageChannel)
    assert [(tag.name, str(tag.emoji) if tag.emoji else None, tag.moderated) for tag in forum.available_tags] == [
        ("open", "⚓", False),
        ("closed", None, True),
    ]
    assert str(forum.default_reaction_emoji) == "👍"
    assert forum.default_sort_order is discord.ForumOrderType.creation_date
    assert forum.default_layout is discord.ForumLayoutType.list_view
    assert (forum.default_auto_archive_duration, forum.default_thread_slowmode_delay) == (4320, 30)
    assert gallery.is_media()
    await until(lambda: guild.get_channel(gallery.id) is not None)
    assert {type(channel) for channel in guild.channels} == {
        discord.CategoryChannel,
        discord.TextChannel,
        discord.VoiceChannel,
        discord.StageChannel,
        discord.ForumChannel,
    }
    edited = await forum.edit(available_tags=[forum.available_tags[1]], require_tag=True, topic="Ask well")
    assert edited is not None
    assert [tag.name for tag in edited.available_tags] == ["closed"]
    assert edited.flags.require_tag
    plain = await news.edit(type=discord.ChannelType.text)
    assert plain is not None
    assert not plain.is_news()


async def test_leaving_the_community_takes_its_feature_away(harbour: Harbour) -> None:
    await harbour.guild.edit(community=False)
    await until(lambda: "COMMUNITY" not in harbour.guild.features)


async def test_a_channel_is_cloned_with_its_settings_and_overwrites(harbour: Harbour) -> None:
    await harbour.channel.edit(topic="copied", slowmode_delay=7, nsfw=True)
    await harbour.channel.set_permissions(harbour.guild.default_role, send_messages=False)
    await until(lambda: bool(harbour.channel.overwrites))
    copy = await harbour.channel.clone(name="copy")
    assert (copy.name, copy.topic, copy.slowmode_delay, copy.nsfw) == ("copy", "copied", 7, True)
    assert copy.overwrites == harbour.channel.overwrites
    assert copy.category == harbour.channel.category


async def test_a_channel_takes_the_permissions_of_its_category(harbour: Harbour) -> None:
    guild = harbour.guild
    docks = await guild.create_category(
        "Docks", overwrites={guild.default_role: discord.PermissionOverwrite(add_reactions=False)}
    )
    channel = await docks.create_text_channel("berths")
    await until(lambda: channel.permissions_synced)
    await channel.set_permissions(guild.me, send_messages=True)
    await until(lambda: not channel.permissions_synced)
    await channel.edit(sync_permissions=True)
    await until(lambda: channel.permissions_synced)
    await channel.edit(overwrites={})
    await until(lambda: not channel.overwrites)


async def test_a_category_that_goes_leaves_its_channels(harbour: Harbour) -> None:
    docks = await harbour.guild.create_category("Docks")
    channel = await docks.create_text_channel("berths")
    await docks.delete()
    await until(lambda: channel.category is None and channel.category_id is None)
    assert harbour.guild.get_channel(channel.id) == channel


async def test_a_voice_channel_has_text_and_a_stage_has_speakers(harbour: Harbour) -> None:
    radio = await harbour.guild.create_voice_channel("Radio", video_quality_mode=discord.VideoQualityMode.full)
    assert radio.video_quality_mode is discord.VideoQualityMode.full
    assert (await radio.send("over")).channel == radio
    stage = await harbour.guild.create_stage_channel("Stage")
    entered = soon(harbour.client, "voice_state_update")
    await harbour.guild.change_voice_state(channel=stage)
    _, _, after = await entered
    assert after.suppress
    speaking = soon(harbour.client, "voice_state_update")
    await harbour.guild.me.edit(suppress=False)
    assert not (await speaking)[2].suppress
    await until(lambda: stage.speakers == [harbour.guild.me])
    assert await harbour.client.http.get_all_guild_channels(harbour.guild.id)


async def test_the_owner_is_told_of_and_cannot_be_replaced_by_a_bot(harbour: Harbour) -> None:
    guest = await harbour.guest()
    member = harbour.guild.get_member(guest.id)
    assert member is not None
    with pytest.raises(ValueError, match="ownership"):
        await harbour.guild.edit(owner=member)  # discord.py itself knows that only the owner may
    updated = soon(harbour.client, "guild_update")
    await harbour.owner.patch(f"/guilds/{harbour.guild.id}", {"owner_id": str(guest.id)})
    assert (await updated)[1].owner == member


async def test_roles_count_their_members(harbour: Harbour) -> None:
    role = await harbour.guild.create_role(name="Watch")
    await harbour.guild.me.add_roles(role)
    await until(lambda: role.members == [harbour.guild.me])
    counts = await harbour.guild.role_member_counts()
    assert {r.id: n for r, n in counts.items()}[role.id] == 1
