"""py-cord, nextcord and interactions.py on a live server, each in a folder of its own: their packages exclude others.

Their laws stand in python/*/laws.py; each runs in a process of its own with the packages of its lock.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.live import Server, World
from tests.suites import leave_out

HERE = Path(__file__).parent / "python"
CLIENTS = ("pycord", "nextcord", "interactions")


def installed(client: str) -> Path:
    """The folder of a client's packages, installed from the lock where they are missing; else the test is skipped."""
    lock, site = HERE / client / "requirements.lock", HERE / client / "site"
    stamp = site / ".installed"
    if not stamp.is_file() or stamp.stat().st_mtime < lock.stat().st_mtime:
        command = [
            sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--require-hashes",
            "--upgrade", "--target", str(site), "--requirement", str(lock),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        if done.returncode:
            leave_out("clients", f"{client} cannot be installed: {done.stderr[-300:]}")
        stamp.touch()
    return site


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
