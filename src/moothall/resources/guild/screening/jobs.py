"""What follows the end of screening, a little at a time."""

from typing import ClassVar

from msgspec import structs

from moothall.kernel.context import Context
from moothall.kernel.jobs import Job, job
from moothall.objects.features import Feature
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.resources.guild.screening import queries
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.queries import member_objects

_AT_ONCE = 200


@job
class AdmitPending(Job, frozen=True, kw_only=True):
    """Lets in all who are pending in a guild that screens nobody any more; stops where it screens again."""

    kind: ClassVar[str] = "admit_pending"
    guild_id: GuildId
    after: UserId = UserId(Snowflake(0))

    async def step(self, ctx: Context) -> Job | None:
        """Let in some two hundred members."""
        state = await ctx.services.states.state(ctx.tx, self.guild_id, writes=True)
        if state is None or Feature.MEMBER_VERIFICATION_GATE_ENABLED in state.row.features:
            return None
        rows = await queries.select_pending(ctx.tx, self.guild_id, self.after, _AT_ONCE)
        if not rows:
            return None
        await queries.admit(ctx.tx, self.guild_id, [row.user_id for row in rows])
        for member in await member_objects(ctx.tx, [structs.replace(row, pending=False) for row in rows]):
            ctx.emit(GuildMemberUpdate(guild_id=self.guild_id, member=member))
        return structs.replace(self, after=rows[-1].user_id)
