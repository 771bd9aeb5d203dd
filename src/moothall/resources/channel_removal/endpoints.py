"""Deleting and closing channels over HTTP (resources: channel, delete/close channel)."""

from moothall.kernel.context import Context
from moothall.kernel.endpoint import delete
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId
from moothall.resources.channel.access import ManagesChannel
from moothall.resources.channel.direct import close_direct_message
from moothall.resources.channel.events import ChannelDelete, ChannelUpdate
from moothall.resources.channel_removal.operations import remove_channel
from moothall.resources.group_dm.operations import LEAVING, leave_group
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.invite.events import InviteDelete
from moothall.resources.member.events import GuildMemberRemove
from moothall.resources.message.events import MessageUpdate
from moothall.resources.scheduled_event.operations import REMOVING_CHANNEL
from moothall.resources.thread_activity.events import ThreadDelete
from moothall.resources.voice.events import VoiceStateUpdate


@delete(
    "/channels/{channel_id}",
    permission=ManagesChannel(),
    audit_reason=True,
    fires=(
        ChannelDelete,
        ChannelUpdate,
        GuildMemberRemove,
        GuildUpdate,
        InviteDelete,
        MessageUpdate,
        ThreadDelete,
        VoiceStateUpdate,
        *LEAVING,
        *REMOVING_CHANNEL,
    ),
)
async def delete_channel(ctx: Context, channel_id: ChannelId) -> Channel:
    """Delete a channel of a guild (MANAGE_CHANNELS), close a direct message for the caller, or leave a group."""
    if ctx.in_guild:
        return await remove_channel(ctx)
    is_group = ctx.channel.channel.type == ChannelType.GROUP_DM
    return await (leave_group(ctx) if is_group else close_direct_message(ctx))
