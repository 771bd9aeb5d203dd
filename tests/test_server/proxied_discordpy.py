"""A bot of discord.py that is pointed at no other server, and loses its connection once."""

import os

import discord


class Client(discord.Client):
    """Prints what happens to it."""

    async def on_ready(self) -> None:
        print(f"ready {self.user}", flush=True)
        await self.ws.close(code=4000)

    async def on_resumed(self) -> None:
        print("resumed", flush=True)
        await self.close()


Client(intents=discord.Intents.default(), proxy=os.environ["HTTPS_PROXY"]).run(os.environ["TOKEN"], log_handler=None)
