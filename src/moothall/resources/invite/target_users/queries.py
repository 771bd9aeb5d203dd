"""The SQL of the target users of invites."""

from collections.abc import Sequence

from msgspec import Struct, structs

from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, insert_ignore, upsert
from moothall.storage.sql import bindparam, delete, select
from moothall.storage.tables import invite_target_jobs, invite_targets, invites


class TargetJobRow(Struct):
    """A row of `invite_target_jobs`."""

    guild_id: GuildId
    code: str
    version: Snowflake
    status: int
    total_users: int
    processed_users: int
    created_at: Timestamp
    completed_at: Timestamp | None
    waiting_ids: list[Snowflake]


_of_invite = (invite_targets.c.guild_id == bindparam("guild_id")) & (invite_targets.c.code == bindparam("code"))
_job_of_invite = (invite_target_jobs.c.guild_id == bindparam("guild_id")) & (
    invite_target_jobs.c.code == bindparam("code")
)
_select_job = Query(lambda: select(invite_target_jobs).where(_job_of_invite), into=TargetJobRow)
_lock_job = Query(lambda: select(invite_target_jobs).where(_job_of_invite).with_for_update(), into=TargetJobRow)
_upsert_job = Query(
    lambda: upsert(
        invite_target_jobs,
        key=("guild_id", "code"),
        update=("version", "status", "total_users", "processed_users", "created_at", "completed_at", "waiting_ids"),
    )
)
_select_target = Query(
    lambda: select(invite_targets.c.user_id).where(_of_invite, invite_targets.c.user_id == bindparam("user_id"))
)
_select_targets = Query(lambda: select(invite_targets.c.user_id).where(_of_invite).order_by(invite_targets.c.user_id))
_insert_target = Query(lambda: insert_ignore(invite_targets, key=("guild_id", "code", "user_id")))
_delete_targets = Query(lambda: delete(invite_targets).where(_of_invite))
_delete_job = Query(lambda: delete(invite_target_jobs).where(_job_of_invite))
_codes_of_channel = select(invites.c.code).where(invites.c.channel_id == bindparam("channel_id"))
_codes_expired = select(invites.c.code).where(
    invites.c.guild_id == bindparam("guild_id"), invites.c.expires_at <= bindparam("now")
)
_delete_of_channel, _delete_expired = (
    [
        Query(delete(table).where(table.c.guild_id == bindparam("guild_id"), table.c.code.in_(codes)))
        for table in (invite_targets, invite_target_jobs)
    ]
    for codes in (_codes_of_channel, _codes_expired)
)


async def select_target_job(reader: Reader, guild_id: GuildId, code: str) -> TargetJobRow | None:
    """The processing of an invite's target users; None for an invite that every user may accept."""
    return await reader.one(_select_job, guild_id=guild_id, code=code)


async def lock_target_job(tx: Transaction, guild_id: GuildId, code: str) -> TargetJobRow | None:
    """As `select_target_job`, and lock the row until the transaction ends."""
    return await tx.one(_lock_job, guild_id=guild_id, code=code)


async def upsert_target_job(tx: Transaction, row: TargetJobRow) -> None:
    """Insert or replace the processing of an invite's target users."""
    await tx.execute(_upsert_job, **structs.asdict(row))


async def is_target(reader: Reader, guild_id: GuildId, code: str, user_id: UserId) -> bool:
    """Whether a user is among the stored target users of an invite."""
    return await reader.one(_select_target, guild_id=guild_id, code=code, user_id=user_id) is not None


async def select_targets(reader: Reader, guild_id: GuildId, code: str) -> list[Snowflake]:
    """The stored target users of an invite, ascending."""
    return [Snowflake(row[0]) for row in await reader.all(_select_targets, guild_id=guild_id, code=code)]


async def insert_targets(tx: Transaction, guild_id: GuildId, code: str, user_ids: Sequence[Snowflake]) -> None:
    """Insert target users of an invite."""
    await tx.execute_many(
        _insert_target, [{"guild_id": guild_id, "code": code, "user_id": UserId(user_id)} for user_id in user_ids]
    )


async def delete_targets(tx: Transaction, guild_id: GuildId, code: str) -> None:
    """Delete the stored target users of an invite."""
    await tx.execute(_delete_targets, guild_id=guild_id, code=code)


async def delete_targets_of_invite(tx: Transaction, guild_id: GuildId, code: str) -> None:
    """Delete the target users of a deleted invite, and their processing."""
    await tx.execute(_delete_targets, guild_id=guild_id, code=code)
    await tx.execute(_delete_job, guild_id=guild_id, code=code)


async def delete_targets_of_channel(tx: Transaction, guild_id: GuildId, channel_id: ChannelId) -> None:
    """Delete the target users of all invites to a channel, which are deleted afterwards."""
    for query in _delete_of_channel:
        await tx.execute(query, guild_id=guild_id, channel_id=channel_id)


async def delete_targets_of_expired(tx: Transaction, guild_id: GuildId, now: Timestamp) -> None:
    """Delete the target users of the expired invites to a guild, which are deleted afterwards."""
    for query in _delete_expired:
        await tx.execute(query, guild_id=guild_id, now=now)
