"""Emojis (resources: emoji)."""

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import EmojiId, RoleId
from moothall.objects.user import User


class Emoji(Struct, frozen=True, kw_only=True):
    """An emoji of a guild or application. `user`, its creator, is present for callers who may manage expressions."""

    id: EmojiId
    name: str
    roles: list[RoleId]
    """The roles that may use it; empty for every member."""
    user: User | UnsetType = UNSET
    require_colons: bool = True
    managed: bool = False
    animated: bool = False
    available: bool = True


class PartialEmoji(Struct, frozen=True, kw_only=True):
    """A reference to an emoji: a guild's by id and name, a standard emoji by its character and a null id."""

    id: EmojiId | None
    name: str | None
    animated: bool | UnsetType = UNSET


class ApplicationEmojis(Struct, frozen=True, kw_only=True):
    """Every emoji of an application."""

    items: list[Emoji]
