"""A bot of discord.py that does a bit of everything, for the tests of the plugin. It is imported by its file's name."""

from contextlib import suppress
from typing import Any

import discord
from discord import app_commands
from discord.ext import commands


class Form(discord.ui.Modal, title="Form"):
    """A modal with a text field."""

    answer: discord.ui.TextInput[Any] = discord.ui.TextInput(label="Name", custom_id="answer")

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"Hello {self.answer.value}", ephemeral=True)


class Choices(discord.ui.View):
    """Buttons and selects."""

    @discord.ui.button(label="Press")
    async def press(self, interaction: discord.Interaction, _button: Any) -> None:
        await interaction.response.edit_message(content="pressed")

    @discord.ui.button(label="Form")
    async def form(self, interaction: discord.Interaction, _button: Any) -> None:
        await interaction.response.send_modal(Form())

    @discord.ui.select(
        custom_id="animal", options=[discord.SelectOption(label="Ant", value="a"), discord.SelectOption(label="Bee")]
    )
    async def animal(self, interaction: discord.Interaction, select: discord.ui.Select[Any]) -> None:
        await interaction.response.send_message(f"animal {select.values[0]}")

    @discord.ui.select(cls=discord.ui.UserSelect, custom_id="user")
    async def user(self, interaction: discord.Interaction, select: discord.ui.UserSelect[Any]) -> None:
        await interaction.response.send_message(f"user {select.values[0].name}")

    @discord.ui.select(cls=discord.ui.ChannelSelect, custom_id="channel")
    async def channel(self, interaction: discord.Interaction, select: discord.ui.ChannelSelect[Any]) -> None:
        await interaction.response.send_message(f"channel {select.values[0].name}")


class Bot(commands.Bot):
    """The bot."""

    async def setup_hook(self) -> None:
        await self.tree.sync()


client = Bot("!", intents=discord.Intents.all())


@client.listen()
async def on_message(message: discord.Message) -> None:
    if message.author.bot:
        return
    if message.content == "ping":
        await message.reply("pong")
    elif message.content == "choices":
        await message.channel.send("choose", view=Choices())
    elif message.content == "forbidden":
        with suppress(discord.NotFound):
            await client.http.request(discord.http.Route("DELETE", "/channels/1"))
    elif message.attachments:
        await message.channel.send(f"{len(await message.attachments[0].read())} bytes")


@client.listen()
async def on_message_edit(_before: discord.Message, after: discord.Message) -> None:
    await after.add_reaction("👀")


@client.listen()
async def on_raw_reaction_add(payload: discord.RawReactionActionEvent) -> None:
    if payload.emoji.name == "🗑️":
        await client.http.delete_message(payload.channel_id, payload.message_id)


@client.listen()
async def on_member_join(member: discord.Member) -> None:
    await member.guild.text_channels[0].send(f"welcome {member.name}")


@client.tree.command(description="Repeat")
async def repeat(interaction: discord.Interaction, text: str, whom: discord.Member | None = None) -> None:
    await interaction.response.defer()
    await interaction.followup.send(f"{text} {whom}")


@repeat.autocomplete("text")
async def complete(_interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
    return [app_commands.Choice(name=word, value=word) for word in ("apple", "apricot", "pear") if current in word]


@client.tree.command(description="Say nothing")
async def never(_interaction: discord.Interaction) -> None:
    pass


@client.tree.command(description="Weigh a file")
async def weigh(interaction: discord.Interaction, command: discord.Attachment) -> None:
    await interaction.response.send_message(f"{command.filename}: {command.size}")


roles = app_commands.Group(name="role", description="Roles")


@roles.command(description="Add")
async def add(interaction: discord.Interaction, member: discord.Member) -> None:
    await interaction.response.send_message(f"added {member.name}")


client.tree.add_command(roles)


@client.tree.context_menu(name="Greet")
async def greet(interaction: discord.Interaction, member: discord.Member) -> None:
    await interaction.response.send_message(f"hello {member.name}")


@client.tree.context_menu(name="Count")
async def count(interaction: discord.Interaction, message: discord.Message) -> None:
    await interaction.response.send_message(str(len(message.content)))
