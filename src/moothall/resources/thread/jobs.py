"""Jobs: remove the messages and threads of deleted channels, and deleted tags from threads."""

from typing import ClassVar

from moothall.api.context import Context
from moothall.api.jobs import MAX_TRANSACTION_MS, Job, enqueue, job
from moothall.authority.channel_queries import select_channel
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId, TagId
from moothall.objects.wire import Timestamp
from moothall.resources.channel.operations import CHANNEL_PURGED
from moothall.resources.channel.queries import delete_channel
from moothall.resources.message.queries.purge import delete_some_of_channel
from moothall.resources.thread import queries
from moothall.resources.thread.operations.tags import remove_tags_from_threads


@job
class RemoveDeletedTags(Job, frozen=True, kw_only=True):
    """Removes deleted tags of a forum from its threads."""

    kind: ClassVar[str] = "forget_tags"
    tag_ids: list[TagId]

    async def step(self, ctx: Context) -> Job | None:
        """Update up to a hundred threads."""
        return self if await remove_tags_from_threads(ctx, self.tag_ids) else None


async def enqueue_tag_removal(ctx: Context, before: Channel, after: Channel) -> None:
    """Enqueue the removal, from a forum's threads, of the tags that an update has deleted from the forum."""
    remaining = {tag.id for tag in after.available_tags or ()}
    deleted = [tag.id for tag in before.available_tags or () if tag.id not in remaining]
    if deleted:
        await enqueue(ctx, RemoveDeletedTags(tag_ids=deleted))


@job
class PurgeChannelTree(Job, frozen=True, kw_only=True):
    """Removes the messages of a deleted channel, and its threads with their messages.

    The threads are inaccessible from the deletion on, since access to a thread requires its parent.
    """

    kind: ClassVar[str] = "purge_channel_tree"
    channel_id: ChannelId

    async def step(self, ctx: Context) -> Job | None:
        """Delete some hundred rows."""
        if await select_channel(ctx.tx, self.channel_id) is not None:
            return None  # another thread was started from the same message
        thread_id = await queries.select_one_thread_id(ctx.tx, self.channel_id)
        if thread_id is None:
            if await delete_some_of_channel(ctx.tx, self.channel_id):
                return self
            # Removes invites and webhooks that concurrent requests created during the deletion.
            await CHANNEL_PURGED(ctx, self.channel_id)
            return None
        if not await delete_some_of_channel(ctx.tx, thread_id):
            await delete_channel(ctx.tx, thread_id)
        return self


async def enqueue_purge(ctx: Context, channel_id: ChannelId, *, immediately: bool = False) -> None:
    """Enqueue the removal of a deleted channel's messages, after all concurrent transactions have ended.

    With `immediately`, which is for threads, also now, since another thread with the same id may be started soon.
    """
    work = PurgeChannelTree(channel_id=channel_id)
    if immediately:
        await enqueue(ctx, work)
    await enqueue(ctx, work, at=Timestamp(ctx.now + MAX_TRANSACTION_MS))
