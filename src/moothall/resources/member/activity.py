"""When members were last seen, as pruning asks for it."""

from sqlalchemy import bindparam, select

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.member.queries import get_member
from moothall.storage.database import Query, Reader, upsert
from moothall.storage.schema import member_activity

_KEY = ("guild_id", "user_id")

_set_last_seen = Query(upsert(member_activity, key=_KEY, update=("last_seen_at",)))
_select_last_seen = Query(
    select(member_activity.c.last_seen_at).where(
        member_activity.c.guild_id == bindparam("guild_id"), member_activity.c.user_id == bindparam("user_id")
    )
)


async def last_seen(reader: Reader, guild_id: GuildId, user_id: UserId) -> Timestamp | None:
    """When a member was last seen in a guild; None if that was never noted."""
    found: Timestamp | None = await reader.scalar(_select_last_seen, guild_id=guild_id, user_id=user_id)
    return found


async def set_last_seen(ctx: Context, guild_id: GuildId, user_id: UserId, moment: Timestamp) -> None:
    """Note when a member was last seen, also back in time. Raises Refusal: 404/10007 for who is no member."""
    if await get_member(ctx.tx, guild_id, user_id) is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    await ctx.tx.execute(_set_last_seen, guild_id=guild_id, user_id=user_id, last_seen_at=moment)
