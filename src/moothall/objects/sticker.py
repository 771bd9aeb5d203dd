"""Stickers (resources: sticker)."""

from enum import IntEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import GuildId, PackId, Snowflake, StickerId
from moothall.objects.user import User


class StickerType(IntEnum):
    """The type of a sticker."""

    STANDARD = 1
    GUILD = 2


class StickerFormat(IntEnum):
    """The file format of a sticker."""

    PNG = 1
    APNG = 2
    LOTTIE = 3
    GIF = 4


class Sticker(Struct, frozen=True, kw_only=True):
    """A sticker of a guild. `tags` is the autocomplete text, at most 200 characters."""

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
    """The sticker object of messages, sufficient for rendering."""

    id: StickerId
    name: str
    format_type: int


class StandardSticker(Struct, frozen=True, kw_only=True):
    """A standard sticker, which every user may send."""

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
    """A pack of standard stickers."""

    id: PackId
    stickers: list[StandardSticker]
    name: str
    sku_id: Snowflake
    cover_sticker_id: StickerId
    description: str


class StickerPacks(Struct, frozen=True, kw_only=True):
    """The list of sticker packs."""

    sticker_packs: list[StickerPack]
