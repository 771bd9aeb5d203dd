"""Unchanged bots speak and listen, through nothing but `moothall proxy`."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.serving import moothall
from tests.voice.conftest import Hall

HERE = Path(__file__).parent
PATIENCE = 540.0
"""It takes eight seconds on a machine that is not busy, and is not judged by that: a busy one is not broken."""


@pytest.mark.timeout(600)
async def test_a_bot_of_discord_py_hears_byte_for_byte_what_another_one_plays(hall: Hall) -> None:
    variables = {
        "SPEAKER": await hall.bot(),
        "LISTENER": await hall.bot(),
        "SERVER_PID": str(hall.server.process.pid),
        "GUILD": hall.guild_id,
        "CHANNEL": hall.channels["General"],
        "OTHER": hall.channels["Other"],
    }
    command = ["env", *(f"{name}={value}" for name, value in variables.items()), sys.executable]
    script = str(HERE / "speaking_bots.py")

    done = await asyncio.to_thread(
        moothall, "proxy", "--server", hall.server.url, "--no-others", "--", *command, script, patience=PATIENCE
    )

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report == {"equal": True, "other": 0, "back": True, "again": True, "dave": 1}
