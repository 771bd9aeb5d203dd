"""Indexing messages from before there was an index."""

from typing import ClassVar, Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.ids import ChannelId, MessageId, Snowflake
from moothall.resources.message.search import queries
from moothall.resources.message.search.documents import document_of
from moothall.resources.message.search.indexing import LOCK

JOB_ID: Final = LOCK
"""The lock of the job is that of the index."""

_STEP: Final = 200


@job
class IndexMessages(Job, frozen=True, kw_only=True):
    """Indexes every message, in the order of channels. A migration enqueues it, and `rebuild_index`."""

    kind: ClassVar[str] = "index_messages"
    after_channel: ChannelId = ChannelId(Snowflake(0))
    after: MessageId = MessageId(Snowflake(0))
    """The last indexed message."""
    done: int = 0

    async def step(self, ctx: Context) -> Job | None:
        """Index some hundred messages."""
        rows = await queries.select_after(ctx.tx, self.after_channel, self.after, _STEP)
        if not rows:
            # An interrupted `rebuild_index` leaves the index without.
            await queries.restore_index(ctx.tx, ctx.services.database.dialect)
            return None
        documents = [document_of(row) for row in rows if row.searchable]
        await queries.upsert_documents(ctx.tx, ctx.services.database.dialect, documents)
        last = rows[-1]
        return structs.replace(self, after_channel=last.channel_id, after=last.id, done=self.done + len(documents))
