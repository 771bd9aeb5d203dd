"""Handlers of channel hooks: modify and delete threads, remove deleted tags, purge the threads of deleted channels."""

from moothall.api.context import Context
from moothall.objects.channel import Channel
from moothall.resources.channel.operations import (
    CHANNEL_CHANGED,
    CHANNEL_DELETED,
    OTHER_CHANNEL_CHANGING,
    OTHER_CHANNEL_DELETING,
)
from moothall.resources.channel.requests import ModifyChannel
from moothall.resources.channel.thread_activity.events import UNARCHIVE_EVENTS, ThreadDelete
from moothall.resources.message.events import MessageCreate, MessageUpdate
from moothall.resources.message.submitted_content import CONTENT_SUBMITTED
from moothall.resources.thread.jobs import enqueue_purge, enqueue_tag_removal
from moothall.resources.thread.operations.deletion import delete_thread
from moothall.resources.thread.operations.editing import modify_thread


async def _modify(ctx: Context, body: ModifyChannel) -> Channel | None:
    return await modify_thread(ctx, body) if ctx.channel.is_thread else None


async def _delete(ctx: Context) -> Channel | None:
    if not ctx.channel.is_thread:
        return None
    thread = await delete_thread(ctx)
    await enqueue_purge(ctx, thread.id, immediately=True)
    return thread


async def _purge(ctx: Context, channel: Channel) -> None:
    await enqueue_purge(ctx, channel.id)


OTHER_CHANNEL_CHANGING.register(_modify, fires=(*UNARCHIVE_EVENTS, MessageCreate, CONTENT_SUBMITTED))
OTHER_CHANNEL_DELETING.register(_delete, fires=(ThreadDelete, MessageUpdate))
CHANNEL_CHANGED.register(enqueue_tag_removal)
CHANNEL_DELETED.register(_purge)
