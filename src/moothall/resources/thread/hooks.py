"""Changing and deleting a thread as a channel, and what happens to threads when their channel changes or ends."""

from moothall.kernel.context import Context
from moothall.objects.channel import Channel
from moothall.resources.channel.operations import (
    CHANNEL_CHANGED,
    CHANNEL_DELETED,
    OTHER_CHANNEL_CHANGING,
    OTHER_CHANNEL_DELETING,
)
from moothall.resources.channel.requests import ModifyChannel
from moothall.resources.channel.thread_activity.events import WAKES, ThreadDelete
from moothall.resources.message.events import MessageCreate, MessageUpdate
from moothall.resources.thread.editing import modify_thread, remove_thread
from moothall.resources.thread.jobs import forget_tags, purge_later


async def _modify(ctx: Context, body: ModifyChannel) -> Channel | None:
    return await modify_thread(ctx, body) if ctx.channel.is_thread else None


async def _delete(ctx: Context) -> Channel | None:
    if not ctx.channel.is_thread:
        return None
    thread = await remove_thread(ctx)
    await purge_later(ctx, thread.id, again=True)
    return thread


async def _purge(ctx: Context, channel: Channel) -> None:
    await purge_later(ctx, channel.id)


OTHER_CHANNEL_CHANGING.register(_modify, fires=(*WAKES, MessageCreate))
OTHER_CHANNEL_DELETING.register(_delete, fires=(ThreadDelete, MessageUpdate))
CHANNEL_CHANGED.register(forget_tags)
CHANNEL_DELETED.register(_purge)
