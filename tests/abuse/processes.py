"""Attackers as processes of their own."""

import asyncio
import subprocess
import sys

import msgspec

from tests.abuse.target import Target


def start_attack(name: str, target: Target, seconds: float) -> "subprocess.Popen[bytes]":
    """Start an attacker, which ends by itself after so many seconds."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.abuse.attackers", name, str(seconds)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(target))
    process.stdin.close()
    return process


async def finish_attack(process: "subprocess.Popen[bytes]", seconds: float) -> str:
    """Wait for an attacker's end; the last line of its complaint where it failed."""
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
