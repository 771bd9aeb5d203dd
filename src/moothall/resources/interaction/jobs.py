"""Jobs that delete expired interactions and ephemeral messages."""

from functools import partial
from typing import ClassVar, Final

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.objects.ids import InteractionId, snowflake_at
from moothall.objects.wire import Timestamp
from moothall.resources.interaction import queries

_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS
_BATCH_SIZE: Final = 200


@job
class DeleteInteractions(Job, frozen=True, kw_only=True):
    """Delete interactions created before a time, an hour later."""

    kind: ClassVar[str] = "forget interactions"
    before: Timestamp

    async def step(self, ctx: Context) -> Job | None:
        """Delete one batch; the same job if there may be more."""
        return self if await queries.delete_interactions_before(ctx.tx, self.before, _BATCH_SIZE) else None


@job
class DeleteEphemeralMessages(Job, frozen=True, kw_only=True):
    """Delete the ephemeral messages and submitted files of interactions created before a time, a day later."""

    kind: ClassVar[str] = "forget rooms"
    before: Timestamp

    async def step(self, ctx: Context) -> Job | None:
        """Delete one batch; the same job if there may be more."""
        before_id = InteractionId(snowflake_at(self.before))
        return self if await queries.delete_ephemeral_before(ctx.tx, before_id, _BATCH_SIZE) else None


class ExpirySchedule:
    """The last hour for which this process has enqueued the deletion of interactions."""

    def __init__(self) -> None:
        self.enqueued_hour: int | None = None
        """Hours since the Unix epoch."""

    def set_enqueued_hour(self, hour: int) -> None:
        """Record that the jobs of an hour are stored."""
        self.enqueued_hour = hour


async def enqueue_expiry(ctx: Context, now: Timestamp) -> None:
    """Enqueue the jobs that delete the interactions of this hour; once an hour and process."""
    hour = int(now) // _HOUR_MS
    schedule = ctx.services.resources[ExpirySchedule]
    if schedule.enqueued_hour == hour:
        return
    ctx.after_commit.append(partial(schedule.set_enqueued_hour, hour))
    end = Timestamp((hour + 1) * _HOUR_MS)
    await enqueue(ctx, DeleteInteractions(before=end), at=Timestamp(end + _HOUR_MS))
    await enqueue(ctx, DeleteEphemeralMessages(before=end), at=Timestamp(end + _DAY_MS))
