"""`make soak MINUTES=40`: a steady load for long, and what of the server's memory grows meanwhile.

Twenty members write, edit, delete, react and read at a bounded rate, while their sessions come and go. A figure that
grows in the first half only has found its bound; one that grows in the second half as it did in the first one leaks.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp

from benchmarks.world import SMALL, World, build

_CLIENTS: Final = 20
_SESSION_SECONDS: Final = (5.0, 60.0)
_KEPT: Final = 50
"""Messages that a client remembers, to edit and to delete them."""
_SHOWN: Final = 25
_MIB: Final = 1 << 20


class Member:
    """A client: requests at a rate of its own, and a session that comes and goes."""

    def __init__(self, session: aiohttp.ClientSession, world: World, token: str, number: int) -> None:
        self._session = session
        self._world = world
        self._token = token
        self._random = random.Random(number)
        self._messages: list[tuple[int, int]] = []
        """Channel and message of what it has written."""
        self.statuses: dict[int, int] = {}

    async def write(self, per_second: float, until: float) -> None:
        """Send requests, one after another, so many a second."""
        due = time.monotonic() + self._random.random() / per_second
        while due < until:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due = max(due + 1 / per_second, time.monotonic() - 1.0)
            with contextlib.suppress(aiohttp.ClientError):
                await self._act()

    async def connect(self, until: float) -> None:
        """Hold a session for a while, again and again: half of them end without a close frame."""
        while time.monotonic() < until:
            seconds = min(self._random.uniform(*_SESSION_SECONDS), until - time.monotonic())
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                await self._hold_session(seconds)
            await asyncio.sleep(self._random.uniform(0.0, 2.0))

    async def _hold_session(self, seconds: float) -> None:
        async with self._session.ws_connect("/gateway/?v=10&encoding=json", max_msg_size=0) as websocket:
            await websocket.receive()
            properties = {"os": "linux", "browser": "soak", "device": "soak"}
            body = {"token": self._token, "properties": properties, "intents": (1 << 25) - 1}
            await websocket.send_json({"op": 2, "d": body})
            ends = time.monotonic() + seconds
            beat = time.monotonic() + 30
            while (now := time.monotonic()) < ends:
                if now > beat:
                    beat = now + 30
                    await websocket.send_json({"op": 1, "d": None})
                with contextlib.suppress(TimeoutError):
                    message = await websocket.receive(timeout=max(0.01, min(ends, beat) - now))
                    if message.type is not aiohttp.WSMsgType.TEXT:
                        return
            if self._random.random() < 0.5 and (transport := websocket.get_extra_info("socket")) is not None:
                with contextlib.suppress(OSError):
                    transport.shutdown(socket.SHUT_RDWR)

    async def _act(self) -> None:
        draw = self._random.random()
        channel = self._world.channel_id if draw < 0.2 else self._random.choice(self._world.facts["channel_ids"])
        if draw < 0.55 or not self._messages:
            text = " ".join(str(self._random.randrange(10_000)) for _ in range(8))
            sent = await self._ask("POST", f"/channels/{channel}/messages", {"content": text})
            if sent is not None:
                self._messages = [*self._messages[-_KEPT:], (int(sent["channel_id"]), int(sent["id"]))]
            return
        index = self._random.randrange(len(self._messages))
        path = "/channels/{}/messages/{}".format(*self._messages[index])
        if draw < 0.63:
            await self._ask("PATCH", path, {"content": f"edited {draw}"})
        elif draw < 0.7:
            await self._ask("DELETE", path)
            del self._messages[index]
        elif draw < 0.78:
            await self._ask("PUT", f"{path}/reactions/%F0%9F%91%8D/@me")
        elif draw < 0.83:
            await self._ask("POST", f"/channels/{channel}/typing")
        elif draw < 0.87:
            await self._ask("POST", f"{path}/ack", {})
        else:
            await self._read(channel)

    async def _read(self, channel: int) -> None:
        guild, draw = self._world.guild_id, self._random.random()
        if draw < 0.5:
            await self._ask("GET", f"/channels/{channel}/messages?limit=50")
        elif draw < 0.7:
            person = self._random.choice(self._world.facts["people"])
            await self._ask("GET", f"/guilds/{guild}/members/{person}")
        elif draw < 0.8:
            await self._ask("GET", f"/guilds/{guild}/messages/search?content={self._random.randrange(10_000)}")
        elif draw < 0.9:
            await self._ask("GET", f"/guilds/{guild}/channels")
        else:
            await self._ask("GET", "/users/@me/guilds")

    async def _ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": self._token}
        async with self._session.request(method, f"/api/v10{path}", json=body, headers=headers) as answer:
            content = await answer.read()
        self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        return json.loads(content) if content and answer.status < 300 else None


@asynccontextmanager
async def _serving(folder: Path, port: int, url: str | None, report: Path, seconds: float) -> AsyncIterator[None]:
    command = [sys.executable, "-m", "benchmarks.soak_server", str(report), str(seconds), "serve"]
    command += ["--data", str(folder), "--port", str(port), "--no-demo", "--log-level", "warning"]
    command += ["--database-url", url] if url else []
    # High limits instead of none: their counters are part of what may grow.
    settings = {"MOOTHALL_RATE_LIMIT_LOOPBACK_FACTOR": "100000"}
    process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **settings})
    try:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            await asyncio.sleep(0.1)
        yield
    finally:
        process.terminate()
        await process.wait()


async def soak(folder: Path, *, minutes: float, rate: float, port: int, url: str | None, report: Path) -> None:
    """Run the load, and print the figures."""
    world = await asyncio.to_thread(build, folder, SMALL, sessions=_CLIENTS, url=url)
    until = time.monotonic() + minutes * 60
    async with (
        _serving(folder, port, url, report, max(10.0, minutes * 60 / 80)),
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session,
        asyncio.TaskGroup() as tasks,
    ):
        members = [Member(session, world, token, index) for index, token in enumerate(world.session_tokens)]
        for member in members:
            tasks.create_task(member.write(rate / len(members), until))
            tasks.create_task(member.connect(until))
    statuses: dict[int, int] = {}
    for member in members:
        for status, count in member.statuses.items():
            statuses[status] = statuses.get(status, 0) + count
    print("answers:", ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items())))
    print(table(report))


def table(report: Path) -> str:
    """What grew: each figure at the beginning, in the middle and at the end."""
    looks = [json.loads(line) for line in report.read_text().splitlines()]
    if len(looks) < 4:
        return "it was too short to say what grows"
    # The first looks see the start.
    looks_at = begin, middle, end = looks[len(looks) // 8], looks[len(looks) // 2], looks[-1]
    lines = [f"{'':60} {begin['seconds']:>10} s {middle['seconds']:>10} s {end['seconds']:>10} s"]
    lines += [
        f"{name + ', MiB':60}" + "".join(f" {look.get(name, 0) / _MIB:12.1f}" for look in looks_at)
        for name in ("resident", "anonymous", "heap_used", "heap_free", "heap_mapped", "sqlite")
    ]
    lines += [f"{name:60}" + "".join(f" {look[name]:12}" for look in looks_at) for name in ("blocks", "objects")]
    for group in ("lengths", "types"):
        names = set(end[group])
        grown = sorted(names, key=lambda name: begin[group].get(name, 0) - end[group][name])[:_SHOWN]
        lines += ["", group]
        lines += [
            f"{name[-60:]:60} " + " ".join(f"{look[group].get(name, 0):12}" for look in (begin, middle, end))
            for name in grown
            if end[group][name] > begin[group].get(name, 0)
        ]
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--rate", type=float, default=100.0, help="requests a second, of all clients together")
    parser.add_argument("--port", type=int, default=3399)
    parser.add_argument("--database", help="the URL of an empty PostgreSQL database; without one, a file")
    parser.add_argument("--report", type=Path, help="the file for each look, a line of JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = arguments.report or Path(folder) / "looks.jsonl"
        asyncio.run(
            soak(
                Path(folder) / "data",
                minutes=arguments.minutes,
                rate=arguments.rate,
                port=arguments.port,
                url=arguments.database,
                report=report,
            )
        )


if __name__ == "__main__":
    main()
