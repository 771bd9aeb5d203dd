"""The SQL of bans."""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.text import search_key
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore
from moothall.storage.rows import UserRow
from moothall.storage.sql import ColumnElement, and_, bindparam, delete, func, or_, select
from moothall.storage.tables import bans, members, users

_KEY = ("guild_id", "user_id")
_ESCAPE: Final = "~"
"""Makes the next character of a LIKE pattern an ordinary one."""


class BanRow(Struct):
    """A row of `bans`."""

    guild_id: GuildId
    user_id: UserId
    reason: str | None
    created_at: Timestamp


class BanTarget(UserRow):
    """A row of `users`, with what the user is in a guild."""

    member_id: UserId | None
    """Their id if they are a member."""
    banned_id: UserId | None
    """Their id if they are banned."""


_of_guild = bans.c.guild_id == bindparam("guild_id")
_select_ban = Query(lambda: select(bans).where(_of_guild, bans.c.user_id == bindparam("user_id")), into=BanRow)
_select_target = Query(
    lambda: (
        select(users, members.c.user_id.label("member_id"), bans.c.user_id.label("banned_id"))
        .select_from(
            users.outerjoin(
                members, and_(members.c.guild_id == bindparam("guild_id"), members.c.user_id == users.c.id)
            ).outerjoin(bans, and_(bans.c.guild_id == bindparam("guild_id"), bans.c.user_id == users.c.id))
        )
        .where(users.c.id == bindparam("user_id"))
    ),
    into=BanTarget,
)
_select_banned_user_ids = Query(lambda: select(bans.c.user_id).where(_of_guild, in_list(bans.c.user_id, "user_ids")))
_select_bans_after = Query(
    lambda: (
        select(bans)
        .where(_of_guild, bans.c.user_id > bindparam("after"))
        .order_by(bans.c.user_id)
        .limit(bindparam("maximum"))
    ),
    into=BanRow,
)
_select_bans_before = Query(
    lambda: (
        select(bans)
        .where(_of_guild, bans.c.user_id < bindparam("before"))
        .order_by(bans.c.user_id.desc())
        .limit(bindparam("maximum"))
    ),
    into=BanRow,
)
_matching = or_(
    users.c.username_key.like(bindparam("username_pattern"), escape=_ESCAPE),
    func.lower(users.c.global_name).like(bindparam("name_pattern"), escape=_ESCAPE),
)


def _search(*conditions: ColumnElement[bool]) -> Query[BanRow]:
    return Query(
        lambda: (
            select(bans)
            .select_from(bans.join(users, users.c.id == bans.c.user_id))
            .where(_of_guild, *conditions)
            .order_by(bans.c.user_id)
            .limit(bindparam("maximum"))
        ),
        into=BanRow,
    )


_search_names = _search(_matching)
_search_ids = _search(in_list(bans.c.user_id, "user_ids"))
_search_both = _search(_matching, in_list(bans.c.user_id, "user_ids"))
_insert_ban = Query(lambda: insert_ignore(bans, key=_KEY), key=_KEY)
_delete_ban = Query(lambda: delete(bans).where(_of_guild, bans.c.user_id == bindparam("user_id")))


async def get_ban(reader: Reader, guild_id: GuildId, user_id: UserId) -> BanRow | None:
    """The ban of a user; None if they are not banned."""
    return await reader.one(_select_ban, guild_id=guild_id, user_id=user_id)


async def select_target(reader: Reader, guild_id: GuildId, user_id: UserId) -> BanTarget | None:
    """A user, and whether they are a member of a guild or banned from it; None for an unknown id."""
    return await reader.one(_select_target, guild_id=guild_id, user_id=user_id)


async def select_banned_user_ids(reader: Reader, guild_id: GuildId, user_ids: Collection[UserId]) -> set[UserId]:
    """The banned ones among several users."""
    return {
        UserId(row[0]) for row in await reader.all(_select_banned_user_ids, guild_id=guild_id, user_ids=list(user_ids))
    }


async def select_bans_after(reader: Reader, guild_id: GuildId, after: UserId, maximum: int) -> list[BanRow]:
    """The first `maximum` bans after a user id, ascending by user id."""
    return await reader.all_up_to(maximum, _select_bans_after, guild_id=guild_id, after=after, maximum=maximum)


async def select_bans_before(reader: Reader, guild_id: GuildId, before: UserId, maximum: int) -> list[BanRow]:
    """The last `maximum` bans before a user id, ascending by user id."""
    rows = await reader.all_up_to(maximum, _select_bans_before, guild_id=guild_id, before=before, maximum=maximum)
    return rows[::-1]


async def search_bans(
    reader: Reader, guild_id: GuildId, text: str | None, user_ids: Collection[UserId] | None, maximum: int
) -> list[BanRow]:
    """Bans of users whose username or display name contains a text, of those in `user_ids`, ascending by user id."""
    values: dict[str, object] = {"guild_id": guild_id, "maximum": maximum}
    if text is not None:
        values["username_pattern"] = _pattern(search_key(text))
        values["name_pattern"] = _pattern(text.lower())
    if user_ids is None:
        return (
            await reader.all_long(_search_names, **values)
            if text
            else await select_bans_after(reader, guild_id, UserId(Snowflake(0)), maximum)
        )
    values["user_ids"] = list(user_ids)
    return await reader.all_long(_search_ids if text is None else _search_both, **values)


def _pattern(text: str) -> str:
    """The LIKE pattern of what contains a text."""
    for special in (_ESCAPE, "%", "_"):
        text = text.replace(special, _ESCAPE + special)
    return f"%{text}%"


async def insert_ban(tx: Transaction, guild_id: GuildId, user_id: UserId, reason: str | None, at: Timestamp) -> None:
    """Insert a ban. Nothing happens, not even to its reason, if the user is banned already."""
    await tx.write(_insert_ban, guild_id=guild_id, user_id=user_id, reason=reason, created_at=at)


async def insert_bans(
    tx: Transaction, guild_id: GuildId, user_ids: Sequence[UserId], reason: str | None, at: Timestamp
) -> None:
    """Insert the bans of several users."""
    rows = [{"guild_id": guild_id, "user_id": user_id, "reason": reason, "created_at": at} for user_id in user_ids]
    await tx.execute_many(_insert_ban, rows)


async def delete_ban(tx: Transaction, guild_id: GuildId, user_id: UserId) -> bool:
    """Delete a ban; False if there is none."""
    return await tx.execute(_delete_ban, guild_id=guild_id, user_id=user_id) > 0
