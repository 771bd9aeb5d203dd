"""Changing channels over HTTP (resources: channel, modify channel)."""

from moothall.kernel.context import Context
from moothall.kernel.endpoint import patch
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId
from moothall.resources.channel import operations
from moothall.resources.channel.access import ManagesChannel
from moothall.resources.channel.events import ChannelUpdate, DirectChannelUpdate
from moothall.resources.channel.requests import ModifyChannel
from moothall.resources.group_dm.editing import modify_group
from moothall.resources.message.events import MessageCreate
from moothall.resources.thread.editing import modify_thread
from moothall.resources.thread.jobs import forget_tags
from moothall.resources.thread_activity.events import WAKES


@patch(
    "/channels/{channel_id}",
    permission=ManagesChannel(),
    audit_reason=True,
    fires=(ChannelUpdate, DirectChannelUpdate, MessageCreate, *WAKES),
)
async def modify_channel(ctx: Context, channel_id: ChannelId, body: ModifyChannel) -> Channel:
    """Change a channel of a guild, whose overwrites take MANAGE_ROLES besides, a thread, or a group that one is in."""
    if ctx.channel.is_thread:
        return await modify_thread(ctx, body)
    if not ctx.in_guild and ctx.channel.channel.type == ChannelType.GROUP_DM:
        return await modify_group(ctx, body)
    before = ctx.channel.channel
    channel = await operations.modify_channel(ctx, body)
    await forget_tags(ctx, before, channel)
    return channel
