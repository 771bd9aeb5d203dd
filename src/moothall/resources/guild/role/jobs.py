"""What is done after a role's end, a little at a time."""

from typing import ClassVar

from msgspec import structs

from moothall.kernel.context import Context
from moothall.kernel.jobs import Job, job
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.resources.guild.role import queries


@job
class TakeRole(Job, frozen=True, kw_only=True):
    """Takes a role that is gone out of the lists of its holders. Nobody has its permissions meanwhile."""

    kind: ClassVar[str] = "take_role"
    guild_id: GuildId
    role_id: RoleId
    after: UserId = UserId(Snowflake(0))
    """The member whose turn came last."""

    async def step(self, ctx: Context) -> Job | None:
        """Look through some thousand members."""
        last = await queries.take_from_members(ctx.tx, self.guild_id, self.role_id, self.after)
        return None if last is None else structs.replace(self, after=last)
