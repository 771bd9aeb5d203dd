"""Relationships of a user to others (resources: relationships)."""

from enum import IntEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import UserId
from moothall.objects.user import User
from moothall.objects.wire import Timestamp


class RelationshipType(IntEnum):
    """What another user is to a user."""

    NONE = 0
    """Only ignored."""
    FRIEND = 1
    BLOCKED = 2
    INCOMING_REQUEST = 3
    OUTGOING_REQUEST = 4


class PartialRelationship(Struct, frozen=True, kw_only=True):
    """A relationship without its user, as RELATIONSHIP_UPDATE and RELATIONSHIP_REMOVE have it."""

    id: UserId
    type: RelationshipType
    nickname: str | None
    user_ignored: bool
    stranger_request: bool
    since: Timestamp


class Relationship(PartialRelationship, frozen=True, kw_only=True):
    """A relationship."""

    user: User | UnsetType = UNSET
    """The other user; absent in a READY with `users`."""
    is_spam_request: bool = False
    note: str | UnsetType = UNSET
    """The note sent with a friend request."""


class UserNote(Struct, frozen=True, kw_only=True):
    """A note about another user, which only its author sees."""

    note: str
    note_user_id: UserId
    user_id: UserId
