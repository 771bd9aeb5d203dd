"""Operations: follow an announcement channel, publish a message."""

from typing import Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.api.request.http_request import is_loopback
from moothall.objects import errors, limits
from moothall.objects.channel import FollowedChannel
from moothall.objects.channel_types import TEXT, ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, MessageId
from moothall.objects.message import MessageReference
from moothall.objects.message_types import WRITTEN, MessageFlags, MessagePart, MessageType
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.crosspost import queries
from moothall.resources.crosspost.jobs import DeliverCrosspost
from moothall.resources.message.body import decode_head, decode_text, encode_body
from moothall.resources.message.operations import announce_message, send_system_message
from moothall.resources.message.queries import lock_message, update_message
from moothall.resources.webhook.operations import add_webhook

_HOUR_MS: Final = 3_600_000


async def follow_channel(ctx: Context, target_id: ChannelId) -> FollowedChannel:
    """Make a channel follow the current announcement channel and send a system message in it; idempotent.

    Raises Refusal: 400/50024 if the current channel is no announcement channel or the other cannot follow; for the
    channel that follows 404/10003, 403/50001 and 403/50013; and as `add_webhook`.
    """
    source, origin = ctx.channel.channel, ctx.channel.guild
    if origin is None or source.type != ChannelType.GUILD_ANNOUNCEMENT:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    target = await ctx.enter_channel(target_id)
    if not ctx.in_guild or target.channel.type not in TEXT or target.id == source.id:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    ctx.require(Permissions.MANAGE_WEBHOOKS)
    follower = await queries.select_follower_webhook(ctx.tx, source.id, target.id)
    if follower is not None:
        return FollowedChannel(channel_id=source.id, webhook_id=follower.id)
    name = f"{origin.row.name} #{source.name}"
    webhook = await add_webhook(
        ctx,
        target.id,
        name=name[: limits.WEBHOOK_NAME_MAX],
        avatar=origin.row.icon,
        user_id=ctx.actor.user_id,
        source=source,
    )
    await send_system_message(
        ctx,
        target,
        ctx.actor.user_id,
        MessageType.CHANNEL_FOLLOW_ADD,
        reference=MessageReference(channel_id=source.id, guild_id=origin.id),
        content=name,
    )
    return FollowedChannel(channel_id=source.id, webhook_id=webhook.id)


async def crosspost_message(ctx: Context, message_id: MessageId) -> None:
    """Publish a message of the current announcement channel, and enqueue its copying to all followers.

    Another user's message requires MANAGE_MESSAGES. Raises Refusal: 404/10008, 403/50013, 400/50024 outside of
    announcement channels, 403/50021 for system messages, 400/50068 for polls and for copies of other channels'
    messages, 400/40033 for a message that was published already, 429/40062 above ten an hour.
    """
    access = ctx.channel
    row = await lock_message(ctx.tx, access.id, message_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    if access.channel.type != ChannelType.GUILD_ANNOUNCEMENT:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    if row.webhook_id is not None or row.author_id != ctx.actor.user_id:
        ctx.require(Permissions.MANAGE_MESSAGES)
    if row.type not in WRITTEN:
        raise Refusal(errors.SYSTEM_MESSAGE)
    if row.flags & MessageFlags.CROSSPOSTED:
        raise Refusal(errors.ALREADY_CROSSPOSTED)
    if row.parts & MessagePart.POLL or row.flags & MessageFlags.IS_CROSSPOST:
        raise Refusal(errors.INVALID_MESSAGE_TYPE)
    await _require_rate(ctx)
    await queries.insert_publication(ctx.tx, access.id, message_id, ctx.now)
    flags = row.flags | MessageFlags.CROSSPOSTED
    head = structs.replace(decode_head(row.body), flags=flags)
    published = structs.replace(row, flags=flags, body=encode_body(head, decode_text(row.body)))
    await update_message(ctx.tx, published)
    await announce_message(ctx, access, published)
    await enqueue(ctx, DeliverCrosspost(channel_id=access.id, message_id=message_id))


async def _require_rate(ctx: Context) -> None:
    limiter, since = ctx.services.limiter, Timestamp(ctx.now - _HOUR_MS)
    maximum = limits.CROSSPOSTS_PER_HOUR
    if limiter is not None:
        maximum = limiter.allowance(maximum, loopback=is_loopback(ctx.ip))
    recent = await queries.select_recent_publications(ctx.tx, ctx.channel.id, since, maximum)
    if limiter is None or len(recent) < maximum:
        return
    wait = round((recent[-1] + _HOUR_MS - ctx.now) / 1000, 3)
    raise Refusal(
        errors.RESOURCE_RATE_LIMITED,
        headers={"retry-after": str(int(wait) + 1), "via": "1.1 moothall"},
        extra={"retry_after": wait, "global": False},
    )
