"""A deleted voice channel removes its guests from the guild."""

from moothall.api.context import Context
from moothall.objects.channel import Channel
from moothall.objects.channel_types import VOICE
from moothall.resources.channel.operations import CHANNEL_DELETING
from moothall.resources.guild.membership.operations import remove_guests_of_channel
from moothall.resources.member.events import GuildMemberRemove
from moothall.resources.voice.events import VOICE_EVENTS


async def _remove_guests(ctx: Context, channel: Channel) -> None:
    if channel.type in VOICE:
        await remove_guests_of_channel(ctx, ctx.guild.id, channel.id)


CHANNEL_DELETING.register(_remove_guests, fires=(GuildMemberRemove, *VOICE_EVENTS), order=40)
