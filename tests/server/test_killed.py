"""What is left when a server under load is killed, again and again."""

import asyncio
import random
import signal
from pathlib import Path

import apsw
import msgspec
from sqlalchemy import func, select

from moothall.objects.audit_log import AuditLogEvent
from moothall.storage.database import Query
from moothall.storage.engines import database_at
from moothall.storage.schema import audit_entries, channel_activity, messages, roles
from tests.forking import ForkedServer
from tests.server.load import Acknowledged, Load

ROUNDS = 5

_MESSAGES = Query(select(messages.c.id, messages.c.channel_id, messages.c.body))
_ROLES = Query(select(roles.c.id, roles.c.guild_id).where(roles.c.id != roles.c.guild_id))
_RECORDED = Query(
    select(audit_entries.c.target_id, audit_entries.c.guild_id).where(
        audit_entries.c.action_type == int(AuditLogEvent.ROLE_CREATE)
    )
)
_ACTIVITY = Query(select(channel_activity.c.channel_id, channel_activity.c.last_message_id))
_NEWEST = Query(select(messages.c.channel_id, func.max(messages.c.id)).group_by(messages.c.channel_id))


async def check(url: str, acknowledged: Acknowledged) -> None:
    """Look into the database of a server that is not there any more."""
    if url.startswith("sqlite"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()
    database = database_at(url)
    await database.open()
    async with database.read() as reader:
        stored = {
            int(id): (int(channel_id), msgspec.json.decode(body)["content"])
            for id, channel_id, body in await reader.all(_MESSAGES)
        }
        made = {int(id): int(guild_id) for id, guild_id in await reader.all(_ROLES)}
        recorded = {int(id): int(guild_id) for id, guild_id in await reader.all(_RECORDED)}
        activity: dict[int, int] = dict(await reader.all(_ACTIVITY))
        newest: dict[int, int] = dict(await reader.all(_NEWEST))
    await database.close()
    assert acknowledged.messages.items() <= stored.items()
    assert acknowledged.roles.items() <= made.items()
    # Nothing half done: a role and its record, a message and its channel's newest, come together or not at all.
    assert made == recorded
    assert {channel: activity.get(channel) for channel in newest} == newest


async def test_a_server_killed_while_writing_keeps_all_it_acknowledged_and_nothing_half_done(
    database_url: str, tmp_path: Path
) -> None:
    chance = random.Random(7)
    acknowledged = Acknowledged()
    load = Load("", acknowledged)
    arguments = ("--no-demo", "--no-rate-limits", "--database-url", database_url)
    for round_number in range(ROUNDS):
        before = len(acknowledged.messages)
        with ForkedServer(tmp_path / "data", *arguments) as server:
            async with Load(server.url, acknowledged) as load:
                await load.register(f"writer{round_number}")
                await load.create_guild()
                writing = asyncio.create_task(load.write())
                await load.acknowledged_more_than(before + 20)
                await asyncio.sleep(chance.uniform(0.0, 0.4))
                assert server.stop(signal.SIGKILL) == -signal.SIGKILL
                await writing
                assert load.odd == []
        await check(database_url, acknowledged)
    assert acknowledged.roles
    # The last writer, still logged in, sees the newest of what was said.
    said = sorted(id for id, (channel_id, _) in acknowledged.messages.items() if channel_id == load.channel_id)
    with ForkedServer(tmp_path / "data", *arguments) as server:
        path = f"/channels/{load.channel_id}/messages?limit=100"
        page = server.request("GET", path, token=load.token).json
        shown = {int(message["id"]): (load.channel_id, message["content"]) for message in page}
        known = set(shown) & set(said)
        assert {id: shown[id] for id in known} == {id: acknowledged.messages[id] for id in known}
        assert {id for id in said if id >= min(shown)} <= set(shown)
        assert server.request("POST", path.partition("?")[0], {"content": "on"}, token=load.token).status == 200
