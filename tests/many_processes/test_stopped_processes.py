"""A process that stops (SIGSTOP) with a lock of the database loses it, and the others go on."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from tests.many_processes.nodes import KEY
from tests.server.load import Acknowledged, Load
from tests.support.forking import ForkedServer

RELAY_LOCK = 1
PATIENCE = 60.0
"""Far more than it takes; without the deadline a lock is lost only when the process goes on, which it does later."""


class Deployment:
    """Two server processes on one database, of which one stops, and a person with a guild."""

    def __init__(
        self, stopping: ForkedServer, other: ForkedServer, first: Load, second: Load, database_url: str
    ) -> None:
        self.stopping = stopping
        self.other = other
        self.first = first
        """Requests to the process that stops."""
        self.second = second
        """The same person's requests to the other process."""
        self._database_url = database_url

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[asyncpg.Connection]:
        """A connection to the database."""
        connection = await asyncpg.connect(self._database_url)
        try:
            yield connection
        finally:
            await connection.close()

    async def patch_guild(self, load: Load, name: str) -> int:
        """Rename the guild; the status."""
        url = f"{load.url}/api/v10/guilds/{self.first.guild_id}"
        async with load.session.patch(url, json={"name": name}) as answer:
            await answer.read()
            return answer.status

    async def stop_with_lock(self, connection: asyncpg.Connection, number: int) -> None:
        """Stop the first process once a transaction of it has an advisory lock and waits for a row."""
        query = """
            SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE locktype = 'advisory' AND granted AND classid::bigint << 32 | objid::bigint = $1
            AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()
        """
        async with asyncio.timeout(PATIENCE):
            while not await connection.fetchval(query, number):  # noqa: ASYNC110 PostgreSQL announces no lock
                await asyncio.sleep(0.02)
        self.stopping.process.send_signal(signal.SIGSTOP)


@pytest.fixture
async def deployment(shared_database: str, nats_url: str, tmp_path: Path) -> AsyncIterator[Deployment]:
    """Two server processes."""
    settings = {"MOOTHALL_DATABASE_URL": shared_database, "MOOTHALL_NATS_URL": nats_url, "MOOTHALL_SECRET_KEY": KEY}
    arguments = ("--no-demo", "--no-rate-limits")
    with (
        ForkedServer(tmp_path / "first", *arguments, settings=settings) as stopping,
        ForkedServer(tmp_path / "second", *arguments, settings=settings) as other,
    ):
        async with Load(stopping.url, Acknowledged()) as first, Load(other.url, Acknowledged()) as second:
            await first.register("owner")
            await first.create_guild()
            second.session.headers["Authorization"] = first.token
            try:
                yield Deployment(stopping, other, first, second, shared_database)
            finally:
                for server in (stopping, other):
                    server.process.send_signal(signal.SIGCONT)


async def test_a_process_that_stops_with_a_guilds_lock_keeps_no_other_from_changing_the_guild(
    deployment: Deployment, record_property: Any
) -> None:
    async with deployment.connection() as blocking, deployment.connection() as watching:
        transaction = blocking.transaction()
        await transaction.start()
        await blocking.execute("SELECT FROM guilds WHERE id = $1 FOR UPDATE", deployment.first.guild_id)
        stuck = asyncio.create_task(deployment.patch_guild(deployment.first, "Stopped"))
        await deployment.stop_with_lock(watching, deployment.first.guild_id)
        await transaction.rollback()
    started = time.monotonic()
    # It waits for the lock for at most ten seconds, and would be refused then.
    assert await deployment.patch_guild(deployment.second, "Other") == 200
    record_property("seconds", time.monotonic() - started)
    assert not stuck.done()
    deployment.stopping.process.send_signal(signal.SIGCONT)
    assert await stuck in {200, 503}
    assert await deployment.patch_guild(deployment.first, "Back") == 200
    guild = await deployment.second.ask("GET", f"/guilds/{deployment.first.guild_id}")
    assert guild["name"] == "Back"


async def test_a_process_that_stops_with_the_relays_lock_keeps_no_event_from_the_others(
    deployment: Deployment, record_property: Any
) -> None:
    other, message = deployment.other, {"content": "while it is stopped"}
    path = f"/channels/{deployment.first.channel_id}/messages"
    async with (
        aiohttp.ClientSession() as http,
        http.ws_connect(f"{other.url}/gateway?v=10&encoding=json") as socket,
        deployment.connection() as locking,
        deployment.connection() as blocking,
    ):
        await socket.send_json({"op": 2, "d": {"token": deployment.first.token, "properties": {}}})
        await receive(socket, "GUILD_CREATE")
        # The other one must not be the one that relays.
        other.process.send_signal(signal.SIGSTOP)
        await locking.execute("SELECT pg_advisory_lock($1)", RELAY_LOCK)
        await deployment.first.ask("POST", path, message)
        transaction = blocking.transaction()
        await transaction.start()
        assert await blocking.fetch("SELECT FROM outbox FOR UPDATE")
        await locking.execute("SELECT pg_advisory_unlock($1)", RELAY_LOCK)
        await deployment.stop_with_lock(locking, RELAY_LOCK)
        await transaction.rollback()
        started = time.monotonic()
        other.process.send_signal(signal.SIGCONT)
        async with asyncio.timeout(PATIENCE):
            assert (await receive(socket, "MESSAGE_CREATE"))["content"] == message["content"]
        record_property("seconds", time.monotonic() - started)
        deployment.stopping.process.send_signal(signal.SIGCONT)
        # What it publishes a second time is recognized by its number.
        await deployment.first.ask("POST", path, {"content": "after"})
        assert (await receive(socket, "MESSAGE_CREATE"))["content"] == "after"


async def receive(socket: aiohttp.ClientWebSocketResponse, name: str) -> Any:
    """The data of the next dispatch of a name."""
    async for message in socket:
        payload = json.loads(message.data)
        if payload["t"] == name:
            return payload["d"]
    raise AssertionError(f"the socket was closed before {name}")
