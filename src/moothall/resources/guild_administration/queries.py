"""The SQL of guilds as operators find them."""

from typing import Any

from msgspec import Struct

from moothall.objects.ids import MAX_ID, GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import ColumnElement, Select, Table, bindparam, func, null, select
from moothall.storage.tables import (
    channels,
    deleted_guild_counters,
    deleted_guilds,
    guild_counters,
    guild_storage,
    guilds,
    members,
    users,
)


class GuildSummaryRow(Struct, frozen=True):
    """A guild with its owner's name and the number of its members."""

    id: GuildId
    name: str
    owner_id: UserId
    owner_name: str | None
    features: list[str]
    premium_tier: int
    max_members: int
    member_count: int
    deleted_at: Timestamp | None
    deletes_at: Timestamp | None


class GuildStorageRow(Struct, frozen=True):
    """What a guild has stored, and its own quota."""

    guild_id: GuildId
    name: str | None
    bytes: int
    quota_mb: int | None


def _guilds(guilds: Table, counters: Table) -> Select[Any]:
    """The columns of guilds that are there, or of deleted ones."""
    moments: list[ColumnElement[Any]] = [null().label("deleted_at"), null().label("deletes_at")]
    if guilds is deleted_guilds:
        moments = [deleted_guilds.c.deleted_at, deleted_guilds.c.deletes_at]
    return select(
        guilds.c.id,
        guilds.c.name,
        guilds.c.owner_id,
        users.c.username.label("owner_name"),
        guilds.c.features,
        guilds.c.premium_tier,
        guilds.c.max_members,
        counters.c.member_count,
        *moments,
    ).select_from(
        guilds.join(counters, counters.c.guild_id == guilds.c.id).outerjoin(users, users.c.id == guilds.c.owner_id)
    )


def _matching(guilds: Table, counters: Table) -> Select[Any]:
    return (
        _guilds(guilds, counters)
        .where(guilds.c.id < bindparam("before"), func.lower(guilds.c.name).like(bindparam("pattern"), escape="\\"))
        .order_by(guilds.c.id.desc())
        .limit(bindparam("maximum"))
    )


_select_guilds = Query(lambda: _matching(guilds, guild_counters), into=GuildSummaryRow)
_select_deleted_guilds = Query(lambda: _matching(deleted_guilds, deleted_guild_counters), into=GuildSummaryRow)
_select_guild = Query(
    lambda: _guilds(guilds, guild_counters).where(guilds.c.id == bindparam("guild_id")), into=GuildSummaryRow
)
_select_deleted_guild = Query(
    lambda: _guilds(deleted_guilds, deleted_guild_counters).where(deleted_guilds.c.id == bindparam("guild_id")),
    into=GuildSummaryRow,
)
_count_channels = Query(
    lambda: select(func.count()).select_from(channels).where(channels.c.guild_id == bindparam("guild_id"))
)
_select_largest = Query(
    lambda: (
        select(
            guild_storage.c.guild_id,
            func.coalesce(guilds.c.name, deleted_guilds.c.name).label("name"),
            guild_storage.c.bytes,
            guild_storage.c.quota_mb,
        )
        .select_from(
            guild_storage.outerjoin(guilds, guilds.c.id == guild_storage.c.guild_id).outerjoin(
                deleted_guilds, deleted_guilds.c.id == guild_storage.c.guild_id
            )
        )
        .order_by(guild_storage.c.bytes.desc(), guild_storage.c.guild_id)
        .limit(bindparam("maximum"))
    ),
    into=GuildStorageRow,
)
_is_member = Query(
    lambda: select(members.c.user_id).where(
        members.c.guild_id == bindparam("guild_id"),
        members.c.user_id == bindparam("user_id"),
        members.c.guest_channel_id.is_(None),
    )
)
_count = Query(lambda: select(func.count()).select_from(guilds))
_select_storage = Query(
    lambda: select(guild_storage.c.bytes, guild_storage.c.quota_mb).where(
        guild_storage.c.guild_id == bindparam("guild_id")
    )
)
_set_quota = Query(lambda: upsert(guild_storage, key=("guild_id",), update=("quota_mb",)))


async def select_guilds(reader: Reader, *, search: str, before: GuildId | None, maximum: int) -> list[GuildSummaryRow]:
    """Read guilds, newest first, with smaller ids than `before` and `search` in their names, in any case."""
    return await _select_matching(reader, _select_guilds, search, before, maximum)


async def select_deleted_guilds(
    reader: Reader, *, search: str, before: GuildId | None, maximum: int
) -> list[GuildSummaryRow]:
    """Read deleted guilds that can be restored, as `select_guilds` does."""
    return await _select_matching(reader, _select_deleted_guilds, search, before, maximum)


async def _select_matching(
    reader: Reader, query: Query[GuildSummaryRow], search: str, before: GuildId | None, maximum: int
) -> list[GuildSummaryRow]:
    escaped = search.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    last = before or GuildId(Snowflake(MAX_ID))
    return await reader.all_long(query, pattern=f"%{escaped}%", before=last, maximum=maximum)


async def select_guild(reader: Reader, guild_id: GuildId) -> GuildSummaryRow | None:
    """Read a guild, or a deleted one that can be restored; None for an unknown one."""
    for query in (_select_guild, _select_deleted_guild):
        row = await reader.one(query, guild_id=guild_id)
        if row is not None:
            return row
    return None


async def count_channels(reader: Reader, guild_id: GuildId) -> int:
    """Count the channels and threads of a guild."""
    return int(await reader.scalar(_count_channels, guild_id=guild_id))


async def count_guilds(reader: Reader) -> int:
    """Count all guilds."""
    return int(await reader.scalar(_count))


async def select_storage(reader: Reader, guild_id: GuildId) -> tuple[int, int | None]:
    """Read the bytes of the files of a guild, and its own quota in megabytes; None where that of the setting counts."""
    row = await reader.one(_select_storage, guild_id=guild_id)
    return (0, None) if row is None else (int(row[0]), None if row[1] is None else int(row[1]))


async def select_largest(reader: Reader, maximum: int) -> list[GuildStorageRow]:
    """Read the guilds that have stored most, those that can be restored too; the largest first."""
    return await reader.all_long(_select_largest, maximum=maximum)


async def set_storage_quota(tx: Transaction, guild_id: GuildId, megabytes: int | None) -> None:
    """Store the quota of a guild; with None that of the setting counts."""
    await tx.execute(_set_quota, guild_id=guild_id, bytes=0, quota_mb=megabytes)


async def is_member(reader: Reader, guild_id: GuildId, user_id: UserId) -> bool:
    """Whether a user is a member of a guild, and no guest."""
    return await reader.one(_is_member, guild_id=guild_id, user_id=user_id) is not None
