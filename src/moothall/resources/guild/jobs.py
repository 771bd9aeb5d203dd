"""What is done after a guild's end, a little at a time."""

from typing import ClassVar

from moothall.kernel.context import Context
from moothall.kernel.jobs import SETTLED_MS, Job, enqueue, job
from moothall.objects.ids import GuildId
from moothall.objects.wire import Timestamp
from moothall.resources.guild import queries


@job
class PurgeGuild(Job, frozen=True, kw_only=True):
    """Removes what a deleted guild has left behind: its channels with all that was said in them, and the rest.

    It begins when nobody writes there any more who has come before the guild's end.
    """

    kind: ClassVar[str] = "purge_guild"
    guild_id: GuildId

    async def step(self, ctx: Context) -> Job | None:
        """Remove some hundred rows."""
        return self if await queries.delete_some_of_guild(ctx.tx, self.guild_id) else None


async def purge_later(ctx: Context, guild_id: GuildId) -> None:
    """Enqueue the job that removes what a deleted guild leaves behind."""
    await enqueue(ctx, PurgeGuild(guild_id=guild_id), at=Timestamp(ctx.now + SETTLED_MS))
