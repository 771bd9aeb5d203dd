"""What interactions.py does on a live server: its default intents have bits without a meaning on Python 3.11."""

import asyncio
import os
import sys
from pathlib import Path

import interactions
from interactions.api.http.route import Route

sys.path.insert(0, str(Path(__file__).parents[1]))
import person

Route.BASE = f"{person.URL}/api/v10"
bot = interactions.Client(intents=interactions.Intents.DEFAULT, sync_interactions=True, debug_scope=person.GUILD_ID)
ready = asyncio.Event()


@interactions.listen()
async def on_startup():
    ready.set()


@interactions.slash_command(name="say", description="Say it")
@interactions.slash_option("text", "What", opt_type=interactions.OptionType.STRING, required=True)
@interactions.slash_option("times", "How often", opt_type=interactions.OptionType.INTEGER, min_value=1)
async def say(ctx: interactions.SlashContext, text: str, times: int = 1):
    await ctx.send(" ".join([text] * times))
    await ctx.edit(content=f"{text}!")
    await ctx.send("after", file=interactions.File(file=__file__, file_name="note.txt"))


@interactions.slash_command(name="later", description="Say it later")
async def later(ctx: interactions.SlashContext):
    await ctx.defer()
    button = interactions.Button(style=interactions.ButtonStyle.PRIMARY, label=1, custom_id="one")
    await ctx.send("at last", components=button)


@interactions.component_callback("one")
async def one(ctx: interactions.ComponentContext):
    await ctx.edit_origin(content="pressed", components=[])


async def laws():
    await asyncio.wait_for(ready.wait(), 20)
    await person.use_command("say", text="hello", times=2)
    await person.content("hello!")
    assert (await person.content("after"))["attachments"][0]["filename"] == "note.txt"
    await person.use_command("later")
    message = await person.content("at last")
    assert message["components"][0]["components"][0]["label"] == "1"
    await person.interact(3, {"component_type": 2, "custom_id": "one"}, message_id=message["id"])
    await person.content("pressed")
    channel = await bot.fetch_channel(person.CHANNEL_ID)
    await channel.edit(rate_limit_per_user=10.0)
    assert (await person.person("GET", f"/channels/{person.CHANNEL_ID}"))["rate_limit_per_user"] == 10


async def main():
    running = asyncio.create_task(bot.astart(person.TOKEN))
    running.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait_for(laws(), 45)
    print("every law holds", flush=True)
    os._exit(0)  # Client.stop waits for a task that never ends (5.16)


asyncio.run(main())
