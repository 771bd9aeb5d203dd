"""The job that removes a deleted role from members."""

from typing import ClassVar

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.resources.guild.role import queries


@job
class RemoveRoleFromMembers(Job, frozen=True, kw_only=True):
    """Removes a deleted role from the role lists of members. Until then the listed role grants nothing."""

    kind: ClassVar[str] = "take_role"
    guild_id: GuildId
    role_id: RoleId
    after: UserId = UserId(Snowflake(0))
    """The last member that an earlier step has processed."""

    async def step(self, ctx: Context) -> Job | None:
        """Process the next `MEMBERS_PER_STEP` members."""
        last = await queries.remove_from_members(ctx.tx, self.guild_id, self.role_id, self.after)
        return None if last is None else structs.replace(self, after=last)
