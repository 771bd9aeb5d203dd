"""The bot of the tests about errors and time: what it does wrong, and what it does late."""

import asyncio
import datetime as dt
import os
import time
from datetime import datetime as imported_datetime
from time import time as imported_time
from typing import Any

import discord
from discord.ext import commands, tasks

bot = commands.Bot("!", intents=discord.Intents.all())
ticks: list[float] = []
tasks_of_bot: list[asyncio.Task[None]] = []


class Choice(discord.ui.View):
    """Ends after three minutes."""

    message: discord.Message

    def __init__(self) -> None:
        super().__init__(timeout=180)

    async def on_timeout(self) -> None:
        """Say that it is too late."""
        await self.message.edit(content="too late", view=None)

    @discord.ui.button(label="Break")
    async def fail(self, *_: Any) -> None:
        """Fail."""
        raise KeyError("button")


@tasks.loop(minutes=10)
async def tick() -> None:
    """Count."""
    ticks.append(time.time())


@bot.command()
async def fail(_: Any) -> None:
    """Fail."""
    raise ValueError("no luck")


@bot.command()
async def forget(_: Any) -> None:
    """Fail in a task that is not awaited."""

    async def work() -> None:
        raise RuntimeError("lost")

    tasks_of_bot.append(asyncio.create_task(work()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    tasks_of_bot.clear()


@bot.command()
async def end(_: Any) -> None:
    """End the process."""
    os._exit(3)


@bot.command()
async def choose(ctx: commands.Context[Any]) -> None:
    """Show a button."""
    view = Choice()
    view.message = await ctx.send("choose", view=view)


@bot.command()
@commands.cooldown(1, 60)
async def rest(ctx: commands.Context[Any]) -> None:
    """Answer once a minute."""
    await ctx.send("rested")


@bot.command()
async def start(ctx: commands.Context[Any]) -> None:
    """Start counting."""
    tick.start()  # type: ignore[unused-awaitable]  # it runs on
    await ctx.send("started")


@bot.command()
async def count(ctx: commands.Context[Any]) -> None:
    """Say how often it has counted."""
    await ctx.send(str(len(ticks)))


@bot.command()
async def remind(ctx: commands.Context[Any], seconds: float) -> None:
    """Answer later."""
    await asyncio.sleep(seconds)
    await ctx.send("now")


@bot.command()
async def clocks(ctx: commands.Context[Any]) -> None:
    """Say what each clock shows, in seconds."""
    shown = [
        time.time(),
        imported_time(),
        time.time_ns() / 1e9,
        dt.datetime.now(dt.UTC).timestamp(),
        imported_datetime.now().timestamp(),  # noqa: DTZ005 what bots do
        imported_datetime.now().astimezone().timestamp(),
        discord.utils.utcnow().timestamp(),
        time.mktime(time.localtime()),
        await asyncio.to_thread(time.time),
    ]
    await ctx.send(" ".join(f"{each:.1f}" for each in shown))


if __name__ == "__main__":
    bot.run(os.environ["TOKEN"])
