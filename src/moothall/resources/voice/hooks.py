"""Handler of a channel hook: disconnect the members of a deleted voice channel."""

from moothall.api.context import Context
from moothall.objects.channel import Channel
from moothall.objects.channel_types import VOICE
from moothall.resources.channel.operations import CHANNEL_DELETED, CHANNEL_DELETING
from moothall.resources.voice.events import VOICE_EVENTS
from moothall.resources.voice.operations.status import delete_status_of_channel
from moothall.resources.voice.operations.voice_state import disconnect_channel


async def _disconnect_all(ctx: Context, channel: Channel) -> None:
    if channel.type in VOICE:
        await disconnect_channel(ctx, ctx.guild.id, channel.id)


CHANNEL_DELETING.register(_disconnect_all, fires=VOICE_EVENTS, order=30)
CHANNEL_DELETED.register(delete_status_of_channel)
