"""SQL of stickers."""

from collections.abc import Collection, Mapping

from moothall.objects.ids import GuildId, StickerId, UserId
from moothall.objects.sticker import Sticker
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.rows import StickerRow
from moothall.storage.sql import bindparam, delete, insert, select
from moothall.storage.tables import stickers

_of_guild = stickers.c.guild_id == bindparam("guild_id")
_insert_sticker = Query(lambda: insert(stickers))
_delete_sticker = Query(lambda: delete(stickers).where(_of_guild, stickers.c.id == bindparam("sticker_id")))
_select_creators = Query(lambda: select(stickers.c.id, stickers.c.user_id).where(_of_guild))
_select_sticker = Query(lambda: select(stickers).where(stickers.c.id == bindparam("sticker_id")), into=StickerRow)
_select_guilds = Query(lambda: select(stickers.c.id, stickers.c.guild_id).where(in_list(stickers.c.id, "sticker_ids")))


async def insert_sticker(tx: Transaction, sticker: Sticker, creator_id: UserId, file: str) -> None:
    """Store a new sticker; `file` is the hash of its file."""
    await tx.execute(
        _insert_sticker,
        guild_id=sticker.guild_id,
        id=sticker.id,
        type=sticker.type,
        format_type=sticker.format_type,
        user_id=creator_id,
        file=file,
        **_columns(sticker),
    )


async def update_sticker(tx: Transaction, sticker: Sticker) -> None:
    """Update the name, description and tags of a sticker."""
    columns = _columns(sticker)
    query = update_columns(stickers, key=("guild_id", "id"), columns=frozenset(columns))
    await tx.execute(query, guild_id=sticker.guild_id, id=sticker.id, **columns)


async def delete_sticker(tx: Transaction, guild_id: GuildId, sticker_id: StickerId) -> None:
    """Delete a sticker of a guild."""
    await tx.execute(_delete_sticker, guild_id=guild_id, sticker_id=sticker_id)


async def select_creators(reader: Reader, guild_id: GuildId) -> Mapping[StickerId, UserId | None]:
    """Read the creator of each sticker of a guild; None for a deleted account."""
    return {StickerId(row[0]): row[1] for row in await reader.all(_select_creators, guild_id=guild_id)}


async def select_sticker(reader: Reader, sticker_id: StickerId) -> StickerRow | None:
    """Read a sticker of any guild; None for an unknown id."""
    return await reader.one(_select_sticker, sticker_id=sticker_id)


async def select_guild_ids(reader: Reader, sticker_ids: Collection[StickerId]) -> dict[StickerId, GuildId]:
    """Read the guilds of stickers, by sticker; unknown ids are left out."""
    rows = await reader.all(_select_guilds, sticker_ids=list(sticker_ids))
    return {StickerId(row[0]): GuildId(row[1]) for row in rows}


def _columns(sticker: Sticker) -> dict[str, object]:
    return {"name": sticker.name, "description": sticker.description, "tags": sticker.tags}
