"""What becomes of posts when their forum has a tag no more, a little at a time."""

from collections.abc import Iterable
from typing import ClassVar, Final

from msgspec import structs

from moothall.kernel.context import Context
from moothall.kernel.jobs import Job, enqueue, job
from moothall.objects.channel import Channel
from moothall.objects.ids import Snowflake, TagId
from moothall.resources.channel.objects import channel_objects
from moothall.resources.thread import queries
from moothall.resources.thread_activity.events import ThreadUpdate
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
