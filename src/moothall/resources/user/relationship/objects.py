"""Relationship objects from rows."""

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from moothall.objects.relationship import PartialRelationship, Relationship, RelationshipType
from moothall.objects.user import User
from moothall.resources.user.queries import get_users
from moothall.resources.user.relationship.queries import RelationshipRow
from moothall.storage.database import Reader


def fields_of(row: RelationshipRow) -> dict[str, Any]:
    """The fields of a relationship without its user."""
    return {
        "id": row.other_id,
        "type": RelationshipType(row.type),
        "nickname": row.nickname,
        "user_ignored": row.ignored,
        "stranger_request": row.stranger,
        "since": row.since,
    }


def partial_relationship(row: RelationshipRow) -> PartialRelationship:
    """The relationship without its user."""
    return PartialRelationship(**fields_of(row))


def relationship(row: RelationshipRow, user: User) -> Relationship:
    """The relationship to a user."""
    return Relationship(user=user, note=UNSET if row.note is None else row.note, **fields_of(row))


async def relationship_objects(reader: Reader, rows: Iterable[RelationshipRow]) -> list[Relationship]:
    """The relationships to users, in the same order, with one query."""
    rows = list(rows)
    users = await get_users(reader, [row.other_id for row in rows])
    return [relationship(row, users[row.other_id]) for row in rows if row.other_id in users]
