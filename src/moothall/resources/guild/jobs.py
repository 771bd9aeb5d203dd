"""The job that deletes the remaining rows of a deleted guild."""

from typing import ClassVar

from moothall.api.context import Context
from moothall.api.jobs import MAX_TRANSACTION_MS, Job, enqueue, job
from moothall.objects.ids import GuildId
from moothall.objects.wire import Timestamp
from moothall.resources.guild import queries


@job
class PurgeGuild(Job, frozen=True, kw_only=True):
    """Deletes the remaining rows of a deleted guild: its channels with their messages, and everything else.

    It starts once every transaction that may still write to the guild is over.
    """

    kind: ClassVar[str] = "purge_guild"
    guild_id: GuildId

    async def step(self, ctx: Context) -> Job | None:
        """Delete the next batch of rows."""
        return self if await queries.delete_guild_batch(ctx.tx, self.guild_id) else None


async def enqueue_guild_purge(ctx: Context, guild_id: GuildId) -> None:
    """Enqueue the deletion of a deleted guild's remaining rows."""
    await enqueue(ctx, PurgeGuild(guild_id=guild_id), at=Timestamp(ctx.now + MAX_TRANSACTION_MS))
