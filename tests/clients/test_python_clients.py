"""py-cord, nextcord and interactions.py on a live server, each in a folder of its own: their packages exclude others.

Their laws stand in python/*/laws.py; each runs in a process of its own with the packages of its lock.
"""

import asyncio
import os
import subprocess
import sys

import pytest

from tests.clients.live import Server, World
from tests.support.client_sites import HERE, installed

CLIENTS = ("pycord", "nextcord", "interactions")


@pytest.mark.parametrize("client", CLIENTS)
async def test_the_client_logs_in_and_responds_to_interactions(client: str, server: Server, world: World) -> None:
    site = await asyncio.to_thread(installed, client)
    owner = await world.resident()
    guild_id = await world.guild(owner)
    bot = await world.bot(owner, guild_id)
    environment = {
        **os.environ,
        "PYTHONPATH": str(site),
        "MOOTHALL_URL": server.url,
        "BOT_TOKEN": bot.token,
        "APPLICATION_ID": str(bot.application_id),
        "PERSON_TOKEN": owner.token,
        "GUILD_ID": str(guild_id),
        "CHANNEL_ID": str(await world.text_channel(owner, guild_id)),
    }
    laws = [sys.executable, str(HERE / client / "laws.py")]
    ran = await asyncio.to_thread(
        subprocess.run, laws, env=environment, capture_output=True, text=True, timeout=90, check=False
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "every law holds"), ran.stdout + ran.stderr
