"""Attackers as processes of their own."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import partial

import msgspec

from tests.abuse.target import Target


def start_attacks(targets: Mapping[str, Target], seconds: float, *, nice: int = 0) -> "subprocess.Popen[bytes]":
    """Start attackers, by name, in one process, which ends by itself after so many seconds.

    With `nice` they leave the processors to the server and to others, as attackers on other machines do.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.abuse.attackers", str(seconds), *targets],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Before its imports, which would take a second of the server's processors.
        preexec_fn=partial(_lower_priority, nice),  # noqa: PLW1509 there are no other threads
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(list(targets.values())))
    process.stdin.close()
    return process


def _lower_priority(nice: int) -> None:
    os.setpriority(os.PRIO_PROCESS, 0, max(nice, os.getpriority(os.PRIO_PROCESS, 0)))


async def finish_attacks(process: "subprocess.Popen[bytes]", seconds: float) -> str:
    """Wait for the end of such a process; the last line of its complaint where it failed."""
    for _ in range(int(seconds * 10)):
        if process.poll() is not None:
            break
        await asyncio.sleep(0.1)
    else:
        process.kill()
    process.wait()
    assert process.stderr is not None
    complaint = process.stderr.read().decode(errors="replace").strip().splitlines()
    process.stderr.close()
    return complaint[-1] if process.returncode and complaint else ""
