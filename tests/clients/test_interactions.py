"""Components and modals through discord.py: views, layouts and forms that a person uses."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import discord
import pytest
from discord import ui

from tests.clients.bots import soon
from tests.clients.desk import Desk, opened
from tests.clients.live import Refused, World


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    """A person at their client, and the bot that they deal with."""
    async with opened(world) as desk:
        yield desk


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
        return await asyncio.wait_for(done.get(), 30)

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
    assert (await asyncio.wait_for(done.get(), 30)).id == message.id
    assert (await message.fetch()).components[0].type is discord.ComponentType.text_display

    @desk.tree.command(description="Whisper")
    async def whisper(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("psst", view=Everything(done.put_nowait), ephemeral=True)
        done.put_nowait(await interaction.original_response())

    await desk.use((await desk.sync())["whisper"])
    hidden = await asyncio.wait_for(done.get(), 30)
    assert hidden.flags.ephemeral
    await desk.click(hidden, "go")
    assert await asyncio.wait_for(done.get(), 30) == "Go"
    stranger = Desk(desk.harbour, await world.person())
    await desk.harbour.owner.invite(desk.harbour.channel.id, stranger.person)
    with pytest.raises(Refused) as refused:
        await stranger.click(hidden, "go")
    assert (refused.value.status, refused.value.code) == (404, 10008)


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
    interaction = await asyncio.wait_for(opened.get(), 30)
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
    modal = await asyncio.wait_for(done.get(), 30)
    assert (modal.text.component.value, modal.pick.component.values) == ("Ada", ["b"])
    assert modal.who.component.values[0].id == desk.person.id
    (file,) = modal.file.component.values
    assert (file.filename, await file.read()) == ("note.txt", b"hello")
