"""Guests leave with the voice channel that they were invited to."""

from moothall.kernel.context import Context
from moothall.objects.channel import Channel
from moothall.objects.channel_types import VOICE
from moothall.resources.channel.operations import CHANNEL_DELETING
from moothall.resources.guild.membership.guests import remove_guests_of
from moothall.resources.member.events import GuildMemberRemove
from moothall.resources.voice.events import VoiceStateUpdate


async def _remove_guests(ctx: Context, channel: Channel) -> None:
    if channel.type in VOICE:
        await remove_guests_of(ctx, ctx.guild.id, channel.id)


CHANNEL_DELETING.register(_remove_guests, fires=(GuildMemberRemove, VoiceStateUpdate), order=40)
