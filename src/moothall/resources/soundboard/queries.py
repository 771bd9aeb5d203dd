"""SQL of soundboard sounds."""

from collections.abc import Mapping

from msgspec import Struct

from moothall.objects.ids import EmojiId, GuildId, SoundId, UserId
from moothall.objects.soundboard import SoundboardSound
from moothall.storage.database import Query, Reader, Transaction, update_columns
from moothall.storage.sql import bindparam, delete, insert, select, update
from moothall.storage.tables import sounds


class SoundFile(Struct):
    """The hash of a sound's file, and its format."""

    file: str
    format: str


_of_guild = sounds.c.guild_id == bindparam("guild_id")
_insert_sound = Query(lambda: insert(sounds))
_delete_sound = Query(lambda: delete(sounds).where(_of_guild, sounds.c.id == bindparam("sound_id")))
_select_creators = Query(lambda: select(sounds.c.id, sounds.c.user_id).where(_of_guild))
_select_file = Query(
    lambda: select(sounds.c.file, sounds.c.format).where(sounds.c.id == bindparam("sound_id")), into=SoundFile
)
_remove_emoji = Query(
    lambda: (
        update(sounds)
        .where(_of_guild, sounds.c.emoji_id == bindparam("of_emoji"))
        .values(emoji_id=None, emoji_name=None)
    )
)


async def insert_sound(
    tx: Transaction, guild_id: GuildId, sound: SoundboardSound, creator_id: UserId, *, file: str, format: str
) -> None:
    """Store a new sound; `file` is the hash of its file."""
    await tx.execute(
        _insert_sound,
        guild_id=guild_id,
        id=sound.sound_id,
        user_id=creator_id,
        file=file,
        format=format,
        **_columns(sound),
    )


async def update_sound(tx: Transaction, guild_id: GuildId, sound: SoundboardSound) -> None:
    """Update the name, volume and emoji of a sound."""
    columns = _columns(sound)
    query = update_columns(sounds, key=("guild_id", "id"), columns=frozenset(columns))
    await tx.execute(query, guild_id=guild_id, id=sound.sound_id, **columns)


async def delete_sound(tx: Transaction, guild_id: GuildId, sound_id: SoundId) -> None:
    """Delete a sound of a guild."""
    await tx.execute(_delete_sound, guild_id=guild_id, sound_id=sound_id)


async def remove_emoji(tx: Transaction, guild_id: GuildId, emoji_id: EmojiId) -> None:
    """Set the emoji to null in the sounds of a guild that show it."""
    await tx.execute(_remove_emoji, guild_id=guild_id, of_emoji=emoji_id)


async def select_creators(reader: Reader, guild_id: GuildId) -> Mapping[SoundId, UserId | None]:
    """Read the creator of each sound of a guild; None for a deleted account."""
    return {SoundId(row[0]): row[1] for row in await reader.all(_select_creators, guild_id=guild_id)}


async def select_file(reader: Reader, sound_id: SoundId) -> SoundFile | None:
    """Read the file of a sound of any guild; None for an unknown id."""
    return await reader.one(_select_file, sound_id=sound_id)


def _columns(sound: SoundboardSound) -> dict[str, object]:
    return {
        "name": sound.name,
        "volume": sound.volume,
        "emoji_id": sound.emoji_id,
        "emoji_name": sound.emoji_name,
    }
