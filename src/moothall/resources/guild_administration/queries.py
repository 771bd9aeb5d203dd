"""The SQL of guilds as operators find them."""

from typing import Any, Final

from msgspec import Struct

from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.storage.database import Query, Reader
from moothall.storage.sql import ColumnElement, Select, bindparam, func, select
from moothall.storage.tables import channels, guild_counters, guilds, members, users

_LAST: Final = (1 << 63) - 1


class GuildSummaryRow(Struct, frozen=True):
    """A guild with its owner's name and the number of its members."""

    id: GuildId
    name: str
    owner_id: UserId
    owner_name: str | None
    features: list[str]
    premium_tier: int
    member_count: int


def _guilds(*conditions: ColumnElement[bool]) -> Select[Any]:
    return (
        select(
            guilds.c.id,
            guilds.c.name,
            guilds.c.owner_id,
            users.c.username.label("owner_name"),
            guilds.c.features,
            guilds.c.premium_tier,
            guild_counters.c.member_count,
        )
        .select_from(
            guilds.join(guild_counters, guild_counters.c.guild_id == guilds.c.id).outerjoin(
                users, users.c.id == guilds.c.owner_id
            )
        )
        .where(*conditions)
    )


_select_guilds = Query(
    lambda: (
        _guilds(guilds.c.id < bindparam("before"), func.lower(guilds.c.name).like(bindparam("pattern"), escape="\\"))
        .order_by(guilds.c.id.desc())
        .limit(bindparam("maximum"))
    ),
    into=GuildSummaryRow,
)
_select_guild = Query(lambda: _guilds(guilds.c.id == bindparam("guild_id")), into=GuildSummaryRow)
_count_channels = Query(
    lambda: select(func.count()).select_from(channels).where(channels.c.guild_id == bindparam("guild_id"))
)
_is_member = Query(
    lambda: select(members.c.user_id).where(
        members.c.guild_id == bindparam("guild_id"),
        members.c.user_id == bindparam("user_id"),
        members.c.guest_channel_id.is_(None),
    )
)
_count = Query(lambda: select(func.count()).select_from(guilds))


async def select_guilds(reader: Reader, *, search: str, before: GuildId | None, maximum: int) -> list[GuildSummaryRow]:
    """Read guilds, newest first, with smaller ids than `before` and `search` in their names, in any case."""
    escaped = search.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    last = before or GuildId(Snowflake(_LAST))
    return await reader.all_long(_select_guilds, pattern=f"%{escaped}%", before=last, maximum=maximum)


async def select_guild(reader: Reader, guild_id: GuildId) -> GuildSummaryRow | None:
    """Read a guild; None for an unknown one."""
    return await reader.one(_select_guild, guild_id=guild_id)


async def count_channels(reader: Reader, guild_id: GuildId) -> int:
    """Count the channels and threads of a guild."""
    return int(await reader.scalar(_count_channels, guild_id=guild_id))


async def count_guilds(reader: Reader) -> int:
    """Count all guilds."""
    return int(await reader.scalar(_count))


async def is_member(reader: Reader, guild_id: GuildId, user_id: UserId) -> bool:
    """Whether a user is a member of a guild, and no guest."""
    return await reader.one(_is_member, guild_id=guild_id, user_id=user_id) is not None
