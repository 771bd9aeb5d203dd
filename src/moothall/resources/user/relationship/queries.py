"""The SQL of relationships."""

from collections.abc import Iterable

from msgspec import Struct, structs

from moothall.objects.ids import UserId
from moothall.objects.relationship import RelationshipType
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.sql import bindparam, delete, func, select
from moothall.storage.tables import members, relationships


class RelationshipRow(Struct):
    """A row of `relationships`."""

    user_id: UserId
    other_id: UserId
    type: int
    nickname: str | None
    ignored: bool
    stranger: bool
    note: str | None
    since: Timestamp


_BLOCKED = int(RelationshipType.BLOCKED)
_FRIEND = int(RelationshipType.FRIEND)
_of_user = relationships.c.user_id == bindparam("user_id")
_this = _of_user & (relationships.c.other_id == bindparam("other_id"))
_friends_of_other = relationships.alias()
_others = members.alias()

_select_relationships = Query(
    lambda: select(relationships).where(_of_user).order_by(relationships.c.other_id), into=RelationshipRow
)
_select_relationship = Query(lambda: select(relationships).where(_this), into=RelationshipRow)
_select_types = Query(
    lambda: select(relationships.c.other_id, relationships.c.type).where(
        _of_user, in_list(relationships.c.other_id, "other_ids")
    )
)
_select_blockers = Query(
    lambda: select(relationships.c.user_id).where(
        in_list(relationships.c.user_id, "other_ids"),
        relationships.c.other_id == bindparam("user_id"),
        relationships.c.type == _BLOCKED,
    )
)
_count = Query(
    lambda: select(func.count()).select_from(relationships).where(_of_user, in_list(relationships.c.type, "types"))
)
_upsert = Query(
    lambda: upsert(
        relationships,
        key=("user_id", "other_id"),
        update=("type", "nickname", "ignored", "stranger", "note", "since"),
    )
)
_delete = Query(lambda: delete(relationships).where(_this))
_select_theirs = Query(
    lambda: select(relationships).where(
        in_list(relationships.c.user_id, "other_ids"), relationships.c.other_id == bindparam("user_id")
    ),
    into=RelationshipRow,
)
_delete_own = Query(lambda: delete(relationships).where(_of_user, in_list(relationships.c.other_id, "other_ids")))
_delete_theirs = Query(
    lambda: delete(relationships).where(
        in_list(relationships.c.user_id, "other_ids"), relationships.c.other_id == bindparam("user_id")
    )
)
_delete_incoming = Query(lambda: delete(relationships).where(_of_user, in_list(relationships.c.other_id, "other_ids")))
_delete_outgoing = Query(
    lambda: delete(relationships).where(
        in_list(relationships.c.user_id, "other_ids"),
        relationships.c.other_id == bindparam("user_id"),
        relationships.c.type == int(RelationshipType.OUTGOING_REQUEST),
    )
)
_select_mutual_friend = Query(
    lambda: (
        select(relationships.c.other_id)
        .select_from(relationships.join(_friends_of_other, _friends_of_other.c.other_id == relationships.c.other_id))
        .where(
            _of_user,
            relationships.c.type == _FRIEND,
            _friends_of_other.c.user_id == bindparam("other_id"),
            _friends_of_other.c.type == _FRIEND,
        )
        .limit(1)
    )
)
_select_mutual_guild = Query(
    lambda: (
        select(members.c.guild_id)
        .select_from(members.join(_others, _others.c.guild_id == members.c.guild_id))
        .where(members.c.user_id == bindparam("user_id"), _others.c.user_id == bindparam("other_id"))
        .limit(1)
    )
)


async def select_relationships(reader: Reader, user_id: UserId) -> list[RelationshipRow]:
    """The relationships of a user, by the other user's id."""
    return await reader.all(_select_relationships, user_id=user_id)


async def select_relationship(reader: Reader, user_id: UserId, other_id: UserId) -> RelationshipRow | None:
    """The relationship of a user to another one; None if there is none."""
    return await reader.one(_select_relationship, user_id=user_id, other_id=other_id)


async def select_friend_ids(reader: Reader, user_id: UserId, other_ids: Iterable[UserId]) -> set[int]:
    """Those of some users who are friends of a user."""
    rows = await reader.all(_select_types, user_id=user_id, other_ids=list(other_ids))
    return {row[0] for row in rows if row[1] == _FRIEND}


async def select_blocked_ids(reader: Reader, user_id: UserId, other_ids: Iterable[UserId]) -> set[int]:
    """Those of some users whom a user has blocked, and those who have blocked the user."""
    ids = list(other_ids)
    rows = await reader.all(_select_types, user_id=user_id, other_ids=ids)
    blockers = await reader.all(_select_blockers, user_id=user_id, other_ids=ids)
    return {row[0] for row in rows if row[1] == _BLOCKED} | {row[0] for row in blockers}


async def has_blocked(reader: Reader, user_id: UserId, other_id: UserId) -> bool:
    """Whether a user has blocked another one."""
    row = await select_relationship(reader, user_id, other_id)
    return row is not None and row.type == _BLOCKED


async def count_relationships(reader: Reader, user_id: UserId, *types: RelationshipType) -> int:
    """How many relationships of some types a user has."""
    return int(await reader.scalar(_count, user_id=user_id, types=[int(kind) for kind in types]))


async def upsert_relationships(tx: Transaction, *rows: RelationshipRow) -> None:
    """Store relationships in place of the earlier ones."""
    await tx.execute_many(_upsert, [structs.asdict(row) for row in rows])


async def delete_relationship(tx: Transaction, user_id: UserId, other_id: UserId) -> None:
    """Delete the relationship of a user to another one, if there is one."""
    await tx.execute(_delete, user_id=user_id, other_id=other_id)


async def select_theirs(reader: Reader, user_id: UserId, other_ids: list[UserId]) -> list[RelationshipRow]:
    """The relationships of several users to a user."""
    return await reader.all(_select_theirs, user_id=user_id, other_ids=other_ids)


async def delete_relationships(
    tx: Transaction, user_id: UserId, other_ids: list[UserId], *, theirs: list[UserId]
) -> None:
    """Delete the relationships of a user to several others, and those of `theirs` to the user."""
    await tx.execute(_delete_own, user_id=user_id, other_ids=other_ids)
    await tx.execute(_delete_theirs, user_id=user_id, other_ids=theirs)


async def delete_incoming_requests(tx: Transaction, user_id: UserId, other_ids: list[UserId]) -> None:
    """Delete friend requests of several users to a user, for both sides."""
    await tx.execute(_delete_incoming, user_id=user_id, other_ids=other_ids)
    await tx.execute(_delete_outgoing, user_id=user_id, other_ids=other_ids)


async def select_mutual(reader: Reader, user_id: UserId, other_id: UserId) -> tuple[bool, bool]:
    """Whether two users have a guild in common, and whether they have a friend in common."""
    guild_id = await reader.scalar(_select_mutual_guild, user_id=user_id, other_id=other_id)
    friend_id = await reader.scalar(_select_mutual_friend, user_id=user_id, other_id=other_id)
    return guild_id is not None, friend_id is not None
