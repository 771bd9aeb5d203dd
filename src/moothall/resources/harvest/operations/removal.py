"""Operations: delete archives, a hundred files at a time."""

from typing import ClassVar

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.objects.ids import Snowflake, UserId
from moothall.resources.harvest import queries


def blob_key(harvest_id: Snowflake, number: int) -> str:
    """The key of the blob of one file of an archive."""
    return f"harvests/{int(harvest_id)}/{number}"


@job
class DeleteHarvest(Job, frozen=True, kw_only=True):
    """Deletes the files of an archive."""

    kind: ClassVar[str] = "delete_harvest"
    user_id: UserId
    harvest_id: Snowflake

    async def step(self, ctx: Context) -> Job | None:
        """Delete up to a hundred files."""
        row = await queries.select_harvest(ctx.tx, self.user_id)
        if row is not None and row.id == self.harvest_id and row.size:
            await queries.upsert_harvest(ctx.tx, structs.replace(row, size=0, updated_at=ctx.now))
        numbers = await queries.delete_some_files(ctx.tx, self.harvest_id)
        # A blob deleted by a step that is rolled back is not read again: the archive has no link any more.
        await ctx.services.blobs.delete_all(blob_key(self.harvest_id, number) for number in numbers)
        return self if numbers else None


async def delete_harvest(ctx: Context, user_id: UserId) -> None:
    """Enqueue the deletion of a user's archive, if there is one."""
    row = await queries.select_harvest(ctx.tx, user_id)
    if row is not None:
        await enqueue(ctx, DeleteHarvest(user_id=user_id, harvest_id=row.id))
