"""Announcing members whose user has changed."""

from moothall.api.context import Context
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.user.queries import select_memberships
from moothall.storage.rows import UserRow, member_from_row, user_from_row


async def announce_profile(ctx: Context, row: UserRow) -> None:
    """Emit GUILD_MEMBER_UPDATE in each guild of a changed user. Rows that call this declare GuildMemberUpdate."""
    user = user_from_row(row)
    for member in await select_memberships(ctx.tx, row.id):
        ctx.emit(GuildMemberUpdate(guild_id=member.guild_id, member=member_from_row(member, user)))
