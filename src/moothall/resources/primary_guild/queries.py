"""The SQL of the guilds whose tags users wear."""

from collections.abc import Sequence

from moothall.objects.guild_profile import GuildIdentity
from moothall.objects.ids import GuildId, UserId
from moothall.resources.guild.objects import guild_identity
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.rows import GuildRow, UserRow
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import guilds, users

_select_guild = Query(lambda: select(guilds).where(guilds.c.id == bindparam("guild_id")), into=GuildRow)
_select_wearers = Query(
    lambda: (
        select(users)
        .where(users.c.primary_guild_id == bindparam("guild_id"), users.c.id > bindparam("after"))
        .order_by(users.c.id)
        .limit(bindparam("maximum"))
    ),
    into=UserRow,
)
_select_wearers_among = Query(
    lambda: (
        select(users.c.id)
        .where(users.c.primary_guild_id == bindparam("guild_id"), in_list(users.c.id, "user_ids"))
        .order_by(users.c.id)
    )
)


async def select_identity(reader: Reader, guild_id: GuildId) -> GuildIdentity | None:
    """The tag and badge of a guild; None for a guild without a tag, and for one that is deleted."""
    row = await reader.one(_select_guild, guild_id=guild_id)
    return None if row is None else guild_identity(row)


async def select_wearers(reader: Reader, guild_id: GuildId, *, after: UserId, maximum: int) -> list[UserRow]:
    """The users who wear the tag of a guild, by id, after one of them."""
    return await reader.all(_select_wearers, guild_id=guild_id, after=after, maximum=maximum)


async def wears_any(reader: Reader, guild_id: GuildId, user_ids: Sequence[UserId]) -> bool:
    """Whether any of some users wears the tag of a guild."""
    return bool(await reader.all(_select_wearers_among, guild_id=guild_id, user_ids=list(user_ids)))
