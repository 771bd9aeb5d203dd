"""Who is online and in voice, as bots tell each other; and clients of several shards."""

import discord
import pytest

from tests.clients.bots import Client, Harbour, RemembersEvents, online, soon, until
from tests.clients.live import World


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    """No time to resume: discord.py closes its socket with a code that keeps the session alive for that long."""
    return {"gateway_resume_seconds": "0", "gateway_heartbeat_ms": "2000"}


async def test_two_bots_see_each_other_come_change_and_go(world: World) -> None:
    async with Harbour.opened(world) as harbour:
        second = await world.bot(harbour.owner, harbour.guild.id)
        await until(lambda: harbour.guild.get_member(second.id) is not None)
        member = harbour.guild.get_member(second.id)
        assert member is not None
        assert member.status is discord.Status.offline

        def of_second(_before: discord.Member, after: discord.Member) -> bool:
            return after.id == second.id

        updated = soon(harbour.client, "presence_update", of_second)
        async with online(Client(status=discord.Status.idle, activity=discord.Game("chess")), second) as other:
            before, after = await updated
            assert (before.status, after.status) == (discord.Status.offline, discord.Status.idle)
            assert after.activity == discord.Game("chess")
            first = other.guilds[0].get_member(harbour.bot.id)
            assert first is not None
            assert first.status is discord.Status.online
            changed = soon(harbour.client, "presence_update", of_second)
            await other.change_presence(status=discord.Status.dnd, activity=discord.CustomActivity("away at sea"))
            _, after = await changed
            assert (after.status, after.desktop_status) == (discord.Status.dnd, discord.Status.offline)
            assert isinstance(after.activity, discord.CustomActivity)
            assert after.activity.name == "away at sea"
            (member,) = await harbour.guild.query_members(user_ids=[second.id], presences=True)
            assert member.status is discord.Status.dnd
            left = soon(harbour.client, "presence_update", of_second)
        _, after = await left
        assert after.status is discord.Status.offline
        assert after.activities == ()


async def test_an_invisible_bot_is_offline_for_others(world: World) -> None:
    async with Harbour.opened(world) as harbour:
        second = await world.bot(harbour.owner, harbour.guild.id)
        async with online(Client(status=discord.Status.invisible), second) as other:
            changed = soon(harbour.client, "presence_update", lambda _, after: after.id == second.id)
            member = harbour.guild.get_member(second.id)
            assert member is not None
            assert member.status is discord.Status.offline
            await other.change_presence(status=discord.Status.online)
            assert (await changed)[1].status is discord.Status.online


async def test_bots_join_move_and_leave_voice(world: World) -> None:
    async with Harbour.opened(world) as harbour:
        guild, client = harbour.guild, harbour.client
        (general,) = guild.voice_channels
        radio = await guild.create_voice_channel("Radio")
        second = await world.bot(harbour.owner, guild.id, permissions=discord.Permissions(connect=True).value)
        async with online(Client(), second) as other:
            theirs = other.guilds[0]
            heard = soon(client, "voice_state_update")
            await theirs.change_voice_state(channel=theirs.get_channel(general.id), self_mute=True)
            member, before, after = await heard
            assert (member.id, before.channel, after.channel) == (second.id, None, general)
            assert (after.self_mute, after.self_deaf, after.mute, after.deaf) == (True, False, False, False)
            assert general.members == [member]
            await until(lambda: theirs.me.voice is not None)

            moved = soon(other, "voice_state_update")
            await member.move_to(radio, reason="better reception")
            _, before, after = await moved
            assert before.channel is not None
            assert after.channel is not None
            assert (before.channel.id, after.channel.id) == (general.id, radio.id)
            await until(lambda: radio.members == [member] and general.members == [])

            muted = soon(other, "voice_state_update")
            await member.edit(mute=True, deafen=True, reason="silence")
            _, _, after = await muted
            assert (after.mute, after.deaf) == (True, True)
            assert (await member.fetch_voice()).mute

            left = soon(client, "voice_state_update", lambda *change: change[2].channel is None)
            await member.move_to(None)
            assert (await left)[1].channel == radio
            await until(lambda: member.voice is None)
            with pytest.raises(discord.HTTPException) as refused:
                await member.move_to(general)
            assert refused.value.code == 40032

            joined = soon(client, "voice_state_update")
            await theirs.change_voice_state(channel=theirs.get_channel(radio.id))
            await joined
            left = soon(client, "voice_state_update")
        assert (await left)[2].channel is None
        actions = {entry.action async for entry in guild.audit_logs(limit=5)}
        assert actions >= {discord.AuditLogAction.member_move, discord.AuditLogAction.member_disconnect}


async def test_who_is_in_voice_is_known_at_login(world: World) -> None:
    async with Harbour.opened(world) as harbour:
        (general,) = harbour.guild.voice_channels
        joined = soon(harbour.client, "voice_state_update")
        await harbour.guild.change_voice_state(channel=general, self_deaf=True)
        await joined
        async with online(Client(), await world.bot(harbour.owner, harbour.guild.id)) as other:
            channel = other.get_channel(general.id)
            assert isinstance(channel, discord.VoiceChannel)
            assert list(channel.voice_states) == [harbour.bot.id]
            assert channel.voice_states[harbour.bot.id].self_deaf
            assert [member.id for member in channel.members] == [harbour.bot.id]


class Sharded(RemembersEvents, discord.AutoShardedClient):
    """A client of several connections."""


async def test_each_shard_hears_of_its_own_guilds(world: World) -> None:
    owner = await world.resident()
    guild_ids = [await world.guild(owner, f"Guild {number}") for number in range(2)]
    while len({guild_id >> 22 & 1 for guild_id in guild_ids}) < 2:
        guild_ids.append(await world.guild(owner, f"Guild {len(guild_ids)}"))
    bot = await world.bot(owner, *guild_ids)
    async with online(Sharded(shard_count=2), bot) as client:
        assert {guild.id for guild in client.guilds} == set(guild_ids)
        assert {guild.shard_id for guild in client.guilds} == {0, 1}
        assert all(guild.shard_id == (guild.id >> 22) % 2 for guild in client.guilds)
        assert all(guild.chunked for guild in client.guilds)
        assert len(client.events("shard_ready")) == 2
        for guild_id in guild_ids:
            heard = soon(client, "message")
            await owner.say(await world.text_channel(owner, guild_id), "hello shard")
            assert (await heard).guild.id == guild_id
        shard = client.get_shard(1)
        assert shard is not None
        again = soon(client, "shard_ready", lambda shard_id: shard_id == 1)
        await shard.reconnect()
        await again
        reached = soon(client, "message", lambda message: message.guild is None)
        user = client.get_user(owner.id)
        assert user is not None
        channel = await user.create_dm()
        await owner.say(channel.id, "in private")
        assert (await reached).content == "in private"


async def test_a_client_that_asks_how_many_shards_to_open_gets_an_answer(world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    async with online(Sharded(), await world.bot(owner, guild_id)) as client:
        assert client.shard_count == 1
        assert [guild.id for guild in client.guilds] == [guild_id]
