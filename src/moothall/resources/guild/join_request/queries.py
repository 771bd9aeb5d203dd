"""The SQL of join requests."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

from moothall.objects.ids import GuildId, JoinRequestId, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.sql import ColumnElement, bindparam, delete, func, insert, select
from moothall.storage.tables import join_requests


class JoinRequestRow(Struct):
    """A row of `join_requests`."""

    guild_id: GuildId
    id: JoinRequestId
    user_id: UserId
    status: str
    created_at: Timestamp
    reviewed_at: Timestamp | None
    reviewer_id: UserId | None
    rejection_reason: str | None
    form_responses: list[JsonObject]


_in_guild = join_requests.c.guild_id == bindparam("guild_id")


def _of(user: ColumnElement[bool]) -> ColumnElement[bool]:
    # Without the subquery, SQLite would rather look at all join requests of the guild than use the index of users.
    return _in_guild & join_requests.c.id.in_(select(join_requests.c.id).where(_in_guild, user).correlate(None))


_of_users = _of(in_list(join_requests.c.user_id, "user_ids"))
_submitted = _of_users & (join_requests.c.status == "SUBMITTED")
_with_status = _in_guild & (join_requests.c.status == bindparam("status"))
_before, _after = join_requests.c.id < bindparam("before"), join_requests.c.id > bindparam("after")
_ascending, _descending = join_requests.c.id.asc(), join_requests.c.id.desc()

_insert = Query(lambda: insert(join_requests))
_select = Query(
    lambda: select(join_requests).where(_in_guild, join_requests.c.id == bindparam("id")), into=JoinRequestRow
)
_select_newest = Query(
    lambda: (
        select(join_requests).where(_of(join_requests.c.user_id == bindparam("user_id"))).order_by(_descending).limit(1)
    ),
    into=JoinRequestRow,
)
_select_submitted = Query(lambda: select(join_requests).where(_submitted), into=JoinRequestRow)
_delete_submitted = Query(lambda: delete(join_requests).where(_submitted))


def _page(*conditions: ColumnElement[bool], order: ColumnElement[Any]) -> Query[JoinRequestRow]:
    statement = select(join_requests).where(*conditions).order_by(order).limit(bindparam("maximum"))
    return Query(statement, into=JoinRequestRow)


_page_before, _page_after = _page(_in_guild, _before, order=_descending), _page(_in_guild, _after, order=_ascending)
_status_page_before = _page(_with_status, _before, order=_descending)
_status_page_after = _page(_with_status, _after, order=_ascending)
_count = Query(lambda: select(func.count()).select_from(join_requests).where(_in_guild))
_count_with_status = Query(lambda: select(func.count()).select_from(join_requests).where(_with_status))


async def insert_join_request(tx: Transaction, row: JoinRequestRow) -> None:
    """Insert a join request."""
    await tx.execute(_insert, **structs.asdict(row))


async def update_join_request(tx: Transaction, row: JoinRequestRow) -> None:
    """Update the columns of a join request that change."""
    columns = {
        "status": row.status,
        "reviewed_at": row.reviewed_at,
        "reviewer_id": row.reviewer_id,
        "rejection_reason": row.rejection_reason,
        "form_responses": row.form_responses,
    }
    query = update_columns(join_requests, key=("guild_id", "id"), columns=frozenset(columns))
    await tx.execute(query, guild_id=row.guild_id, id=row.id, **columns)


async def select_join_request(reader: Reader, guild_id: GuildId, request_id: JoinRequestId) -> JoinRequestRow | None:
    """One join request of a guild; None if there is none."""
    return await reader.one(_select, guild_id=guild_id, id=request_id)


async def select_newest_of_user(reader: Reader, guild_id: GuildId, user_id: UserId) -> JoinRequestRow | None:
    """The newest join request of a user; None if there is none."""
    return await reader.one(_select_newest, guild_id=guild_id, user_id=user_id)


async def select_submitted(reader: Reader, guild_id: GuildId, user_ids: Sequence[UserId]) -> list[JoinRequestRow]:
    """The join requests of users that await review."""
    return await reader.all(_select_submitted, guild_id=guild_id, user_ids=list(user_ids))


async def delete_submitted(tx: Transaction, guild_id: GuildId, user_ids: Sequence[UserId]) -> None:
    """Delete the join requests of users that await review."""
    await tx.execute(_delete_submitted, guild_id=guild_id, user_ids=list(user_ids))


async def select_join_requests(
    reader: Reader, guild_id: GuildId, status: str | None, *, before: int, after: int | None, maximum: int
) -> list[JoinRequestRow]:
    """Join requests of a status, or of any: the newest before an id, or the oldest after one."""
    bound: dict[str, object] = {"before": before} if after is None else {"after": after}
    if status is None:
        query = _page_before if after is None else _page_after
        return await reader.all(query, guild_id=guild_id, maximum=maximum, **bound)
    query = _status_page_before if after is None else _status_page_after
    return await reader.all(query, guild_id=guild_id, status=status, maximum=maximum, **bound)


async def count_join_requests(reader: Reader, guild_id: GuildId, status: str | None) -> int:
    """The number of join requests of a status, or of any."""
    if status is None:
        return int(await reader.scalar(_count, guild_id=guild_id))
    return int(await reader.scalar(_count_with_status, guild_id=guild_id, status=status))
