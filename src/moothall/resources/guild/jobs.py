"""What is done after a guild's end, a little at a time."""

from typing import ClassVar

from moothall.kernel.context import Context
from moothall.kernel.jobs import Job, job
from moothall.objects.ids import GuildId
from moothall.resources.guild import queries


@job
class PurgeGuild(Job, frozen=True, kw_only=True):
    """Removes what a deleted guild has left behind: its channels with all that was said in them, and the rest."""

    kind: ClassVar[str] = "purge_guild"
    guild_id: GuildId

    async def step(self, ctx: Context) -> Job | None:
        """Remove some hundred rows."""
        return self if await queries.delete_some_of_guild(ctx.tx, self.guild_id) else None
