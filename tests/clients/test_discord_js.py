"""discord.js on a live server: its laws stand in node/laws.test.mjs, which Node's own test runner runs."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients.live import Server, World

HERE = Path(__file__).parent / "node"


@pytest.fixture(scope="module")
def node() -> str:
    """Node with discord.js beside the laws, installed from the lock where it is missing; else the test is skipped."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None:
        pytest.skip("Node is not installed")
    if int(subprocess.check_output([found, "--version"], text=True).lstrip("v").split(".")[0]) < 20:
        pytest.skip("Node is older than 20")
    if not (HERE / "node_modules" / "discord.js").is_dir():
        installed = npm is not None and subprocess.run(
            [npm, "ci"], cwd=HERE, capture_output=True, timeout=90, check=False
        )
        if not installed or installed.returncode:
            pytest.skip(f"discord.js cannot be installed: try `npm ci` in {HERE}")
    return found


async def test_discord_js_logs_in_works_and_resumes(node: str, server: Server, world: World) -> None:
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
    command = [node, "--test", "--test-reporter=tap", "laws.test.mjs"]
    ran = await asyncio.to_thread(
        subprocess.run, command, cwd=HERE, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, "# fail 0" in ran.stdout) == (0, True), ran.stdout + ran.stderr
