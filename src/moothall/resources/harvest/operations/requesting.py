"""Operations: request an archive."""

from collections.abc import Iterable
from typing import Final

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.api.pipeline import too_many_requests
from moothall.objects.wire import Timestamp
from moothall.resources.harvest import queries
from moothall.resources.harvest.objects import BACKENDS, INITIAL, HarvestStatus
from moothall.resources.harvest.operations.collecting import CollectHarvest
from moothall.resources.harvest.operations.removal import delete_harvest
from moothall.resources.harvest.queries import HarvestRow
from moothall.resources.user.queries import lock_user

INTERVAL_MS: Final = 86_400_000


async def create_harvest(ctx: Context, kinds: Iterable[str]) -> HarvestRow:
    """Request an archive of the caller's data in place of the one before, and enqueue its collection.

    Raises Refusal: 429 less than a day after the last one, unless that failed.
    """
    user_id = ctx.actor.user_id
    await lock_user(ctx.tx, user_id)
    before = await queries.select_harvest(ctx.tx, user_id)
    if before is not None and before.status != HarvestStatus.FAILED:
        wait = (before.created_at + INTERVAL_MS - ctx.now) / 1000
        if wait > 0:
            raise too_many_requests(wait, "user", [])
    await delete_harvest(ctx, user_id)
    names = [BACKENDS[kind.lower()] for kind in kinds if kind.lower() in BACKENDS] or list(BACKENDS.values())
    row = HarvestRow(
        user_id=user_id,
        id=ctx.ids.next(),
        status=int(HarvestStatus.QUEUED),
        backends=dict.fromkeys(sorted(set(names)), INITIAL),
        created_at=ctx.now,
        updated_at=Timestamp(ctx.now),
        completed_at=None,
        polled_at=None,
        size=0,
    )
    await queries.upsert_harvest(ctx.tx, row)
    await enqueue(ctx, CollectHarvest(user_id=user_id, harvest_id=row.id))
    return row
