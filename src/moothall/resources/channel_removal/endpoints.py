"""Deleting and closing channels over HTTP (resources: channel, delete/close channel)."""

from moothall.kernel.context import Context
from moothall.kernel.endpoint import delete
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId
from moothall.resources.channel.access import ManagesChannel
from moothall.resources.channel.direct import close_direct_message
from moothall.resources.channel.events import ChannelDelete, ChannelUpdate, DirectChannelDelete
from moothall.resources.channel_removal.operations import remove_channel
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.invite.events import InviteDelete
from moothall.resources.member.events import GuildMemberRemove
from moothall.resources.voice.events import VoiceStateUpdate


@delete(
    "/channels/{channel_id}",
    permission=ManagesChannel(),
    audit_reason=True,
    fires=(
        ChannelDelete,
        ChannelUpdate,
        DirectChannelDelete,
        GuildMemberRemove,
        GuildUpdate,
        InviteDelete,
        VoiceStateUpdate,
    ),
)
async def delete_channel(ctx: Context, channel_id: ChannelId) -> Channel:
    """Delete a channel of a guild (MANAGE_CHANNELS), or close a direct message for the caller."""
    return await (remove_channel(ctx) if ctx.in_guild else close_direct_message(ctx))
