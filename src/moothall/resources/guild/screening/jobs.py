"""The job that admits pending members after membership screening was disabled."""

from typing import ClassVar

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.features import Feature
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.resources.guild.join_request.operations import approve_admitted
from moothall.resources.guild.membership.operations import admit_members
from moothall.resources.guild.screening import queries

_BATCH = 200


@job
class AdmitPendingMembers(Job, frozen=True, kw_only=True):
    """Admits all pending members of a guild without screening; stops if screening is enabled again."""

    kind: ClassVar[str] = "admit_pending"
    guild_id: GuildId
    after: UserId = UserId(Snowflake(0))

    async def step(self, ctx: Context) -> Job | None:
        """Admit the next `_BATCH` members."""
        state = await ctx.services.states.state(ctx.tx, self.guild_id, writes=True)
        if state is None or Feature.MEMBER_VERIFICATION_GATE_ENABLED in state.row.features:
            return None
        rows = await queries.select_pending(ctx.tx, self.guild_id, self.after, _BATCH)
        if not rows:
            return None
        await admit_members(ctx, self.guild_id, rows)
        await approve_admitted(ctx, self.guild_id, [row.user_id for row in rows])
        return structs.replace(self, after=rows[-1].user_id)
