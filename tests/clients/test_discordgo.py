"""discordgo on a live server: a bot of it takes steps, which are lines of TAP."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients.live import Server, World

PROGRAM = Path(__file__).parent / "go" / "discordgo.go"
SYSTEM = Path("/usr/share/gocode")
"""Where Debian's packages of Go put their sources."""


@pytest.fixture(scope="module")
def bot_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, compiled with the discordgo of GOPATH; the test is skipped where there is none, or no Go."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go is not installed")
    paths = [*os.environ.get("GOPATH", str(Path.home() / "go")).split(os.pathsep), str(SYSTEM)]
    if not any((Path(path) / "src" / "github.com" / "bwmarrin" / "discordgo").is_dir() for path in paths):
        pytest.skip("discordgo is not in GOPATH: see tests/clients/go/README.md")
    program = tmp_path_factory.mktemp("go") / "discordgo"
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": os.pathsep.join(paths)}
    command = [go, "build", "-o", str(program), str(PROGRAM)]
    subprocess.run(command, cwd=program.parent, env=environment, check=True, timeout=300)
    return program


async def test_discordgo_takes_every_step(bot_program: Path, server: Server, world: World) -> None:
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
    ran = await asyncio.to_thread(
        subprocess.run, [bot_program], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    failed = [line for line in ran.stdout.splitlines() if line.startswith("not ok")]
    assert (ran.returncode, failed) == (0, []), ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == "1..40"
