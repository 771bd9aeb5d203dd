"""Stickers (resources: sticker)."""

from enum import IntEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import GuildId, PackId, Snowflake, StickerId
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


class StandardSticker(Struct, frozen=True, kw_only=True):
    """A sticker of the platform's own, which everybody may send."""

    id: StickerId
    name: str
    description: str | None
    tags: str
    type: int = StickerType.STANDARD
    format_type: int = StickerFormat.PNG
    available: bool = True
    pack_id: PackId
    sort_value: int


class StickerPack(Struct, frozen=True, kw_only=True):
    """Some stickers of the platform's own."""

    id: PackId
    stickers: list[StandardSticker]
    name: str
    sku_id: Snowflake
    cover_sticker_id: StickerId
    description: str


class StickerPacks(Struct, frozen=True, kw_only=True):
    """Every pack."""

    sticker_packs: list[StickerPack]
