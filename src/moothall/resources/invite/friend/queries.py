"""The SQL of friend invites."""

from msgspec import Struct, structs

from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, insert_ignore
from moothall.storage.sql import bindparam, delete, select, update
from moothall.storage.tables import friend_invites


class FriendInviteRow(Struct):
    """A row of `friend_invites`."""

    user_id: UserId
    code: str
    max_age: int
    max_uses: int
    uses: int
    created_at: Timestamp
    expires_at: Timestamp


_of_user = friend_invites.c.user_id == bindparam("user_id")
_this = _of_user & (friend_invites.c.code == bindparam("code"))
_live = friend_invites.c.expires_at > bindparam("now")

_insert = Query(lambda: insert_ignore(friend_invites, key=("code",)))
_select = Query(
    lambda: select(friend_invites).where(friend_invites.c.code == bindparam("code"), _live), into=FriendInviteRow
)
_select_of_user = Query(
    lambda: select(friend_invites).where(_of_user, _live).order_by(friend_invites.c.created_at, friend_invites.c.code),
    into=FriendInviteRow,
)
_count_use = Query(
    lambda: (
        update(friend_invites)
        .where(_this, _live, friend_invites.c.uses < friend_invites.c.max_uses)
        .values(uses=friend_invites.c.uses + 1)
    )
)
_delete = Query(lambda: delete(friend_invites).where(_this))
_delete_of_user = Query(lambda: delete(friend_invites).where(_of_user))
_delete_ended = Query(
    lambda: delete(friend_invites).where(
        _of_user,
        (friend_invites.c.expires_at <= bindparam("now")) | (friend_invites.c.uses >= friend_invites.c.max_uses),
    )
)


async def insert_friend_invite(tx: Transaction, row: FriendInviteRow) -> bool:
    """Insert an invite; False if its code is taken."""
    return bool(await tx.execute(_insert, **structs.asdict(row)))


async def select_friend_invite(reader: Reader, code: str, now: Timestamp) -> FriendInviteRow | None:
    """Select an invite that has not expired; None if there is none."""
    return await reader.one(_select, code=code, now=now)


async def select_friend_invites(reader: Reader, user_id: UserId, now: Timestamp) -> list[FriendInviteRow]:
    """Select the invites of a user that have not expired, oldest first."""
    return await reader.all(_select_of_user, user_id=user_id, now=now)


async def count_use(tx: Transaction, row: FriendInviteRow, now: Timestamp) -> bool:
    """Count one use of an invite; False if it has expired or has no uses left."""
    return bool(await tx.execute(_count_use, user_id=row.user_id, code=row.code, now=now))


async def delete_friend_invite(tx: Transaction, row: FriendInviteRow) -> bool:
    """Delete an invite; False if it is deleted already."""
    return bool(await tx.execute(_delete, user_id=row.user_id, code=row.code))


async def delete_friend_invites(tx: Transaction, user_id: UserId) -> None:
    """Delete the invites of a user."""
    await tx.execute(_delete_of_user, user_id=user_id)


async def delete_ended(tx: Transaction, user_id: UserId, now: Timestamp) -> None:
    """Delete the invites of a user that have expired or have no uses left."""
    await tx.execute(_delete_ended, user_id=user_id, now=now)
