"""The libraries that the plugin starts bots of, each with the packages that its laws in tests/clients have."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from moothall.testing.libraries import LIBRARIES, patched
from tests.clients.test_python_clients import installed
from tests.separate_runs import PLUGINS

_BOTS = {
    "pycord": """
import discord

client = discord.Bot(intents=discord.Intents.all())

@client.listen()
async def on_message(message):
    if message.content == "ping":
        await message.channel.send("pong")
""",
    "nextcord": """
import nextcord
from nextcord.ext import commands

client = commands.Bot("!", intents=nextcord.Intents.all())

@client.listen()
async def on_message(message):
    if message.content == "ping":
        await message.channel.send("pong")
""",
    "interactions": """
import interactions

client = interactions.Client(intents=interactions.Intents.DEFAULT | interactions.Intents.MESSAGE_CONTENT)

@client.listen(interactions.events.MessageCreate)
async def on_message(event):
    if event.message.content == "ping":
        await event.message.channel.send("pong")
""",
}
_TEST = """
import pytest

@pytest.mark.parametrize("time", ["first", "again"])
def test_ping(moothall, alice, time):
    bot = moothall.start_bot("mybot:client").wait()
    alice.says("ping").assert_replied("pong", from_=bot, within=15).wait()
"""


@pytest.mark.timeout(240)
@pytest.mark.parametrize("library", _BOTS)
def test_a_bot_of_the_library_is_started_unchanged(library: str, tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text(_BOTS[library], encoding="utf-8")
    (tmp_path / "test_mybot.py").write_text(_TEST, encoding="utf-8")
    path = os.pathsep.join([str(installed(library)), str(tmp_path), os.environ.get("PYTHONPATH", "")])

    command = [sys.executable, "-m", "pytest", "-q", *PLUGINS]
    ran = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=200,
        check=False,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 passed" in ran.stdout


def test_a_patch_is_undone_at_the_end() -> None:
    from discord.http import Route  # noqa: PLC0415 only here

    before = Route.BASE
    with patched("discord.py", "http://localhost:1"):
        assert Route.BASE == "http://localhost:1/api/v10"
    assert before == Route.BASE


def test_an_unknown_library_is_named_with_those_that_are_known() -> None:
    with pytest.raises(LookupError, match=r"eris.*hikari"), patched("eris", "http://localhost:1"):
        pass
    assert set(LIBRARIES) == {"discord.py", "py-cord", "disnake", "nextcord", "hikari", "interactions.py"}
