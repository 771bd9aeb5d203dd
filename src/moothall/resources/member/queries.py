"""The SQL of members."""

from sqlalchemy import bindparam, select

from moothall.objects.ids import GuildId, UserId
from moothall.storage.database import Query, Reader
from moothall.storage.rows import MemberRow
from moothall.storage.schema import members

_select_member = Query(
    select(members).where(members.c.guild_id == bindparam("guild_id"), members.c.user_id == bindparam("user_id")),
    into=MemberRow,
)


async def get_member(reader: Reader, guild_id: GuildId, user_id: UserId) -> MemberRow | None:
    """One member's row; None for an outsider."""
    return await reader.one(_select_member, guild_id=guild_id, user_id=user_id)
