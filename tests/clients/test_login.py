"""discord.py logs in and finds everything that READY and GUILD_CREATE fill its caches with."""

import discord
import pytest

from tests.clients.bots import Client, online, soon, until
from tests.clients.crowds import crowd
from tests.clients.live import ADMINISTRATOR, PIXEL, Bot, World


async def test_a_bot_is_ready_as_itself_with_its_application(world: World) -> None:
    owner = await world.resident()
    bot = await world.bot(owner)
    async with online(Client(), bot) as client:
        assert client.user is not None
        assert client.user.bot
        assert client.user.discriminator != ""
        assert client.application is not None
        assert client.application.owner.id == owner.id
        assert client.application_id == client.application.id
        assert not client.guilds
        info = await client.application_info()
        assert info.name == client.application.name
        assert client.application_flags.gateway_message_content_limited


@pytest.mark.usefixtures("world")
async def test_a_wrong_token_is_refused_at_login() -> None:
    with pytest.raises(discord.LoginFailure):
        async with online(Client(), Bot(1, 1, "MTIz.abc.def")):
            pass


async def test_intents_that_the_application_may_not_use_end_the_connection(world: World) -> None:
    bot = await world.bot(await world.resident(), flags=0)
    with pytest.raises(discord.PrivilegedIntentsRequired):
        async with online(Client(), bot):
            pass


async def test_guilds_come_with_their_settings_and_channels_in_order(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(
        owner,
        "Harbour",
        verification_level=2,
        default_message_notifications=1,
        channels=[
            {"id": 1, "type": 4, "name": "Docks"},
            {"id": 2, "type": 0, "name": "berths", "parent_id": 1, "topic": "Who lies where", "rate_limit_per_user": 5},
            {"id": 3, "type": 2, "name": "Radio", "parent_id": 1, "bitrate": 32000, "user_limit": 7},
            {"id": 4, "type": 0, "name": "lost-and-found"},
        ],
        system_channel_id=4,
        afk_channel_id=3,
        afk_timeout=900,
    )
    bot = await world.bot(owner, guild_id)
    async with online(Client(), bot) as client:
        (guild,) = client.guilds
        assert (guild.id, guild.name, guild.owner_id, guild.unavailable) == (guild_id, "Harbour", owner.id, False)
        assert guild.verification_level is discord.VerificationLevel.medium
        assert guild.default_notifications is discord.NotificationLevel.only_mentions
        assert guild.emojis == ()
        assert guild.stickers == ()
        assert guild.afk_timeout == 900
        (docks,) = guild.categories
        berths, lost = discord.utils.get(guild.text_channels, name="berths"), guild.system_channel
        (radio,) = guild.voice_channels
        assert berths is not None
        assert lost is not None
        assert lost.name == "lost-and-found"
        assert guild.afk_channel == radio
        assert docks.channels == [berths, radio]
        assert (berths.category, berths.topic, berths.slowmode_delay) == (docks, "Who lies where", 5)
        assert (radio.category, radio.bitrate, radio.user_limit) == (docks, 32000, 7)
        assert lost.category is None
        assert guild.by_category() == [(None, [lost]), (docks, [berths, radio])]
        assert {c.id for c in await guild.fetch_channels()} == {c.id for c in guild.channels}


async def test_every_type_of_channel_of_a_community_is_known(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    general = await world.text_channel(owner, guild_id)
    await owner.patch(
        f"/guilds/{guild_id}",
        {"features": ["COMMUNITY"], "rules_channel_id": str(general), "public_updates_channel_id": str(general)},
    )
    for kind, name in ((5, "news"), (13, "Stage"), (15, "forum"), (16, "gallery")):
        await owner.post(f"/guilds/{guild_id}/channels", {"type": kind, "name": name})
    bot = await world.bot(owner, guild_id)
    async with online(Client(), bot) as client:
        guild = client.guilds[0]
        assert "COMMUNITY" in guild.features
        assert guild.rules_channel is not None
        assert guild.rules_channel.id == general
        assert [channel.name for channel in guild.text_channels if channel.is_news()] == ["news"]
        assert [channel.name for channel in guild.stage_channels] == ["Stage"]
        assert sorted((channel.name, channel.is_media()) for channel in guild.forums) == [
            ("forum", False),
            ("gallery", True),
        ]


async def test_roles_come_with_colours_permissions_and_tags(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    await owner.post(
        f"/guilds/{guild_id}/roles",
        {
            "name": "Pilot",
            "colors": {"primary_color": 0x3366FF, "secondary_color": None, "tertiary_color": None},
            "hoist": True,
            "mentionable": True,
            "permissions": str(discord.Permissions(kick_members=True, view_channel=True).value),
        },
    )
    bot = await world.bot(owner, guild_id, permissions=ADMINISTRATOR)
    async with online(Client(), bot) as client:
        guild = client.guilds[0]
        pilot = discord.utils.get(guild.roles, name="Pilot")
        assert pilot is not None
        assert (pilot.colour, pilot.hoist, pilot.mentionable) == (discord.Colour(0x3366FF), True, True)
        assert pilot.permissions == discord.Permissions(kick_members=True, view_channel=True)
        assert not pilot.managed
        assert guild.default_role.position == 0
        own = guild.self_role
        assert own is not None
        assert own.managed
        assert own.is_bot_managed()
        assert own.tags is not None
        assert own.tags.bot_id == guild.me.id
        assert own in guild.me.roles
        assert sorted(await guild.fetch_roles()) == sorted(guild.roles)


async def test_overwrites_and_own_permissions_are_what_the_server_computes(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    channel_id = await world.text_channel(owner, guild_id)
    granted = discord.Permissions(view_channel=True, send_messages=True, manage_roles=True, create_public_threads=True)
    denied = discord.Permissions(send_messages=True, add_reactions=True)
    await owner.put(
        f"/channels/{channel_id}/permissions/{guild_id}", {"type": 0, "allow": "0", "deny": str(denied.value)}
    )
    bot = await world.bot(owner, guild_id, permissions=granted.value)
    async with online(Client(), bot) as client:
        assert client.user is not None
        guild = client.guilds[0]
        channel = guild.get_channel(channel_id)
        assert isinstance(channel, discord.TextChannel)
        assert channel.overwrites_for(guild.default_role).pair() == (discord.Permissions.none(), denied)
        assert not channel.permissions_for(guild.me).send_messages
        assert not channel.permissions_for(guild.me).add_reactions
        assert channel.permissions_for(guild.me).create_public_threads
        (listed,) = [entry async for entry in client.fetch_guilds()]
        assert (listed.id, listed.name) == (guild.id, guild.name)
        assert (await client.fetch_guild(guild_id)).name == guild.name
        seen = await client.http.get_guilds(200)
        assert int(seen[0]["permissions"]) == guild.me.guild_permissions.value
        with pytest.raises(discord.Forbidden):
            await channel.send("not here")


async def test_a_channel_that_a_bot_may_not_see_is_not_in_its_cache(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    hidden = await owner.post(
        f"/guilds/{guild_id}/channels",
        {"type": 0, "name": "secret", "permission_overwrites": [{"id": str(guild_id), "type": 0, "deny": "1024"}]},
    )
    bot = await world.bot(owner, guild_id, permissions=0)
    async with online(Client(), bot) as client:
        guild = client.guilds[0]
        assert guild.get_channel(int(hidden["id"])) is None
        seen = soon(client, "guild_channel_create")
        await owner.delete(f"/channels/{hidden['id']}/permissions/{guild_id}")
        assert (await seen).id == int(hidden["id"])
        deleted = soon(client, "guild_channel_delete")
        await owner.put(f"/channels/{hidden['id']}/permissions/{guild_id}", {"type": 0, "allow": "0", "deny": "1024"})
        assert (await deleted).id == int(hidden["id"])
        assert guild.get_channel(int(hidden["id"])) is None


async def test_all_members_are_chunked_at_the_start(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    guests = [await world.person("guest") for _ in range(4)]
    await owner.invite(await world.text_channel(owner, guild_id), *guests)
    bot = await world.bot(owner, guild_id)
    await owner.patch(f"/guilds/{guild_id}/members/{guests[0].id}", {"nick": "First Mate"})
    async with online(Client(), bot) as client:
        guild = client.guilds[0]
        assert guild.chunked
        assert guild.member_count == 6
        assert client.user is not None
        assert {member.id for member in guild.members} == {owner.id, client.user.id, *(guest.id for guest in guests)}
        first = guild.get_member(guests[0].id)
        assert first is not None
        assert (first.name, first.nick, first.display_name) == (guests[0].name, "First Mate", "First Mate")
        assert first.joined_at is not None
        assert not first.bot
        assert guild.owner is not None
        assert guild.owner.guild_permissions.administrator


async def test_a_large_guild_lists_its_members_only_when_asked(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    bot = await world.bot(owner, guild_id)
    await crowd(world.server.data, guild_id, 300)
    async with online(Client(chunk_guilds_at_startup=False), bot) as client:
        guild = client.guilds[0]
        assert guild.large
        assert guild.member_count == 302
        assert list(guild.members) == [guild.me]
        matches = await guild.query_members("crowd", limit=10, cache=False)
        assert len(matches) == 10
        (alone,) = await guild.query_members(user_ids=[owner.id])
        assert alone.id == owner.id
        assert len(await guild.chunk()) == 302
        fetched = [member.id async for member in guild.fetch_members(limit=None)]
        assert sorted(fetched) == sorted(member.id for member in guild.members)
        latecomer = await world.person("latecomer")
        await owner.invite(await world.text_channel(owner, guild_id), latecomer)
        await until(lambda: guild.member_count == 303)
        assert guild.get_member(latecomer.id) is not None


async def test_without_the_member_intent_a_bot_knows_itself_only(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    bot = await world.bot(owner, guild_id)
    async with online(Client(intents=discord.Intents.default()), bot) as client:
        guild = client.guilds[0]
        assert list(guild.members) == [guild.me]
        assert guild.member_count == 2
        assert (await guild.fetch_member(owner.id)).name == owner.name
        assert (await client.fetch_user(owner.id)).name == owner.name


async def test_a_new_guild_is_a_join_and_a_lost_one_a_removal(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner, "Second")
    bot = await world.bot(owner, await world.guild(owner, "First"))
    async with online(Client(), bot) as client:
        joined = soon(client, "guild_join")
        await world.add_bot(owner, bot, guild_id)
        assert (await joined).id == guild_id
        assert len(client.guilds) == 2
        removed = soon(client, "guild_remove")
        assert client.user is not None
        await owner.delete(f"/guilds/{guild_id}/members/{client.user.id}")
        assert (await removed).id == guild_id
        assert [guild.name for guild in client.guilds] == ["First"]


async def test_a_bot_changes_its_own_name_and_avatar(world: World) -> None:
    bot = await world.bot(await world.resident())
    async with online(Client(), bot) as client:
        assert client.user is not None
        edited = await client.user.edit(username="Renamed", avatar=PIXEL)
        assert edited.name == "Renamed"
        assert edited.avatar is not None
        assert (await edited.avatar.with_format("png").read()).startswith(b"\x89PNG")
        assert not (await client.user.edit(avatar=None)).avatar
