"""Commands, components and modals through discord.py: a bot that answers what a person raises."""

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal

import aiohttp
import discord
import pytest
from discord import app_commands, ui

from tests.clients.bots import Client, Harbour, online, soon
from tests.clients.live import Person, World

LINK = "https://example.org/"


class Desk:
    """A person at their client, and the bot that they deal with."""

    def __init__(self, harbour: Harbour, person: Person) -> None:
        self.harbour = harbour
        self.person = person
        made: Any = harbour.client._connection._command_tree
        self.tree: app_commands.CommandTree[Any] = made or app_commands.CommandTree(harbour.client)
        self.failed: list[BaseException] = []
        self._nonce = 0

        async def fail(_interaction: discord.Interaction, error: app_commands.AppCommandError) -> None:
            self.failed.append(error)

        self.tree.error(fail)

    @property
    def client(self) -> Client:
        return self.harbour.client

    @property
    def guild(self) -> discord.Guild:
        return self.harbour.guild

    async def sync(self) -> dict[str, dict[str, Any]]:
        """Register the tree's commands; what the person's client then lists, by name."""
        await self.tree.sync()
        index = await self.person.get(f"/channels/{self.harbour.channel.id}/application-command-index")
        return {command["name"]: command for command in index["application_commands"]}

    async def raise_(self, kind: int, data: dict[str, Any], **more: Any) -> None:
        self._nonce += 1
        body = {
            "type": kind,
            "application_id": str(self.harbour.bot.application_id),
            "guild_id": str(self.guild.id),
            "channel_id": str(self.harbour.channel.id),
            "nonce": str(self._nonce),
            "data": data,
        }
        await self.person.post("/interactions", body | more)

    async def use(self, command: dict[str, Any], options: list[Any] | None = None, **data: Any) -> None:
        given = {"id": command["id"], "type": command["type"], "version": command["version"]}
        await self.raise_(2, given | ({} if options is None else {"options": options}) | data)

    async def click(self, message: discord.Message, custom_id: str, kind: int = 2, values: Any = None) -> None:
        data = {"custom_id": custom_id, "component_type": kind} | ({} if values is None else {"values": values})
        await self.raise_(3, data, message_id=str(message.id))

    async def said(self) -> discord.Message:
        """The next message of the bot in the channel."""
        message: discord.Message = await soon(self.client, "message")
        return message


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    async with Harbour.opened(world) as harbour:
        yield Desk(harbour, await harbour.guest())


def option(kind: int, name: str, value: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "value": value}


async def answered(desk: Desk, raising: Any, done: "asyncio.Future[Any]") -> Any:
    await raising
    result = await asyncio.wait_for(done, 5)
    assert desk.failed == []
    return result


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
    found = await answered(desk, desk.use(commands["everything"], options), done)
    interaction, *values = found
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
    told = await update
    assert (told.target_id, told.permissions[0].permission) == (local.id, False)
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
    assert (await asyncio.wait_for(done.get(), 5)).id == desk.person.id
    said = await desk.person.say(desk.harbour.channel.id, "words")
    await desk.use(commands["Mark it"], target_id=said["id"])
    message = await asyncio.wait_for(done.get(), 5)
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
        deferred, follow, more, fetched, original = await asyncio.wait_for(done.get(), 5)
        assert desk.failed == []
        assert deferred.is_thinking()
        assert (follow.id, follow.flags.ephemeral, original.content) == (original.id, ephemeral, "original")
        assert (fetched.id, fetched.attachments[0].filename, more.flags.ephemeral) == (more.id, "x.txt", True)
        assert (deferred.message_id, deferred.is_ephemeral()) == (original.id, ephemeral)
    assert [message async for message in desk.harbour.channel.history()] == []


class Everything(ui.View):
    """A view with every component that a message may have."""

    def __init__(self, note: Callable[[Any], None]) -> None:
        super().__init__(timeout=30)
        self.note = note

    @ui.button(label="Go", custom_id="go")
    async def go(self, interaction: discord.Interaction, button: ui.Button[Any]) -> None:
        await interaction.response.edit_message(content="pressed")
        self.note(button.label)

    @ui.select(custom_id="strings", options=[discord.SelectOption(label=n) for n in "ab"], max_values=2)
    async def strings(self, interaction: discord.Interaction, select: ui.Select[Any]) -> None:
        await interaction.response.defer()
        await interaction.edit_original_response(content="chosen")
        self.note(select.values)

    @ui.select(cls=ui.UserSelect, custom_id="users")
    async def users(self, interaction: discord.Interaction, select: ui.UserSelect[Any]) -> None:
        await interaction.response.send_message("user", ephemeral=True)
        self.note(select.values[0])

    @ui.select(cls=ui.RoleSelect, custom_id="roles")
    async def roles(self, interaction: discord.Interaction, select: ui.RoleSelect[Any]) -> None:
        await interaction.response.send_message("role")
        self.note(select.values[0])

    @ui.select(cls=ui.ChannelSelect, custom_id="channels")
    async def channels(self, interaction: discord.Interaction, select: ui.ChannelSelect[Any]) -> None:
        await interaction.response.send_message("channel")
        self.note(select.values[0])


async def test_a_view_hears_of_every_component(desk: Desk) -> None:
    done: asyncio.Queue[Any] = asyncio.Queue()
    view = Everything(done.put_nowait)
    message = await desk.harbour.channel.send("view", view=view)
    role = await desk.guild.create_role(name="Elder")

    async def heard(custom_id: str, kind: int, *values: Any) -> Any:
        await desk.click(message, custom_id, kind, [str(value) for value in values] if values else None)
        return await asyncio.wait_for(done.get(), 5)

    edited = soon(desk.client, "message_edit")
    assert await heard("go", 2) == "Go"
    assert (await edited)[1].content == "pressed"
    assert await heard("strings", 3, "b", "a") == ["b", "a"]
    assert (await message.fetch()).content == "chosen"
    assert (await heard("users", 5, desk.person.id)).id == desk.person.id
    assert await heard("roles", 6, role.id) == role
    assert (await heard("channels", 8, desk.harbour.channel.id)).id == desk.harbour.channel.id
    view.stop()


async def test_a_layout_and_an_ephemeral_view_hear_of_their_buttons(desk: Desk, world: World) -> None:
    done: asyncio.Queue[Any] = asyncio.Queue()

    class Pane(ui.LayoutView):
        row: ui.ActionRow[Any] = ui.ActionRow()

        @row.button(label="Inside", custom_id="inside")
        async def inside(self, interaction: discord.Interaction, button: ui.Button[Any]) -> None:
            del button
            fresh = ui.LayoutView()
            fresh.add_item(ui.TextDisplay("gone"))
            await interaction.response.edit_message(view=fresh)
            done.put_nowait(interaction.message)

    pane = Pane()
    message = await desk.harbour.channel.send(view=pane)
    await desk.click(message, "inside")
    assert (await asyncio.wait_for(done.get(), 5)).id == message.id
    assert (await message.fetch()).components[0].type is discord.ComponentType.text_display

    @desk.tree.command(description="Whisper")
    async def whisper(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("psst", view=Everything(done.put_nowait), ephemeral=True)
        done.put_nowait(await interaction.original_response())

    await desk.use((await desk.sync())["whisper"])
    hidden = await asyncio.wait_for(done.get(), 5)
    assert hidden.flags.ephemeral
    await desk.click(hidden, "go")
    assert await asyncio.wait_for(done.get(), 5) == "Go"
    stranger = Desk(desk.harbour, await world.person())
    await desk.harbour.owner.invite(desk.harbour.channel.id, stranger.person)
    with pytest.raises(Exception, match="10008"):
        await stranger.click(hidden, "go")


class Form(ui.Modal, title="Form"):
    """A modal of the new form, with every field that a label may have."""

    text: ui.Label[Any] = ui.Label(
        text="Name", description="Yours", component=ui.TextInput(custom_id="text", min_length=2)
    )
    pick: ui.Label[Any] = ui.Label(
        text="Pick", component=ui.Select(custom_id="pick", options=[discord.SelectOption(label=n) for n in "ab"])
    )
    who: ui.Label[Any] = ui.Label(text="Who", component=ui.UserSelect(custom_id="who"))
    file: ui.Label[Any] = ui.Label(text="File", component=ui.FileUpload(custom_id="file", required=False))
    words: ui.TextDisplay[Any] = ui.TextDisplay("Read this")

    def __init__(self, done: "asyncio.Queue[Any]") -> None:
        super().__init__(custom_id="form")
        self.done = done

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message("thanks", ephemeral=True)
        self.done.put_nowait(self)


async def test_a_modal_is_shown_handed_in_with_a_file_and_answered(desk: Desk, world: World) -> None:
    done: asyncio.Queue[Any] = asyncio.Queue()
    opened: asyncio.Queue[Any] = asyncio.Queue()

    @desk.tree.command(description="Ask")
    async def ask(interaction: discord.Interaction) -> None:
        await interaction.response.send_modal(Form(done))
        opened.put_nowait(interaction)

    await desk.use((await desk.sync())["ask"])
    interaction = await asyncio.wait_for(opened.get(), 5)
    entered = [
        {"type": 18, "component": {"type": 4, "custom_id": "text", "value": "Ada"}},
        {"type": 18, "component": {"type": 3, "custom_id": "pick", "values": ["b"]}},
        {"type": 18, "component": {"type": 5, "custom_id": "who", "values": [str(desk.person.id)]}},
        {"type": 18, "component": {"type": 19, "custom_id": "file", "values": ["0"]}},
        {"type": 10},
    ]
    body = {
        "type": 5,
        "application_id": str(desk.harbour.bot.application_id),
        "channel_id": str(desk.harbour.channel.id),
        "data": {
            "id": str(interaction.id),
            "custom_id": "form",
            "components": entered,
            "attachments": [{"id": "0", "filename": "note.txt"}],
        },
    }
    form = aiohttp.FormData()
    form.add_field("payload_json", discord.utils._to_json(body), content_type="application/json")
    form.add_field("files[0]", b"hello", filename="note.txt")
    url = f"{world.server.url}/api/v10/interactions"
    async with world.session.post(url, data=form, headers={"Authorization": desk.person.token}) as answer:
        assert answer.status == 204, await answer.text()
    modal = await asyncio.wait_for(done.get(), 5)
    assert (modal.text.component.value, modal.pick.component.values) == ("Ada", ["b"])
    assert modal.who.component.values[0].id == desk.person.id
    (file,) = modal.file.component.values
    assert (file.filename, await file.read()) == ("note.txt", b"hello")


async def test_what_the_bot_forgets_to_answer_is_too_late(desk: Desk) -> None:
    failed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    @desk.tree.command(description="Lazy")
    async def lazy(interaction: discord.Interaction) -> None:
        await asyncio.sleep(3.3)
        try:
            await interaction.response.send_message("late")
        except discord.NotFound as error:
            failed.set_result(error.code)

    await desk.use((await desk.sync())["lazy"])
    assert await asyncio.wait_for(failed, 6) == 10062


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
        interaction = await asyncio.wait_for(done, 5)
    assert interaction.context.private_channel
    assert interaction.is_user_integration()
    assert not interaction.is_guild_integration()
    assert interaction.user.id == owner.id
    (message,) = await friend.get(f"/channels/{dm['id']}/messages")
    assert message["content"] == "hello"
