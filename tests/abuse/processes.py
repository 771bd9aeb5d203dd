"""Attackers as processes of their own."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping

import msgspec

from tests.abuse.target import Target


def start_attacks(targets: Mapping[str, Target], seconds: float, *, nice: int = 0) -> "subprocess.Popen[bytes]":
    """Start attackers, by name, in one process, which ends by itself after so many seconds.

    With `nice` they leave the processors to the server and to others, as attackers on other machines do.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.abuse.attackers", str(seconds), str(nice), *targets],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(list(targets.values())))
    process.stdin.close()
    return process


async def wait_until_ready(process: "subprocess.Popen[bytes]") -> None:
    """Wait until the attackers of a process have imported what they need, and attack."""
    assert process.stdout is not None
    await asyncio.to_thread(process.stdout.readline)


async def finish_attacks(process: "subprocess.Popen[bytes]", seconds: float) -> str:
    """Wait for the end of such a process; the last line of its complaint where it failed."""
    for _ in range(int(seconds * 10)):
        if process.poll() is not None:
            break
        await asyncio.sleep(0.1)
    else:
        process.kill()
    return _complaint(process)


def stop_attacks(process: "subprocess.Popen[bytes]") -> str:
    """End such a process before its time; the last line of its complaint where it has failed by itself."""
    if process.poll() is None:
        process.kill()
        _complaint(process)
        return ""
    return _complaint(process) or "an attacker ended before its time"


def _complaint(process: "subprocess.Popen[bytes]") -> str:
    process.wait()
    assert process.stderr is not None
    complaint = process.stderr.read().decode(errors="replace").strip().splitlines()
    process.stderr.close()
    assert process.stdout is not None
    process.stdout.close()
    return complaint[-1] if process.returncode and complaint else ""
