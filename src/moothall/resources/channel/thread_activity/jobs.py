"""Archiving threads in which nothing is said any more."""

from typing import ClassVar, Final

from msgspec import structs

from moothall.kernel.context import Context
from moothall.kernel.jobs import Job, enqueue, job
from moothall.objects.channel_types import THREADS, ChannelFlags
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.wire import Timestamp
from moothall.resources.channel.objects import channel_object
from moothall.resources.channel.queries import select_channel
from moothall.resources.channel.thread_activity import queries
from moothall.resources.channel.thread_activity.events import ThreadUpdate
from moothall.resources.channel.thread_activity.state import change_thread, hearers_of, metadata_from_row
from moothall.storage.rows import ChannelRow, channel_from_row

_MS_PER_MINUTE: Final = 60_000


@job
class ArchiveThread(Job, frozen=True, kw_only=True):
    """Archives a thread once nothing has been said in it for as long as it says; a pinned one stays active."""

    kind: ClassVar[str] = "archive_thread"
    thread_id: ChannelId
    since: int
    """The thread's `archive_timestamp` when this was enqueued; a thread with another one has another job."""

    async def step(self, ctx: Context) -> Job | None:
        """Archive it, or look again later."""
        row = await select_channel(ctx.tx, self.thread_id)
        if row is None or row.type not in THREADS or row.archived:
            return None
        metadata = metadata_from_row(row)
        if metadata.archive_timestamp != self.since:
            return None
        last = await queries.select_last_message(ctx.tx, row.id)
        quiet_since = max(self.since, 0 if last is None else Snowflake(last).created_ms)
        lasts = metadata.auto_archive_duration * _MS_PER_MINUTE
        if row.flags & ChannelFlags.PINNED:
            await enqueue(ctx, self, at=Timestamp(ctx.now + lasts))
        elif quiet_since + lasts > ctx.now:
            await enqueue(ctx, self, at=Timestamp(quiet_since + lasts))
        else:
            await _archive(ctx, row)
        return None


async def _archive(ctx: Context, row: ChannelRow) -> None:
    after = await change_thread(
        ctx, row, archived=True, metadata=structs.replace(metadata_from_row(row), archive_timestamp=ctx.now)
    )
    if row.guild_id is None or row.parent_id is None:
        return
    ctx.emit(
        ThreadUpdate(
            guild_id=row.guild_id,
            channel_id=row.parent_id,
            user_ids=await hearers_of(ctx.tx, row),
            thread=await channel_object(ctx.tx, channel_from_row(after)),
        )
    )


async def watch(ctx: Context, thread_id: ChannelId, since: Timestamp, minutes: int) -> None:
    """Enqueue the job that archives a thread once nothing has been said in it for so many minutes."""
    job = ArchiveThread(thread_id=thread_id, since=int(since))
    await enqueue(ctx, job, at=Timestamp(since + minutes * _MS_PER_MINUTE))
