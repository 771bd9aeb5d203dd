"""Operation: show the typing indicator."""

from msgspec import UNSET

from moothall.api.context import Context
from moothall.objects.member import without_pending
from moothall.resources.channel.events import TypingStart
from moothall.resources.member.queries import get_member
from moothall.resources.user.queries import get_user
from moothall.storage.rows import member_from_row


async def trigger_typing_indicator(ctx: Context) -> None:
    """Emit TYPING_START for the caller in the current channel."""
    access, user_id = ctx.channel, ctx.actor.user_id
    member = None if access.guild is None else await get_member(ctx.tx, access.guild.id, user_id)
    user = None if member is None else await get_user(ctx.tx, user_id)
    ctx.emit(
        TypingStart(
            guild_id=UNSET if access.guild is None else access.guild.id,
            channel_id=access.id,
            user_id=user_id,
            timestamp=ctx.now // 1000,
            member=UNSET if member is None or user is None else without_pending(member_from_row(member, user)),
            audience_channel_id=access.audience_channel_id,
            recipients=access.event_user_ids,
        )
    )
