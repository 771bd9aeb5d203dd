"""People and bots who come, change and go, as another bot hears of them."""

from collections.abc import AsyncIterator

import discord
import pytest

from tests.clients.bots import Client, Harbour, online, soon, until
from tests.clients.live import PIXEL, World


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


async def test_someone_who_joins_is_greeted_and_counted(harbour: Harbour) -> None:
    await harbour.guild.edit(
        system_channel=harbour.channel, system_channel_flags=discord.SystemChannelFlags(join_notifications=True)
    )
    greeted = soon(harbour.client, "message", lambda message: message.is_system())
    guest = await harbour.guest()
    message = await greeted
    assert (message.type, message.author.id) == (discord.MessageType.new_member, guest.id)
    assert guest.name in message.system_content
    assert harbour.guild.member_count == 3
    left = soon(harbour.client, "raw_member_remove")
    await guest.delete(f"/users/@me/guilds/{harbour.guild.id}")
    assert (await left).user.id == guest.id
    assert harbour.guild.get_member(guest.id) is None
    assert harbour.guild.member_count == 2
    await harbour.owner.invite(harbour.channel.id, guest)
    await until(lambda: harbour.guild.get_member(guest.id) is not None)
    again = harbour.guild.get_member(guest.id)
    assert again is not None
    assert again.flags.did_rejoin


async def test_someone_who_changes_their_profile_is_the_same_person(harbour: Harbour) -> None:
    guest = await harbour.guest()
    updated = soon(harbour.client, "user_update")
    await guest.patch("/users/@me", {"global_name": "Long John"})
    before, after = await updated
    assert (before.id, before.global_name, after.global_name) == (guest.id, None, "Long John")
    member = harbour.guild.get_member(guest.id)
    assert member is not None
    assert member.display_name == "Long John"


async def test_a_bot_hears_of_its_own_new_avatar(harbour: Harbour) -> None:
    assert harbour.client.user is not None
    await harbour.client.user.edit(avatar=PIXEL)
    await until(lambda: harbour.guild.me.avatar is not None)
    assert harbour.client.user.avatar is not None
    assert await harbour.client.user.avatar.read()


async def test_another_bot_is_added_and_removed_with_its_integration(harbour: Harbour) -> None:
    integrated, joined = soon(harbour.client, "integration_create"), soon(harbour.client, "member_join")
    second = await harbour.world.bot(
        harbour.owner, harbour.guild.id, permissions=discord.Permissions(ban_members=True).value
    )
    integration, member = await integrated, await joined
    assert isinstance(integration, discord.BotIntegration)
    assert integration.application.id == second.application_id
    assert member.bot
    await until(lambda: member.guild_permissions.ban_members)
    (role,) = member.roles[1:]
    assert role.is_bot_managed()
    assert role.tags is not None
    assert role.tags.bot_id == second.id
    (entry,) = [entry async for entry in harbour.guild.audit_logs(action=discord.AuditLogAction.bot_add, limit=1)]
    assert (entry.user_id, entry.target) == (harbour.owner.id, member)
    assert {integration.name for integration in await harbour.guild.integrations()} == {
        harbour.guild.me.name,
        member.name,
    }
    ended, left = soon(harbour.client, "raw_integration_delete"), soon(harbour.client, "member_remove")
    await integration.delete(reason="one is enough")
    assert (await ended).integration_id == integration.id
    assert (await left).id == second.id
    await until(lambda: harbour.guild.get_role(role.id) is None)


async def test_a_bot_that_is_thrown_out_hears_that_its_guild_is_gone(harbour: Harbour) -> None:
    removed = soon(harbour.client, "guild_remove")
    await harbour.owner.put(f"/guilds/{harbour.guild.id}/bans/{harbour.bot.id}")
    assert await removed == harbour.guild
    with pytest.raises(discord.NotFound):
        await harbour.client.fetch_guild(harbour.guild.id)


async def test_a_deleted_guild_is_gone_for_its_bots(harbour: Harbour) -> None:
    removed = soon(harbour.client, "guild_remove")
    await harbour.owner.delete(f"/guilds/{harbour.guild.id}")
    assert await removed == harbour.guild
    with pytest.raises(discord.NotFound) as missing:
        await harbour.channel.send("anybody?")
    assert missing.value.code == 10003


async def test_a_token_that_was_reset_ends_the_session_and_the_new_one_opens_another(world: World) -> None:
    with pytest.raises(discord.ConnectionClosed) as closed:  # noqa: PT012 it is raised at the block's end
        async with Harbour.opened(world) as harbour:
            fresh = await harbour.owner.post(f"/applications/{harbour.bot.application_id}/bot/reset")
            await until(harbour.client.is_closed)
    assert closed.value.code == 4004
    with pytest.raises(discord.LoginFailure):
        async with online(Client(), harbour.bot):
            pass
    async with online(Client(), harbour.bot._replace(token=fresh["token"])) as client:
        assert [guild.id for guild in client.guilds] == [harbour.guild.id]
