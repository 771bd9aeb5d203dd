"""The voice process: there when it is needed, small, and never left behind."""

import asyncio
import signal
from pathlib import Path

from tests.voice.client import SOON
from tests.voice.conftest import Hall
from tests.voice.processes import voice_processes

IDLE_MB = 45


async def test_it_starts_with_the_first_participant_is_small_and_ends_with_a_killed_server(hall: Hall) -> None:
    alice = await hall.member()
    assert voice_processes(hall.server) == []
    voice, _ = await hall.in_voice(alice)
    (pid,) = voice_processes(hall.server)
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    resident_kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
    assert resident_kb < IDLE_MB * 1024
    async with hall.http.get(f"{hall.server.url}/metrics") as answer:
        assert "\nmoothall_voice_participants 1.0\n" in await answer.text()

    hall.server.process.send_signal(signal.SIGKILL)

    async with asyncio.timeout(SOON):
        while Path(f"/proc/{pid}").exists():  # noqa: ASYNC110 no event tells of it
            await asyncio.sleep(0.02)
    await voice.closed()
