"""The SQL of widgets."""

from sqlalchemy import bindparam, select

from moothall.objects.ids import ChannelId, GuildId
from moothall.storage.database import Query, Reader
from moothall.storage.schema import invites

_select_invite = Query(
    select(invites.c.code)
    .where(
        invites.c.guild_id == bindparam("guild_id"),
        invites.c.channel_id == bindparam("channel_id"),
        invites.c.inviter_id.is_(None),
        invites.c.expires_at.is_(None),
        invites.c.max_uses == 0,
        invites.c.target_type.is_(None),
    )
    .order_by(invites.c.created_at)
    .limit(1)
)


async def select_widget_invite(reader: Reader, guild_id: GuildId, channel_id: ChannelId) -> str | None:
    """The code of the unlimited invite to a channel that is nobody's; None if there is none."""
    code: str | None = await reader.scalar(_select_invite, guild_id=guild_id, channel_id=channel_id)
    return code
