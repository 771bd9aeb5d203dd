"""Following channels and publishing messages over HTTP (resources: channel, follow; message, crosspost)."""

from msgspec import Struct

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import Json, post
from moothall.objects.channel import FollowedChannel
from moothall.objects.ids import ChannelId, MessageId
from moothall.objects.message import Message
from moothall.objects.permissions import Permissions
from moothall.resources.crosspost import operations
from moothall.resources.message.events import MessageCreate, MessageUpdate
from moothall.resources.message.rendering import message_bytes, viewer_in
from moothall.resources.webhook.events import WebhooksUpdate


class FollowChannel(Struct, frozen=True):
    """The body of Follow Announcement Channel: the channel that follows."""

    webhook_channel_id: ChannelId


@post("/channels/{channel_id}/followers", permission=MEMBER, audit_reason=True, fires=(WebhooksUpdate, MessageCreate))
async def follow_announcement_channel(ctx: Context, channel_id: ChannelId, body: FollowChannel) -> FollowedChannel:
    """Make a channel, where the caller has MANAGE_WEBHOOKS, follow an announcement channel."""
    return await operations.follow_channel(ctx, body.webhook_channel_id)


@post(
    "/channels/{channel_id}/messages/{message_id}/crosspost",
    permission=Permissions.SEND_MESSAGES,
    fires=(MessageUpdate,),
)
async def crosspost_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> Json[Message]:
    """Publish a message of an announcement channel to its followers; another user's requires MANAGE_MESSAGES."""
    await operations.crosspost_message(ctx, message_id)
    return Json((await message_bytes(ctx.tx, channel_id, [message_id], viewer_in(ctx)))[message_id])
