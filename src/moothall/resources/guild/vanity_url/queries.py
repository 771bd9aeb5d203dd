"""The SQL of vanity URLs."""

from moothall.objects.guild import VanityUrl
from moothall.objects.ids import GuildId
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import bindparam, func, select, union_all, update
from moothall.storage.tables import guilds, invites

_select = Query(
    lambda: select(guilds.c.vanity_url_code, guilds.c.vanity_url_uses).where(guilds.c.id == bindparam("guild_id"))
)
_select_code = Query(
    lambda: union_all(
        select(guilds.c.vanity_url_code).where(guilds.c.vanity_url_code == bindparam("code")),
        select(invites.c.code).where(func.lower(invites.c.code) == bindparam("code")),
    )
)
_reset_uses = Query(lambda: update(guilds).where(guilds.c.id == bindparam("guild_id")).values(vanity_url_uses=0))


async def select_vanity_url(reader: Reader, guild_id: GuildId) -> VanityUrl:
    """A guild's vanity code and the number of its uses."""
    row = await reader.one(_select, guild_id=guild_id)
    code, uses = (None, 0) if row is None else row
    return VanityUrl(code=code, uses=0 if code is None else int(uses))


async def is_code_taken(reader: Reader, code: str) -> bool:
    """Whether a code in lower case belongs to a guild or, in any case, to an invite."""
    return await reader.one(_select_code, code=code) is not None


async def reset_uses(tx: Transaction, guild_id: GuildId) -> None:
    """Set the uses of a guild's vanity code to 0."""
    await tx.execute(_reset_uses, guild_id=guild_id)
