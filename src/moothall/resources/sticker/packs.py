"""The standard stickers and their pack."""

from typing import Final

from moothall.objects.ids import PackId, Snowflake, StickerId
from moothall.objects.sticker import StandardSticker, StickerPack

_PACK_ID: Final = PackId(Snowflake(1))
_LISTED: Final = (
    ("Smile", "smile, happy, glad", "A face that smiles."),
    ("Wink", "wink, joke", "A face that winks."),
    ("Sad", "sad, sorry, cry", "A face that is sad."),
    ("Heart", "heart, love, thanks", "A heart."),
    ("Star", "star, great, well done", "A star."),
    ("Tick", "tick, done, yes, agreed", "A tick: it is done."),
)

STANDARD_STICKERS: Final = {
    StickerId(Snowflake(number)): StandardSticker(
        id=StickerId(Snowflake(number)),
        name=name,
        description=description,
        tags=tags,
        pack_id=_PACK_ID,
        sort_value=number,
    )
    for number, (name, tags, description) in enumerate(_LISTED, 1)
}
"""Standard stickers by id. Their images are drawn when they are requested."""

PACKS: Final = {
    _PACK_ID: StickerPack(
        id=_PACK_ID,
        stickers=list(STANDARD_STICKERS.values()),
        name="Moot",
        sku_id=Snowflake(_PACK_ID),
        cover_sticker_id=next(iter(STANDARD_STICKERS)),
        description="What a meeting needs.",
    )
}
"""Packs of standard stickers by id."""
