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


@patch(
    "/channels/{channel_id}",
    permission=ManagesChannel(),
    audit_reason=True,
    fires=(ChannelUpdate, DirectChannelUpdate, MessageCreate),
)
async def modify_channel(ctx: Context, channel_id: ChannelId, body: ModifyChannel) -> Channel:
    """Change a channel of a guild, whose overwrites take MANAGE_ROLES besides, or a group that one is in."""
    if not ctx.in_guild and ctx.channel.channel.type == ChannelType.GROUP_DM:
        return await modify_group(ctx, body)
    return await operations.modify_channel(ctx, body)
