"""Handlers of channel hooks: modify and leave group direct messages."""

from moothall.api.context import Context
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.resources.channel.events import DirectChannelUpdate
from moothall.resources.channel.operations import OTHER_CHANNEL_CHANGING, OTHER_CHANNEL_DELETING
from moothall.resources.channel.requests import ModifyChannel
from moothall.resources.group_dm.operations import REMOVE_RECIPIENT_EVENTS, leave_group_dm, modify_group_dm
from moothall.resources.message.events import MessageCreate


def _is_group_dm(ctx: Context) -> bool:
    return not ctx.in_guild and ctx.channel.channel.type == ChannelType.GROUP_DM


async def _modify(ctx: Context, body: ModifyChannel) -> Channel | None:
    return await modify_group_dm(ctx, body) if _is_group_dm(ctx) else None


async def _leave(ctx: Context) -> Channel | None:
    return await leave_group_dm(ctx) if _is_group_dm(ctx) else None


OTHER_CHANNEL_CHANGING.register(_modify, fires=(DirectChannelUpdate, MessageCreate))
OTHER_CHANNEL_DELETING.register(_leave, fires=REMOVE_RECIPIENT_EVENTS)
