"""The SQL of accounts as operators find them."""

from typing import Any

from msgspec import Struct

from moothall.objects.ids import MAX_ID, Snowflake, UserId
from moothall.resources.user.queries import AccountState
from moothall.storage.database import Query, Reader
from moothall.storage.rows import UserRow
from moothall.storage.sql import BindParameter, ColumnElement, Select, and_, bindparam, case, func, or_, select
from moothall.storage.tables import auth_sessions, guilds, members, storage_usage, users


class UserUse(Struct, frozen=True):
    """What an account has: guilds, logins, bytes of files."""

    guilds: int
    logins: int
    bytes: int


class UserStorageRow(Struct, frozen=True):
    """What an account has stored; bots too."""

    user_id: UserId
    username: str | None
    bot: bool | None
    bytes: int


def _state() -> ColumnElement[str]:
    return case(
        (users.c.suspended, "suspended"),
        (users.c.disabled, "closed"),
        (users.c.pending != 0, "pending"),
        else_="active",
    )


def _people(*conditions: ColumnElement[bool]) -> Select[Any]:
    pattern: BindParameter[str] = bindparam("pattern")
    named = (users.c.username_key, func.lower(users.c.global_name), func.lower(users.c.email))
    matching = or_(*(text.like(pattern, escape="\\") for text in named))
    return (
        select(users)
        .where(~users.c.bot, ~users.c.deleted, users.c.id < bindparam("before"), matching, *conditions)
        .order_by(users.c.id.desc())
        .limit(bindparam("maximum"))
    )


_select_users = Query(_people, into=UserRow)
_select_in_state = Query(lambda: _people(_state() == bindparam("state")), into=UserRow)
_select_unverified = Query(lambda: _people(and_(users.c.email.is_not(None), ~users.c.verified)), into=UserRow)
_of_user: BindParameter[Any] = bindparam("user_id")
_select_use = Query(
    lambda: select(
        select(func.count())
        .select_from(members.join(guilds, guilds.c.id == members.c.guild_id))
        .where(members.c.user_id == _of_user)
        .scalar_subquery(),
        select(func.count()).select_from(auth_sessions).where(auth_sessions.c.user_id == _of_user).scalar_subquery(),
        select(func.coalesce(func.max(storage_usage.c.bytes), 0))
        .where(storage_usage.c.payer_id == _of_user)
        .scalar_subquery(),
    )
)

_select_largest = Query(
    lambda: (
        select(storage_usage.c.payer_id.label("user_id"), users.c.username, users.c.bot, storage_usage.c.bytes)
        .select_from(storage_usage.outerjoin(users, users.c.id == storage_usage.c.payer_id))
        .order_by(storage_usage.c.bytes.desc(), storage_usage.c.payer_id)
        .limit(bindparam("maximum"))
    ),
    into=UserStorageRow,
)


async def select_largest(reader: Reader, maximum: int) -> list[UserStorageRow]:
    """Read the accounts that have stored most, the largest first."""
    return await reader.all_long(_select_largest, maximum=maximum)


async def select_people(
    reader: Reader, *, search: str, state: AccountState | None, before: UserId | None, maximum: int
) -> list[UserRow]:
    """Read people's accounts that are not deleted, newest first, with smaller ids than `before`.

    `search` is part of a username, display name or email address, in any case; "" is in all.
    """
    escaped = search.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    values = {"pattern": f"%{escaped}%", "before": before or UserId(Snowflake(MAX_ID)), "maximum": maximum}
    if state is None:
        return await reader.all_long(_select_users, **values)
    if state is AccountState.UNVERIFIED:
        return await reader.all_long(_select_unverified, **values)
    return await reader.all_long(_select_in_state, state=state.value, **values)


async def select_use(reader: Reader, user_id: UserId) -> UserUse:
    """Count what an account has."""
    row = await reader.one(_select_use, user_id=user_id)
    return UserUse(0, 0, 0) if row is None else UserUse(*(int(number) for number in row))
