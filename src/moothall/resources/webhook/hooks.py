"""Handlers of channel hooks: delete the webhooks of a deleted channel."""

from moothall.api.context import Context
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId
from moothall.resources.channel.operations import CHANNEL_DELETED, CHANNEL_PURGED
from moothall.resources.webhook.queries import delete_of_channel


async def _delete(ctx: Context, channel: Channel) -> None:
    await delete_of_channel(ctx.tx, channel.id)


async def _delete_again(ctx: Context, channel_id: ChannelId) -> None:
    await delete_of_channel(ctx.tx, channel_id)


CHANNEL_DELETED.register(_delete)
CHANNEL_PURGED.register(_delete_again)
