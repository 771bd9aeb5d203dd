"""Request bodies of relationships."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits

Note = Annotated[str, Meta(max_length=limits.FRIEND_REQUEST_NOTE_MAX)]


class SendFriendRequest(Struct, frozen=True, kw_only=True):
    """A friend request by username."""

    username: Annotated[str, Meta(min_length=1, max_length=64)]
    discriminator: str | int | None = None
    note: Note | None = None


class CreateRelationship(Struct, frozen=True, kw_only=True):
    """A relationship by id: 1 accepts a friend request, 2 blocks, none sends or accepts a friend request."""

    type: int | None = None
    from_friend_suggestion: bool = False
    confirm_stranger_request: bool = False
    note: Note | None = None


class ModifyRelationship(Struct, frozen=True, kw_only=True):
    """The nickname of a friend; null or an empty one removes it."""

    nickname: Annotated[str, Meta(max_length=limits.FRIEND_NICKNAME_MAX)] | UnsetType | None = UNSET


class BulkRemoveRelationships(Struct, frozen=True, kw_only=True):
    """Conditions that requests must all meet to be removed."""

    filters: Annotated[list[int], Meta(max_length=10)] | None = None
    """1 is spam, 2 is from an ignored user."""
