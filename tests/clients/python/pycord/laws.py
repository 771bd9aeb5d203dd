"""What py-cord does on a live server: it sends interaction responses without files as urlencoded forms."""

import asyncio
import io
import sys
from pathlib import Path

import aiohttp
import discord

sys.path.insert(0, str(Path(__file__).parents[1]))
import person

discord.http.Route.API_BASE_URL = f"{person.URL}/api/v{{API_VERSION}}"
discord.asset.Asset.BASE = person.URL
bot = discord.Bot(intents=discord.Intents.default(), debug_guilds=[person.GUILD_ID])
ready = asyncio.Event()


@bot.listen()
async def on_ready():
    ready.set()


@bot.command(description="Say it")
async def say(ctx, text: discord.Option(str, "What"), times: discord.Option(int, "How often", min_value=1) = 1):
    await ctx.respond(" ".join([text] * times))
    await ctx.edit(content=f"{text}!")
    await ctx.followup.send("after", file=discord.File(io.BytesIO(b"x"), "note.txt"))


@bot.command(description="Say it later")
async def later(ctx):
    await ctx.defer()
    await ctx.followup.send("at last", view=Choose(timeout=30))


class Choose(discord.ui.View):
    @discord.ui.select(
        options=[discord.SelectOption(label="one", value="1"), discord.SelectOption(label="two", value="2")]
    )
    async def choose(self, select, interaction):
        await interaction.response.edit_message(content=f"chose {select.values[0]}", view=None)


async def laws():
    await asyncio.wait_for(ready.wait(), 20)
    await bot.sync_commands()
    await person.use_command("say", text="hello", times=2)
    await person.content("hello!")
    assert (await person.content("after"))["attachments"][0]["filename"] == "note.txt"
    await person.use_command("later")
    message = await person.content("at last")
    select = message["components"][0]["components"][0]
    assert select["options"][0]["value"] == "1"
    data = {"component_type": 3, "custom_id": select["custom_id"], "values": ["1"]}
    await person.interact(3, data, message_id=message["id"])
    await person.content("chose 1")
    channel = bot.get_channel(person.CHANNEL_ID)
    await channel.edit(slowmode_delay=10.0)
    assert (await person.person("GET", f"/channels/{person.CHANNEL_ID}"))["rate_limit_per_user"] == 10
    invite = await channel.create_invite(max_age=60.0)
    assert invite.max_age == 60
    async with aiohttp.ClientSession() as session:
        made = await channel.create_webhook(name="hook")
        hook = discord.Webhook.partial(made.id, made.token, session=session)
        sent = await hook.send("by hook", wait=True)
        await hook.edit_message(sent.id, content="edited")
    await person.content("edited")


async def main():
    async with bot:
        running = asyncio.create_task(bot.start(person.TOKEN))
        try:
            await asyncio.wait_for(laws(), 45)
        finally:
            await bot.close()
            await asyncio.gather(running, return_exceptions=True)
    print("every law holds")


asyncio.run(main())
