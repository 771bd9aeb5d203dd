"""SQL of emojis."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from moothall.objects.emoji import Emoji
from moothall.objects.ids import ApplicationId, EmojiId, GuildId, UserId
from moothall.storage.database import Query, Reader, Transaction, update_columns
from moothall.storage.sql import bindparam, delete, func, insert, select, update
from moothall.storage.tables import application_emojis, emojis


class ApplicationEmojiRow(Struct):
    """A row of `application_emojis`."""

    application_id: ApplicationId
    id: EmojiId
    name: str
    user_id: UserId | None
    animated: bool
    image: str


_insert_emoji = Query(lambda: insert(emojis))
_delete_emoji = Query(
    lambda: delete(emojis).where(emojis.c.guild_id == bindparam("guild_id"), emojis.c.id == bindparam("emoji_id"))
)
_set_roles = Query(
    lambda: (
        update(emojis)
        .where(emojis.c.guild_id == bindparam("guild_id"), emojis.c.id == bindparam("emoji_id"))
        .values(roles=bindparam("new_roles"))
    )
)
_select_creators = Query(
    lambda: select(emojis.c.id, emojis.c.user_id).where(emojis.c.guild_id == bindparam("guild_id"))
)
_select_guild = Query(lambda: select(emojis.c.guild_id).where(emojis.c.id == bindparam("emoji_id")))
_select_image = Query(lambda: select(emojis.c.image).where(emojis.c.id == bindparam("emoji_id")))
_select_application_image = Query(
    lambda: select(application_emojis.c.image).where(application_emojis.c.id == bindparam("emoji_id"))
)

_of_application = application_emojis.c.application_id == bindparam("application_id")
_of_application_emoji = _of_application & (application_emojis.c.id == bindparam("emoji_id"))
_select_application_emojis = Query(
    lambda: select(application_emojis).where(_of_application).order_by(application_emojis.c.id),
    into=ApplicationEmojiRow,
)
_select_application_emoji = Query(
    lambda: select(application_emojis).where(_of_application_emoji), into=ApplicationEmojiRow
)
_count_application_emojis = Query(lambda: select(func.count()).select_from(application_emojis).where(_of_application))
_insert_application_emoji = Query(lambda: insert(application_emojis))
_delete_application_emoji = Query(lambda: delete(application_emojis).where(_of_application_emoji))


async def insert_emoji(tx: Transaction, guild_id: GuildId, emoji: Emoji, creator_id: UserId, image: str) -> None:
    """Store a new emoji; `image` is the hash of its image."""
    await tx.execute(
        _insert_emoji,
        guild_id=guild_id,
        id=emoji.id,
        name=emoji.name,
        roles=emoji.roles,
        user_id=creator_id,
        animated=emoji.animated,
        image=image,
    )


async def update_emoji(tx: Transaction, guild_id: GuildId, emoji: Emoji) -> None:
    """Update the name and roles of an emoji."""
    query = update_columns(emojis, key=("guild_id", "id"), columns=frozenset({"name", "roles"}))
    await tx.execute(query, guild_id=guild_id, id=emoji.id, name=emoji.name, roles=emoji.roles)


async def update_roles(tx: Transaction, guild_id: GuildId, changed: Iterable[Emoji]) -> None:
    """Update the roles of several emojis."""
    await tx.execute_many(
        _set_roles, [{"guild_id": guild_id, "emoji_id": emoji.id, "new_roles": emoji.roles} for emoji in changed]
    )


async def delete_emoji(tx: Transaction, guild_id: GuildId, emoji_id: EmojiId) -> None:
    """Delete an emoji of a guild."""
    await tx.execute(_delete_emoji, guild_id=guild_id, emoji_id=emoji_id)


async def select_creators(reader: Reader, guild_id: GuildId) -> Mapping[EmojiId, UserId | None]:
    """Read the creator of each emoji of a guild; None for a deleted account."""
    return {EmojiId(row[0]): row[1] for row in await reader.all(_select_creators, guild_id=guild_id)}


async def select_guild_id(reader: Reader, emoji_id: EmojiId) -> GuildId | None:
    """Read the guild of an emoji; None for an unknown id."""
    guild_id: GuildId | None = await reader.scalar(_select_guild, emoji_id=emoji_id)
    return guild_id


async def select_image(reader: Reader, emoji_id: EmojiId) -> str | None:
    """Read the image hash of an emoji of any guild or application; None for an unknown id."""
    image: str | None = await reader.scalar(_select_image, emoji_id=emoji_id)
    if image is None:
        image = await reader.scalar(_select_application_image, emoji_id=emoji_id)
    return image


async def select_application_emojis(reader: Reader, application_id: ApplicationId) -> list[ApplicationEmojiRow]:
    """Read the emojis of an application by ascending id."""
    return await reader.all(_select_application_emojis, application_id=application_id)


async def select_application_emoji(
    reader: Reader, application_id: ApplicationId, emoji_id: EmojiId
) -> ApplicationEmojiRow | None:
    """Read one emoji of an application; None for an unknown id."""
    return await reader.one(_select_application_emoji, application_id=application_id, emoji_id=emoji_id)


async def count_application_emojis(reader: Reader, application_id: ApplicationId) -> int:
    """Count the emojis of an application."""
    return int(await reader.scalar(_count_application_emojis, application_id=application_id) or 0)


async def insert_application_emoji(tx: Transaction, row: ApplicationEmojiRow) -> None:
    """Store a new emoji of an application."""
    await tx.execute(_insert_application_emoji, **{name: getattr(row, name) for name in row.__struct_fields__})


async def rename_application_emoji(
    tx: Transaction, application_id: ApplicationId, emoji_id: EmojiId, name: str
) -> None:
    """Update the name of an emoji of an application."""
    query = update_columns(application_emojis, key=("application_id", "id"), columns=frozenset({"name"}))
    await tx.execute(query, application_id=application_id, id=emoji_id, name=name)


async def delete_application_emoji(tx: Transaction, application_id: ApplicationId, emoji_id: EmojiId) -> None:
    """Delete an emoji of an application."""
    await tx.execute(_delete_application_emoji, application_id=application_id, emoji_id=emoji_id)
