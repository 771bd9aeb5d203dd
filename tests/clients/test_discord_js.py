"""discord.js, eris and discordeno on a live server: their laws in node/*.test.mjs run in Node's own test runner."""

import asyncio
import os
import subprocess

import pytest

from tests.clients.live import Server, World
from tests.support.node import HERE, require_node


@pytest.fixture(scope="module")
def node() -> str:
    """Node with discord.js."""
    return require_node()


async def run_laws(node: str, server: Server, world: World, laws: str) -> None:
    """Run a file of laws with a bot and a person, who are in one guild."""
    owner = await world.resident()
    guild_id = await world.guild(owner)
    bot = await world.bot(owner, guild_id)
    environment = {
        **os.environ,
        "MOOTHALL_URL": server.url,
        "BOT_TOKEN": bot.token,
        "PERSON_TOKEN": owner.token,
        "PERSON_ID": str(owner.id),
        "GUILD_ID": str(guild_id),
        "CHANNEL_ID": str(await world.text_channel(owner, guild_id)),
    }
    command = [node, "--experimental-websocket", "--test", "--test-reporter=tap", laws]
    ran = await asyncio.to_thread(
        subprocess.run, command, cwd=HERE, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, "# fail 0" in ran.stdout) == (0, True), ran.stdout + ran.stderr


async def test_discord_js_logs_in_works_and_resumes(node: str, server: Server, world: World) -> None:
    await run_laws(node, server, world, "laws.test.mjs")


async def test_eris_logs_in_and_works(node: str, server: Server, world: World) -> None:
    await run_laws(node, server, world, "eris.test.mjs")


async def test_discordeno_logs_in_and_works(node: str, server: Server, world: World) -> None:
    await run_laws(node, server, world, "discordeno.test.mjs")


async def test_erlpack_reads_and_writes_the_terms_of_the_gateway(node: str, server: Server, world: World) -> None:
    if not (HERE / "node_modules" / "erlpack" / "build").is_dir():
        pytest.skip("erlpack could not be built: it needs a compiler")
    await run_laws(node, server, world, "etf.test.mjs")
