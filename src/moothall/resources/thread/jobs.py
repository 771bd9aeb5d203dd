"""Work that outlives the request: removing a deleted channel's messages, and a deleted tag from its posts."""

from collections.abc import Iterable
from typing import ClassVar, Final

from msgspec import structs

from moothall.kernel.context import Context
from moothall.kernel.jobs import SETTLED_MS, Job, enqueue, job
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId, Snowflake, TagId
from moothall.objects.wire import Timestamp
from moothall.resources.channel.objects import channel_objects
from moothall.resources.channel.operations import CHANNEL_PURGED
from moothall.resources.channel.queries import delete_channel, select_channel
from moothall.resources.channel.thread_activity.events import ThreadUpdate
from moothall.resources.message.purge_queries import delete_some_of_channel
from moothall.resources.thread import queries
from moothall.storage.rows import channel_from_row

_AT_ONCE: Final = 100


@job
class ForgetTags(Job, frozen=True, kw_only=True):
    """Takes tags that a forum has no more from its posts, and tells of those that are active."""

    kind: ClassVar[str] = "forget_tags"
    tag_ids: list[TagId]

    async def step(self, ctx: Context) -> Job | None:
        """Change some hundred posts."""
        rows = await queries.select_tagged(ctx.tx, self.tag_ids, _AT_ONCE)
        if not rows:
            return None
        changed = [structs.replace(row, applied_tags=self._left(row.applied_tags)) for row in rows]
        await queries.take_tags(ctx.tx, changed, self.tag_ids)
        for thread in await channel_objects(ctx.tx, [channel_from_row(row) for row in changed if not row.archived]):
            if isinstance(thread.guild_id, int) and isinstance(thread.parent_id, int):
                ctx.emit(ThreadUpdate(guild_id=thread.guild_id, channel_id=thread.parent_id, thread=thread))
        return self

    def _left(self, applied: Iterable[Snowflake]) -> list[Snowflake]:
        gone = set(map(int, self.tag_ids))
        return [tag_id for tag_id in applied if int(tag_id) not in gone]


async def forget_tags(ctx: Context, before: Channel, after: Channel) -> None:
    """Enqueue the job that removes a forum's deleted tags from its posts."""
    left = {tag.id for tag in after.available_tags or ()}
    gone = [tag.id for tag in before.available_tags or () if tag.id not in left]
    if gone:
        await enqueue(ctx, ForgetTags(tag_ids=gone))


@job
class PurgeChannelTree(Job, frozen=True, kw_only=True):
    """Removes the threads of a deleted channel with their messages, and the messages of the channel itself.

    Such a thread cannot be reached meanwhile: every way to it leads through its channel.
    """

    kind: ClassVar[str] = "purge_channel_tree"
    channel_id: ChannelId

    async def step(self, ctx: Context) -> Job | None:
        """Remove some hundred rows."""
        if await select_channel(ctx.tx, self.channel_id) is not None:
            return None  # a thread was started from the same message again
        thread_id = await queries.select_any_thread(ctx.tx, self.channel_id)
        if thread_id is None:
            if await delete_some_of_channel(ctx.tx, self.channel_id):
                return self
            # Invites and webhooks that were being made while the channel was deleted.
            await CHANNEL_PURGED(ctx, self.channel_id)
            return None
        if not await delete_some_of_channel(ctx.tx, thread_id):
            await delete_channel(ctx.tx, thread_id)
        return self


async def purge_later(ctx: Context, channel_id: ChannelId, *, again: bool = False) -> None:
    """Enqueue the removal of a deleted channel's messages, for when every transaction begun before is over.

    With `again`, which is for threads, also at once: another thread with the same id may follow soon.
    """
    work = PurgeChannelTree(channel_id=channel_id)
    if again:
        await enqueue(ctx, work)
    await enqueue(ctx, work, at=Timestamp(ctx.now + SETTLED_MS))
