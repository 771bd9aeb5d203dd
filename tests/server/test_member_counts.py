"""Users who identify while members come and go count them right: one process, workers, PostgreSQL."""

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.mirror import Mirror
from tests.gateway.raw_sockets import RawClient
from tests.server.load import Acknowledged, Load
from tests.support.serving import RunningServer

MOVERS = 6
SESSIONS = 48
PATIENCE = 100
_HEARTBEAT = 1
_INVALID_SESSION = 9
END = "everybody has moved"


@pytest.fixture(params=["one process", "workers", "postgresql"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunningServer]:
    """A server without rate limits, of each kind in turn."""
    empty = request.getfixturevalue("emptying") if request.param == "postgresql" else None
    config = tmp_path / "moothall.toml"
    lines = ["rate_limits = false", "demo = false"]
    if request.param == "postgresql":
        url = request.getfixturevalue("migrated_postgres")
        lines.append(f'database_url = "{url}"')
    config.write_text("\n".join(lines))
    workers = ["--workers", "2"] if request.param == "workers" else []
    with RunningServer(tmp_path / "data", "--config", str(config), *workers) as running:
        yield running
    if empty is not None:
        empty()


async def move(mover: Load, invite: str, guild_id: int, ending: asyncio.Event) -> None:
    """Join and leave again and again, until told to end: then the last request has been answered."""
    chance = random.Random(mover.token)
    while not ending.is_set():
        await mover.ask("POST", f"/invites/{invite}")
        await asyncio.sleep(chance.random() * 0.02)
        if ending.is_set() and chance.random() < 0.5:
            break
        await mover.ask("DELETE", f"/users/@me/guilds/{guild_id}")
        await asyncio.sleep(chance.random() * 0.01)


class Watcher:
    """A session and its mirror."""

    def __init__(self, client: RawClient, token: str) -> None:
        self.client = client
        self.mirror = Mirror()
        self._token = token

    def identify(self) -> None:
        """Start a session, whose mirror is empty."""
        self.mirror = Mirror()
        self.client.identify(self._token, large_threshold=250)

    async def watch(self) -> None:
        """Apply what is received, until the message at the end."""
        name: Any = None
        while (payload := await self.client.receive()) is not None:
            name, data = payload["t"] or payload["op"], payload["d"]
            if name == _HEARTBEAT:
                # The server asks before it takes a client for gone, which a slow machine makes of all that are silent.
                self.client.send(_HEARTBEAT, None)
            if name == _INVALID_SESSION:
                await asyncio.sleep(1)
                self.identify()
            if name in {"GUILD_CREATE", "GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE"}:
                self.mirror.apply(name, data)
            if name == "MESSAGE_CREATE" and data["content"] == END:
                return
        raise AssertionError(f"the server closed the connection after {name}")


async def connect(server: RunningServer, token: str) -> Watcher:
    """A watcher that has sent Identify."""
    client = await RawClient.open(server.url.replace("http", "ws") + "/gateway?v=10&encoding=json")
    watcher = Watcher(client, token)
    watcher.identify()
    return watcher


async def test_sessions_that_identify_while_members_come_and_go_have_the_stored_count(server: RunningServer) -> None:
    people = [Load(server.url, Acknowledged()) for _ in range(MOVERS + 1)]
    async with asyncio.timeout(PATIENCE):
        for number, person in enumerate(people):
            await person.__aenter__()
            await person.register(f"person{number}")
        owner, *movers = people
        await owner.create_guild()
        invite = (await owner.ask("POST", f"/channels/{owner.channel_id}/invites", {"max_uses": 0}))["code"]
        ending = asyncio.Event()
        moving = [asyncio.create_task(move(mover, invite, owner.guild_id, ending)) for mover in movers]
        watchers: list[Watcher] = []
        watching: list[asyncio.Task[None]] = []
        for _ in range(SESSIONS):
            watchers.append(await connect(server, owner.token))
            watching.append(asyncio.create_task(watchers[-1].watch()))
            await asyncio.sleep(0.02)
        ending.set()
        await asyncio.gather(*moving)
        waiting: set[asyncio.Task[None]] = set(watching)
        while waiting:
            # A session that is not ready yet, or has to identify anew, does not hear the first one.
            await owner.ask("POST", f"/channels/{owner.channel_id}/messages", {"content": END})
            _, waiting = await asyncio.wait(waiting, timeout=1)
        await asyncio.gather(*watching)
        stored = await owner.ask("GET", f"/guilds/{owner.guild_id}?with_counts=true")
        listed = await owner.ask("GET", f"/guilds/{owner.guild_id}/members?limit=1000")
        counts = [watcher.mirror.guilds[stored["id"]]["member_count"] for watcher in watchers]
        assert len(listed) == stored["approximate_member_count"]
        assert counts == [len(listed)] * SESSIONS
        for watcher in watchers:
            await watcher.client.close()
        for person in people:
            await person.session.close()
