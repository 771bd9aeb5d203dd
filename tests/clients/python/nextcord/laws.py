"""What nextcord does on a live server."""

import asyncio
import io
import sys
from pathlib import Path

import nextcord
from nextcord.ext import commands
from nextcord.http import Route

sys.path.insert(0, str(Path(__file__).parents[1]))
import person

Route.BASE = f"{person.URL}/api/v10"
nextcord.asset.Asset.BASE = person.URL
bot = commands.Bot(intents=nextcord.Intents.default(), default_guild_ids=[person.GUILD_ID])
ready = asyncio.Event()


@bot.listen()
async def on_ready():
    ready.set()


@bot.slash_command(description="Say it")
async def say(
    interaction: nextcord.Interaction,
    text: str = nextcord.SlashOption(description="What"),
    times: int = nextcord.SlashOption(description="How often", required=False, min_value=1, default=1),
):
    await interaction.response.send_message(" ".join([text] * times))
    await interaction.edit_original_message(content=f"{text}!")
    await interaction.followup.send("after", file=nextcord.File(io.BytesIO(b"x"), "note.txt"))


class Choose(nextcord.ui.View):
    @nextcord.ui.select(options=[nextcord.SelectOption(label=1, value=0), nextcord.SelectOption(label="two")])
    async def choose(self, select, interaction):
        await interaction.response.edit_message(content=f"chose {select.values[0]}", view=None)


async def laws():
    await asyncio.wait_for(ready.wait(), 20)
    await bot.sync_all_application_commands()
    await person.use_command("say", text="hello", times=2)
    await person.content("hello!")
    assert (await person.content("after"))["attachments"][0]["filename"] == "note.txt"
    channel = bot.get_channel(person.CHANNEL_ID)
    await channel.send("choose", view=Choose(timeout=30))
    message = await person.content("choose")
    select = message["components"][0]["components"][0]
    assert select["options"][0]["value"] == "0"
    data = {"component_type": 3, "custom_id": select["custom_id"], "values": ["0"]}
    await person.interact(3, data, message_id=message["id"])
    await person.content("chose 0")
    await channel.edit(slowmode_delay=10.0)
    assert (await person.person("GET", f"/channels/{person.CHANNEL_ID}"))["rate_limit_per_user"] == 10


async def main():
    running = asyncio.create_task(bot.start(person.TOKEN))
    try:
        await asyncio.wait_for(laws(), 45)
    finally:
        await bot.close()
        await asyncio.gather(running, return_exceptions=True)
    print("every law holds")


asyncio.run(main())
