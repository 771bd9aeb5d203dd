"""The SQL of pruning."""

from collections.abc import Sequence
from typing import Any

from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.rows import MemberRow
from moothall.storage.sql import Select, Text, bindparam, func, select, type_coerce
from moothall.storage.tables import member_activity, members, users

_listed = type_coerce(members.c.roles, Text)
# Not GROUP BY, which would sort the lists of all members first.
_select_lists = Query(lambda: select(_listed).distinct().where(members.c.guild_id == bindparam("guild_id")))


_seen_at = func.coalesce(member_activity.c.last_seen_at, members.c.joined_at)


def _inactive(*columns: object) -> Select[Any]:
    """Select members with one of several role lists who were not seen since a time, without bots and the owner."""
    return _with_role_lists(*columns).where(_seen_at < bindparam("since"))


def _with_role_lists(*columns: Any) -> Select[Any]:
    return (
        select(*columns)
        .select_from(
            members.join(users, users.c.id == members.c.user_id).outerjoin(
                member_activity,
                (member_activity.c.guild_id == members.c.guild_id) & (member_activity.c.user_id == members.c.user_id),
            )
        )
        .where(
            members.c.guild_id == bindparam("guild_id"),
            members.c.user_id != bindparam("owner_id"),
            ~users.c.bot,
            in_list(_listed, "role_lists"),
        )
    )


_select_inactive = Query(lambda: _inactive(members.c.user_id).order_by(members.c.user_id))
_select_next_inactive = Query(lambda: _with_role_lists(func.min(_seen_at)).where(_seen_at >= bindparam("since")))
_select_inactive_among = Query(lambda: _inactive(members).where(in_list(members.c.user_id, "user_ids")), into=MemberRow)


async def select_role_lists(reader: Reader, guild_id: GuildId) -> list[str]:
    """The distinct role lists of a guild's members, as stored. There are few, as many members share each."""
    return [row[0] for row in await reader.all_long(_select_lists, guild_id=guild_id)]


async def select_inactive(
    reader: Reader, guild_id: GuildId, *, owner_id: UserId, since: Timestamp, role_lists: Sequence[str]
) -> list[UserId]:
    """The members who meet the criteria of a prune, ascending by user id."""
    rows = await reader.all_long(
        _select_inactive, guild_id=guild_id, owner_id=owner_id, since=since, role_lists=role_lists
    )
    return [UserId(Snowflake(row[0])) for row in rows]


async def select_next_inactive(
    reader: Reader, guild_id: GuildId, *, owner_id: UserId, since: Timestamp, role_lists: Sequence[str]
) -> Timestamp | None:
    """When the first of the members was seen who meet the criteria of a prune but for the time; None without any."""
    rows = await reader.all_long(
        _select_next_inactive, guild_id=guild_id, owner_id=owner_id, since=since, role_lists=role_lists
    )
    return None if rows[0][0] is None else Timestamp(rows[0][0])


async def select_inactive_among(
    reader: Reader,
    guild_id: GuildId,
    user_ids: Sequence[UserId],
    *,
    owner_id: UserId,
    since: Timestamp,
    role_lists: Sequence[str],
) -> list[MemberRow]:
    """The rows of those among several members who meet the criteria of a prune."""
    return await reader.all(
        _select_inactive_among,
        guild_id=guild_id,
        user_ids=user_ids,
        owner_id=owner_id,
        since=since,
        role_lists=role_lists,
    )
