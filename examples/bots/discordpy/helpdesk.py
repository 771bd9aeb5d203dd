"""A help desk with discord.py: tickets from a modal, closed by a button, and a command that quiets a member.

Run it with a bot token in TOKEN: python helpdesk.py
"""

import os
from datetime import timedelta
from typing import Any

import discord
from discord import app_commands
from discord.ext import commands


class TicketForm(discord.ui.Modal, title="New ticket"):
    """Asks what is wrong."""

    subject: discord.ui.TextInput[Any] = discord.ui.TextInput(label="Subject", custom_id="subject", max_length=80)
    details: discord.ui.TextInput[Any] = discord.ui.TextInput(
        label="Details", custom_id="details", style=discord.TextStyle.paragraph, required=False
    )

    async def on_submit(self, interaction: discord.Interaction) -> None:
        """Open a thread for the ticket."""
        if not isinstance(interaction.channel, discord.TextChannel):
            await interaction.response.send_message("Tickets are opened in a text channel.", ephemeral=True)
            return
        await interaction.response.defer(ephemeral=True, thinking=True)
        thread = await interaction.channel.create_thread(
            name=self.subject.value, type=discord.ChannelType.public_thread
        )
        await thread.send(f"{interaction.user.mention}: {self.details.value or 'no details'}", view=TicketButtons())
        await interaction.followup.send(f"Your ticket is {thread.mention}.", ephemeral=True)


class TicketButtons(discord.ui.View):
    """The buttons of a ticket, which work after a restart as well."""

    def __init__(self) -> None:
        super().__init__(timeout=None)

    @discord.ui.button(label="Close", custom_id="ticket:close", style=discord.ButtonStyle.danger)
    async def close(self, interaction: discord.Interaction, button: discord.ui.Button[Any]) -> None:
        """Close the ticket; only staff may."""
        if not interaction.permissions.manage_threads:
            await interaction.response.send_message("Only staff can close tickets.", ephemeral=True)
            return
        button.disabled = True
        await interaction.response.edit_message(content=f"Closed by {interaction.user.mention}.", view=self)
        if isinstance(interaction.channel, discord.Thread):
            await interaction.channel.edit(archived=True)


class Tickets(commands.Cog):
    """Tickets."""

    @app_commands.command(description="Open a ticket")
    @app_commands.guild_only()
    async def ticket(self, interaction: discord.Interaction) -> None:
        """Show the form."""
        await interaction.response.send_modal(TicketForm())


class Moderation(commands.Cog):
    """Quiet members."""

    @app_commands.command(description="Time a member out")
    @app_commands.guild_only()
    @app_commands.default_permissions(moderate_members=True)
    async def quiet(
        self, interaction: discord.Interaction, member: discord.Member, minutes: app_commands.Range[int, 1, 1440] = 10
    ) -> None:
        """Time a member out for some minutes."""
        await member.timeout(timedelta(minutes=minutes), reason=f"by {interaction.user}")
        await interaction.response.send_message(f"{member.display_name} is quiet for {minutes} minutes.")

    @commands.command()
    async def ping(self, ctx: commands.Context[Any]) -> None:
        """Answer."""
        await ctx.reply("pong")


class HelpDesk(commands.Bot):
    """The bot."""

    def __init__(self) -> None:
        intents = discord.Intents.default()
        intents.message_content = True
        super().__init__("!", intents=intents)

    async def setup_hook(self) -> None:
        """Add what the bot can do, and register its commands."""
        await self.add_cog(Tickets())
        await self.add_cog(Moderation())
        self.add_view(TicketButtons())
        await self.tree.sync()


client = HelpDesk()

if __name__ == "__main__":
    client.run(os.environ["TOKEN"])
