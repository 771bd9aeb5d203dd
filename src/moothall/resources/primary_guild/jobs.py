"""The job that takes tags off users which they cannot wear any more."""

from typing import ClassVar, Final

from moothall.api.context import Context
from moothall.api.jobs import MAX_TRANSACTION_MS, Job, enqueue, job
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.primary_guild import queries
from moothall.resources.primary_guild.operations import correct

_USERS_A_STEP: Final = 20
"""Each is announced in all guilds of the user."""


@job
class CorrectTags(Job, frozen=True, kw_only=True):
    """Takes the tag of a guild off users who have left it, and off all once it has changed or the guild is deleted."""

    kind: ClassVar[str] = "correct_tags"
    guild_id: GuildId
    after: UserId = UserId(Snowflake(0))

    async def step(self, ctx: Context) -> Job | None:
        """Look at the next users who wear the tag."""
        rows = await queries.select_wearers(ctx.tx, self.guild_id, after=self.after, maximum=_USERS_A_STEP)
        await correct(ctx, self.guild_id, rows)
        if len(rows) < _USERS_A_STEP:
            return None
        return CorrectTags(guild_id=self.guild_id, after=rows[-1].id)


async def enqueue_correction(ctx: Context, guild_id: GuildId) -> None:
    """Enqueue the job, at once and for after every transaction that may still put the old tag on a user."""
    work = CorrectTags(guild_id=guild_id)
    await enqueue(ctx, work)
    await enqueue(ctx, work, at=Timestamp(ctx.now + MAX_TRANSACTION_MS))
