"""Who may write direct messages to whom (api.md, Incidents data object)."""

from typing import Any

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.guild import IncidentsData
from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp, convert
from moothall.resources.channel import queries
from moothall.resources.user.relationship.queries import select_blocked_ids, select_friend_ids
from moothall.resources.user.settings.queries import select_changed_settings, select_shared_guild_ids


def are_direct_messages_paused(incidents_data: dict[str, Any] | None, now: Timestamp) -> bool:
    """Whether an incident action pauses the direct messages between members of a guild now."""
    until = None if incidents_data is None else convert(incidents_data, IncidentsData).dms_disabled_until
    return until is not None and until > now


async def require_may_message(ctx: Context, other_id: UserId) -> None:
    """Refuse (403/50007) callers who may not write direct messages to a user.

    Deleted users receive none, bots none from bots, and users none from those whom they have blocked
    or who have blocked them.
    If every guild that the two share has paused direct messages, or is restricted by the recipient, only friends
    may write; pauses do not concern bots. Those who share no guild may write to each other.
    """
    account = await queries.select_account(ctx.tx, other_id)
    if account is None or account.deleted or (account.bot and ctx.actor.bot):
        raise Refusal(errors.CANNOT_MESSAGE_USER)
    if await select_blocked_ids(ctx.tx, ctx.actor.user_id, [other_id]):
        raise Refusal(errors.CANNOT_MESSAGE_USER)
    if account.bot:
        return
    restricted_ids = set(map(int, (await select_changed_settings(ctx.tx, other_id)).get("restricted_guilds", ())))
    if ctx.actor.bot:
        shared_ids = await select_shared_guild_ids(ctx.tx, ctx.actor.user_id, other_id) if restricted_ids else set()
        if shared_ids and shared_ids <= restricted_ids:
            raise Refusal(errors.CANNOT_MESSAGE_USER)
        return
    shared = await queries.select_shared_incidents(ctx.tx, ctx.actor.user_id, other_id)
    closed = bool(shared) and all(
        guild_id in restricted_ids or are_direct_messages_paused(data, ctx.now) for guild_id, data in shared
    )
    if closed and not await select_friend_ids(ctx.tx, ctx.actor.user_id, [other_id]):
        raise Refusal(errors.CANNOT_MESSAGE_USER)


async def require_may_write_here(ctx: Context) -> None:
    """Refuse (403/50007) callers who may not write to the recipient of the direct message entered, if it is one."""
    channel = ctx.channel
    if channel.channel.type != ChannelType.DM:
        return
    others = [user_id for user_id in channel.recipients if user_id != ctx.actor.user_id]
    if not others:
        raise Refusal(errors.CANNOT_MESSAGE_USER)
    await require_may_message(ctx, others[0])
