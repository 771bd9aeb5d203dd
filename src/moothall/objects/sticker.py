"""Stickers (resources: sticker)."""

from enum import IntEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import GuildId, StickerId
from moothall.objects.user import User


class StickerType(IntEnum):
    """Where a sticker comes from."""

    STANDARD = 1
    GUILD = 2


class StickerFormat(IntEnum):
    """How a sticker is stored."""

    PNG = 1
    APNG = 2
    LOTTIE = 3
    GIF = 4


class Sticker(Struct, frozen=True, kw_only=True):
    """A guild's own sticker. `tags` is the autocomplete text, at most 200 characters."""

    id: StickerId
    name: str
    description: str | None
    tags: str
    type: int = StickerType.GUILD
    format_type: int
    available: bool = True
    guild_id: GuildId
    user: User | UnsetType = UNSET


class StickerItem(Struct, frozen=True, kw_only=True):
    """The smallest data that shows a sticker, as messages carry it."""

    id: StickerId
    name: str
    format_type: int
