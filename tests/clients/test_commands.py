"""Commands through discord.py: a bot that answers what a person uses and types."""

import asyncio
import io
from collections.abc import AsyncIterator
from typing import Any, Literal

import discord
import pytest
from discord import app_commands

from tests.clients.bots import Client, online, soon
from tests.clients.desk import Desk, answered, opened, option
from tests.clients.live import World


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    """A person at their client, and the bot that they deal with."""
    async with opened(world) as desk:
        yield desk


async def test_a_command_gets_every_type_of_option_as_its_own_object(desk: Desk) -> None:
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    @desk.tree.command(description="Everything")
    @app_commands.describe(text="Some text")
    async def everything(
        interaction: discord.Interaction,
        text: app_commands.Range[str, 1, 20],
        number: app_commands.Range[int, 1, 9],
        ratio: float,
        yes: bool,
        who: discord.Member,
        where: discord.TextChannel,
        role: discord.Role,
        anything: discord.User | discord.Role,
        animal: Literal["dog", "cat"] = "dog",
    ) -> None:
        await interaction.response.send_message("done")
        done.set_result((interaction, text, number, ratio, yes, who, where, role, anything, animal))

    commands = await desk.sync()
    role = await desk.guild.create_role(name="Elder")
    options = [
        option(3, "text", "words"),
        option(4, "number", 7),
        option(10, "ratio", 0.5),
        option(5, "yes", True),
        option(6, "who", str(desk.person.id)),
        option(7, "where", str(desk.harbour.channel.id)),
        option(8, "role", str(role.id)),
        option(9, "anything", str(role.id)),
        option(3, "animal", "cat"),
    ]
    message = soon(desk.client, "message")
    result = await answered(desk, desk.use(commands["everything"], options), done)
    interaction, *values = result
    assert values == [
        "words",
        7,
        0.5,
        True,
        desk.guild.get_member(desk.person.id),
        desk.harbour.channel,
        role,
        role,
        "cat",
    ]
    assert (interaction.user.id, interaction.guild, interaction.channel) == (
        desk.person.id,
        desk.guild,
        desk.harbour.channel,
    )
    assert interaction.permissions.send_messages
    assert interaction.app_permissions.administrator
    assert interaction.context.guild
    assert interaction.is_guild_integration()
    assert (interaction.locale, interaction.guild_locale) == (discord.Locale.american_english,) * 2
    sent = await message
    assert (sent.content, sent.type) == ("done", discord.MessageType.chat_input_command)
    assert sent.interaction_metadata.user.id == desk.person.id
    original = await interaction.original_response()
    assert original.id == sent.id


async def test_commands_are_synced_everywhere_and_in_one_guild(desk: Desk) -> None:
    group = app_commands.Group(
        name="tools", description="Tools", default_permissions=discord.Permissions(kick_members=True)
    )

    @group.command(description="Hammer")
    async def hammer(interaction: discord.Interaction, times: int) -> None:
        await interaction.response.send_message(str(times))

    desk.tree.add_command(group)

    @desk.tree.command(description="Here", guild=discord.Object(desk.guild.id), nsfw=True)
    async def here(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("here")

    (everywhere,) = await desk.tree.sync()
    (local,) = await desk.tree.sync(guild=discord.Object(desk.guild.id))
    assert (everywhere.name, everywhere.default_member_permissions) == ("tools", discord.Permissions(kick_members=True))
    assert (local.name, local.guild_id, local.nsfw) == ("here", desk.guild.id, True)
    (fetched,) = await desk.tree.fetch_commands()
    assert fetched == everywhere
    assert isinstance(fetched.options[0], app_commands.AppCommandGroup)
    edited = await local.edit(description="Changed")
    assert edited.description == "Changed"
    with pytest.raises(discord.NotFound):
        await local.fetch_permissions(discord.Object(desk.guild.id))
    path = f"/applications/{desk.harbour.bot.application_id}/guilds/{desk.guild.id}/commands/{local.id}/permissions"
    body = {"permissions": [{"id": str(desk.guild.id), "type": 1, "permission": False}]}
    update = soon(desk.client, "raw_app_command_permissions_update")
    await desk.harbour.owner.put(path, body)
    entry = await update
    assert (entry.target_id, entry.permissions[0].permission) == (local.id, False)
    permissions = await local.fetch_permissions(discord.Object(desk.guild.id))
    assert permissions.permissions[0].target.id == desk.guild.id
    entries = [e async for e in desk.guild.audit_logs(action=discord.AuditLogAction.app_command_permission_update)]
    assert entries[0].target is not None
    await local.delete()
    assert await desk.tree.fetch_commands(guild=discord.Object(desk.guild.id)) == []


async def test_what_is_typed_is_completed(desk: Desk, world: World) -> None:
    del world
    typed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    @desk.tree.command(description="Fruit")
    async def fruit(interaction: discord.Interaction, name: str) -> None:
        await interaction.response.send_message(name)

    @fruit.autocomplete("name")
    async def complete(interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
        typed.set_result((interaction.namespace.name, current))
        return [app_commands.Choice(name="Apple", value="apple")]

    command = (await desk.sync())["fruit"]
    data = {"id": command["id"], "type": 1, "options": [option(3, "name", "ap") | {"focused": True}]}
    assert await answered(desk, desk.raise_(4, data), typed) == ("ap", "ap")


async def test_context_menus_have_their_target(desk: Desk) -> None:
    done: asyncio.Queue[Any] = asyncio.Queue()

    @desk.tree.context_menu(name="High Five")
    async def five(interaction: discord.Interaction, member: discord.Member) -> None:
        await interaction.response.send_message("five", ephemeral=True)
        done.put_nowait(member)

    @desk.tree.context_menu(name="Mark it")
    async def mark(interaction: discord.Interaction, message: discord.Message) -> None:
        await interaction.response.send_message("marked", ephemeral=True)
        done.put_nowait(message)

    commands = await desk.sync()
    await desk.use(commands["High Five"], target_id=str(desk.person.id))
    assert (await asyncio.wait_for(done.get(), 30)).id == desk.person.id
    said = await desk.person.say(desk.harbour.channel.id, "words")
    await desk.use(commands["Mark it"], target_id=said["id"])
    message = await asyncio.wait_for(done.get(), 30)
    assert (message.id, message.content, message.author.id) == (int(said["id"]), "words", desk.person.id)


async def test_an_answer_is_deferred_followed_up_edited_and_deleted(desk: Desk) -> None:
    done: asyncio.Queue[Any] = asyncio.Queue()

    @desk.tree.command(description="Slow")
    async def slow(interaction: discord.Interaction, ephemeral: bool) -> None:
        deferred = await interaction.response.defer(thinking=True, ephemeral=ephemeral)
        follow = await interaction.followup.send("first", wait=True)
        more = await interaction.followup.send(
            "more", wait=True, ephemeral=True, file=discord.File(io.BytesIO(b"x"), "x.txt")
        )
        await follow.edit(content="edited")
        fetched = await interaction.followup.fetch_message(more.id)
        await interaction.edit_original_response(content="original")
        original = await interaction.original_response()
        await more.delete()
        await interaction.delete_original_response()
        done.put_nowait((deferred, follow, more, fetched, original))

    command = (await desk.sync())["slow"]
    for ephemeral in (False, True):
        await desk.use(command, [option(5, "ephemeral", ephemeral)])
        deferred, follow, more, fetched, original = await asyncio.wait_for(done.get(), 30)
        assert desk.failed == []
        assert deferred.is_thinking()
        assert (follow.id, follow.flags.ephemeral, original.content) == (original.id, ephemeral, "original")
        assert (fetched.id, fetched.attachments[0].filename, more.flags.ephemeral) == (more.id, "x.txt", True)
        assert (deferred.message_id, deferred.is_ephemeral()) == (original.id, ephemeral)
    assert [message async for message in desk.harbour.channel.history()] == []


async def test_what_the_bot_forgets_to_answer_is_too_late(desk: Desk) -> None:
    failed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    @desk.tree.command(description="Lazy")
    async def lazy(interaction: discord.Interaction) -> None:
        # Half a second more than the server allows, even if its timer is late.
        await asyncio.sleep(4)
        try:
            await interaction.response.send_message("late")
        except discord.NotFound as error:
            failed.set_result(error.code)

    await desk.use((await desk.sync())["lazy"])
    assert await asyncio.wait_for(failed, 30) == 10062


async def test_an_application_of_ones_own_comes_along_to_direct_messages(world: World) -> None:
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    owner, friend = await world.resident(), await world.person()
    guild_id = await world.guild(owner)
    await owner.invite(await world.text_channel(owner, guild_id), friend)
    bot = await world.bot(owner)
    query = f"client_id={bot.application_id}&scope=applications.commands&integration_type=1"
    await owner.post(f"/oauth2/authorize?{query}", {"authorize": True})
    async with online(Client(), bot) as client:
        tree = app_commands.CommandTree(client)

        @tree.command(description="Mine")
        @app_commands.user_install()
        @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=True)
        async def mine(interaction: discord.Interaction) -> None:
            await interaction.response.send_message("hello")
            done.set_result(interaction)

        (command,) = await tree.sync()
        dm = await owner.post("/users/@me/channels", {"recipient_id": str(friend.id)})
        body = {
            "type": 2,
            "application_id": str(bot.application_id),
            "channel_id": dm["id"],
            "data": {"id": str(command.id), "type": 1},
        }
        await owner.post("/interactions", body)
        interaction = await asyncio.wait_for(done, 30)
    assert interaction.context.private_channel
    assert interaction.is_user_integration()
    assert not interaction.is_guild_integration()
    assert interaction.user.id == owner.id
    (message,) = await friend.get(f"/channels/{dm['id']}/messages")
    assert message["content"] == "hello"
