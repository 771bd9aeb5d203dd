"""Operations: accept and reject message requests."""

from collections.abc import Collection
from typing import Final

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors
from moothall.objects.channel import Channel, ConsentStatus
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, UserId
from moothall.resources.channel.events import DirectChannelDelete, DirectChannelUpdate
from moothall.resources.channel.operations.direct_message import set_consent
from moothall.resources.channel.queries import (
    Recipient,
    select_activity_of,
    select_direct_message_id,
    select_recipients,
    update_closed,
)
from moothall.resources.read_state.events import MessageAck
from moothall.resources.read_state.operations import acknowledge_channels
from moothall.resources.read_state.queries import ChannelKey

REJECT_EVENTS: Final[Fires] = (DirectChannelUpdate, MessageAck, DirectChannelDelete)
"""What an endpoint that rejects message requests declares in `fires`."""


async def accept_message_request(ctx: Context) -> Channel:
    """Accept the direct message entered; one that is no message request stays as it is.

    One that the caller has rejected is accepted as well. Raises Refusal: 403/20001 for bots, 400/50024 for another
    channel.
    """
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    if ctx.in_guild or ctx.channel.channel.type != ChannelType.DM:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    channel = await set_consent(ctx, ctx.channel.id, ctx.actor.user_id, ConsentStatus.ACCEPTED)
    if channel is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    return channel


async def reject_message_requests(ctx: Context, channel_ids: Collection[ChannelId]) -> list[Channel]:
    """Reject message requests to the caller: they are closed, and their senders, unless acquainted, write no more.

    Raises Refusal: 404/10003, and rejects none, for one that is no pending message request to the caller.
    """
    pending = await pending_requests(ctx, channel_ids)
    if len(pending) < len(channel_ids):
        raise Refusal(errors.UNKNOWN_CHANNEL)
    return [await _reject(ctx, channel_id) for channel_id in channel_ids]


async def pending_requests(ctx: Context, channel_ids: Collection[ChannelId]) -> dict[ChannelId, Recipient]:
    """Those of some channels that are message requests to the caller."""
    return {
        recipient.channel_id: recipient
        for recipient in await select_recipients(ctx.tx, channel_ids)
        if recipient.user_id == ctx.actor.user_id and recipient.consent == ConsentStatus.PENDING
    }


async def accept_of_friend(ctx: Context, friend_id: UserId) -> None:
    """Accept the direct message of the caller and a new friend for both of them."""
    channel_id = await select_direct_message_id(ctx.tx, ctx.actor.user_id, friend_id)
    if channel_id is not None:
        for user_id in (ctx.actor.user_id, friend_id):
            await set_consent(ctx, channel_id, user_id, ConsentStatus.ACCEPTED)


async def _reject(ctx: Context, channel_id: ChannelId) -> Channel:
    caller_id = ctx.actor.user_id
    channel = await set_consent(ctx, channel_id, caller_id, ConsentStatus.REJECTED)
    row = await select_channel(ctx.tx, channel_id)
    if channel is None or row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    activity = await select_activity_of(ctx.tx, channel_id)
    if activity is not None and activity.last_message_id is not None:
        key = ChannelKey(id=channel_id, guild_id=None, parent_id=None, type=row.type)
        await acknowledge_channels(ctx, {key: activity.last_message_id})
    await update_closed(ctx.tx, channel_id, [caller_id], closed=True)
    ctx.emit(DirectChannelDelete(channel=channel, user_ids=(caller_id,)))
    return channel
