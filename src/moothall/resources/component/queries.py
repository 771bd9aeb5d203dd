"""The SQL of the ids that components refer to."""

from collections.abc import Collection

from msgspec import Struct

from moothall.objects.ids import ApplicationId, EmojiId, GuildId, Snowflake, UserId
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import application_emojis, channels, emojis, members, users


class EmojiOfMember(Struct):
    """A guild's emoji with the roles of a user in the guild; None for a user who is no member."""

    guild_id: GuildId
    id: EmojiId
    name: str
    animated: bool
    available: bool
    roles: list[Snowflake]
    member_roles: list[Snowflake] | None


_select_emojis = Query(
    lambda: (
        select(
            emojis.c.guild_id,
            emojis.c.id,
            emojis.c.name,
            emojis.c.animated,
            emojis.c.available,
            emojis.c.roles,
            members.c.roles.label("member_roles"),
        )
        .select_from(
            emojis.outerjoin(
                members, (members.c.guild_id == emojis.c.guild_id) & (members.c.user_id == bindparam("user_id"))
            )
        )
        .where(in_list(emojis.c.id, "emoji_ids"))
    ),
    into=EmojiOfMember,
)
_select_own_emojis = Query(
    lambda: select(application_emojis.c.id, application_emojis.c.name, application_emojis.c.animated).where(
        application_emojis.c.application_id == bindparam("application_id"),
        in_list(application_emojis.c.id, "emoji_ids"),
    )
)
_select_users = Query(lambda: select(users.c.id).where(in_list(users.c.id, "user_ids"), users.c.deleted.is_(False)))
_select_channel_ids = Query(
    lambda: select(channels.c.id).where(
        in_list(channels.c.id, "channel_ids"), channels.c.guild_id == bindparam("guild_id")
    )
)


async def select_emojis(reader: Reader, emoji_ids: Collection[int], user_id: UserId) -> list[EmojiOfMember]:
    """Emojis of any guilds, with the roles of a user in those guilds."""
    return await reader.all(_select_emojis, emoji_ids=list(emoji_ids), user_id=user_id)


async def select_own_emojis(
    reader: Reader, emoji_ids: Collection[int], application_id: ApplicationId
) -> list[tuple[int, str, bool]]:
    """An application's own emojis: id, name, animated."""
    return await reader.all(_select_own_emojis, emoji_ids=list(emoji_ids), application_id=application_id)


async def select_users(reader: Reader, user_ids: Collection[int]) -> frozenset[int]:
    """The ids of users that exist."""
    return frozenset(row[0] for row in await reader.all(_select_users, user_ids=list(user_ids)))


async def select_channel_ids(reader: Reader, channel_ids: Collection[int], guild_id: GuildId) -> frozenset[int]:
    """The ids of channels and threads that are in a guild."""
    return frozenset(
        row[0] for row in await reader.all(_select_channel_ids, channel_ids=list(channel_ids), guild_id=guild_id)
    )
