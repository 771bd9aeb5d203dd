"""The job that stores the target users of an invite."""

from typing import ClassVar

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.ids import GuildId, Snowflake
from moothall.objects.invite import TargetUsersJobState
from moothall.resources.invite.target_users import queries

_BATCH = 500


@job
class ProcessTargetUsers(Job, frozen=True, kw_only=True):
    """Stores the users of an uploaded file; stops if another file was uploaded, or the invite was deleted."""

    kind: ClassVar[str] = "process_target_users"
    guild_id: GuildId
    code: str
    version: Snowflake

    async def step(self, ctx: Context) -> Job | None:
        """Store the next `_BATCH` users."""
        row = await queries.lock_target_job(ctx.tx, self.guild_id, self.code)
        if row is None or row.version != self.version:
            return None
        batch, left = row.waiting_ids[:_BATCH], row.waiting_ids[_BATCH:]
        await queries.insert_targets(ctx.tx, self.guild_id, self.code, batch)
        after = structs.replace(row, processed_users=row.processed_users + len(batch), waiting_ids=left)
        if not left:
            after = structs.replace(after, status=TargetUsersJobState.COMPLETED, completed_at=ctx.now)
        await queries.upsert_target_job(ctx.tx, after)
        return self if left else None
