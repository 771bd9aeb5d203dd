"""The SQL of users."""

from collections.abc import Iterable

from sqlalchemy import bindparam, select

from moothall.objects.ids import UserId
from moothall.objects.user import User
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.rows import UserRow, user_from_row
from moothall.storage.schema import users

_select_user = Query(select(users).where(users.c.id == bindparam("user_id")), into=UserRow)
_select_users = Query(select(users).where(in_list(users.c.id, "user_ids")), into=UserRow)


async def select_user(reader: Reader, user_id: UserId) -> UserRow | None:
    """One account's row; None if there is none."""
    return await reader.one(_select_user, user_id=user_id)


async def get_user(reader: Reader, user_id: UserId) -> User | None:
    """One user as others see them; None if there is none."""
    row = await reader.one(_select_user, user_id=user_id)
    return None if row is None else user_from_row(row)


async def get_users(reader: Reader, user_ids: Iterable[UserId]) -> dict[UserId, User]:
    """Users by id, in one query; ids that name nobody are left out."""
    wanted = list(set(user_ids))
    if not wanted:
        return {}
    return {row.id: user_from_row(row) for row in await reader.all(_select_users, user_ids=wanted)}
