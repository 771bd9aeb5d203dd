"""What must be true of a database whose server was killed."""

import apsw
import msgspec
from sqlalchemy import func, select

from moothall.objects.audit_log import AuditLogEvent
from moothall.storage.database import Query
from moothall.storage.engines import database_at
from moothall.storage.schema import audit_entries, channel_activity, messages, roles
from tests.server.load import Acknowledged

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
