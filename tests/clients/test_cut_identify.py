"""Connections that are cut while a client identifies: it resumes with all its guilds, or is told to identify anew."""

import asyncio
import random
from typing import Any

import pytest

from tests.clients.live import Person, World
from tests.gateway.raw_sockets import RawClient

GUILDS = 9
ROUNDS = 40
PATIENCE = 90


def url_of(person: Person) -> str:
    """The gateway's URL."""
    return person.world.server.url.replace("http", "ws") + "/gateway?v=10&encoding=json"


async def cut(person: Person, seconds: float, *, reset: bool) -> tuple[str, set[str], int]:
    """Identify, and lose the connection some time after READY: the session, its guilds so far, and the last number."""
    client = await RawClient.open(url_of(person))
    client.identify(person.token)
    session_id = (await client.until("READY"))["session_id"]
    guilds: set[str] = set()

    async def read() -> None:
        while (payload := await client.receive()) is not None:
            if payload["t"] == "GUILD_CREATE":
                guilds.add(payload["d"]["id"])

    try:
        async with asyncio.timeout(seconds):
            await read()
    except TimeoutError:
        pass
    finally:
        if reset:
            client.reset()
        else:
            await client.close()
    return session_id, guilds, client.seq


async def resume(person: Person, session_id: str, seq: int) -> tuple[bool, set[str]]:
    """Resume: whether the session was resumed, and the guilds received before RESUMED."""
    client = await RawClient.open(url_of(person))
    client.resume(person.token, session_id, seq)
    guilds: set[str] = set()
    try:
        while (payload := await client.receive()) is not None:
            if payload["op"] == 9:
                assert payload["d"] is False
                return False, guilds
            if payload["t"] == "GUILD_CREATE":
                guilds.add(payload["d"]["id"])
            if payload["t"] == "RESUMED":
                return True, guilds
    finally:
        await client.close()
    raise AssertionError("the server closed the connection without an answer")


@pytest.fixture(scope="module")
def server_settings() -> dict[str, Any]:
    """Without limits of identifying."""
    return {"rate_limits": "false"}


async def test_a_session_cut_while_it_begins_has_all_guilds_or_cannot_be_resumed(world: World) -> None:
    chance = random.Random(1)
    alice = await world.person("alice")
    guild_ids = {str(await world.guild(alice, f"Guild {number}")) for number in range(GUILDS)}
    async with asyncio.timeout(PATIENCE):
        for number in range(ROUNDS):
            seconds = 0 if number % 4 == 0 else chance.random() * 0.04
            session_id, before, seq = await cut(alice, seconds, reset=number % 3 > 0)
            resumed, after = await resume(alice, session_id, seq)
            if resumed:
                assert before | after == guild_ids
