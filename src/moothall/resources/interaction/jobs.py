"""Forgetting interactions, and what one person saw of them."""

from typing import ClassVar, Final

from moothall.kernel.context import Context
from moothall.kernel.jobs import Job, enqueue, job
from moothall.objects.ids import InteractionId, snowflake_at
from moothall.objects.wire import Timestamp
from moothall.resources.interaction import queries

_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS
_MAX: Final = 200


@job
class ForgetInteractions(Job, frozen=True, kw_only=True):
    """Remove interactions raised before a moment, which is an hour ago."""

    kind: ClassVar[str] = "forget interactions"
    before: Timestamp

    async def step(self, ctx: Context) -> Job | None:
        """Remove some; the rest is for the next step."""
        return self if await queries.delete_old(ctx.tx, self.before, _MAX) else None


@job
class ForgetRooms(Job, frozen=True, kw_only=True):
    """Remove what one person saw of interactions raised before a moment, which is a day ago, and all files of it."""

    kind: ClassVar[str] = "forget rooms"
    before: Timestamp

    async def step(self, ctx: Context) -> Job | None:
        """Remove some; the rest is for the next step."""
        until = InteractionId(snowflake_at(self.before))
        return self if await queries.delete_rooms(ctx.tx, until, _MAX) else None


async def enqueue_forgetting(ctx: Context, now: Timestamp) -> None:
    """Enqueue the jobs that delete the interactions of this hour, once an hour in each process."""
    hour = int(now) // _HOUR_MS
    seen: int | None = ctx.services.extra.get(ForgetInteractions)
    if seen == hour:
        return

    def note() -> None:
        ctx.services.extra[ForgetInteractions] = hour

    ctx.after_commit.append(note)
    end = Timestamp((hour + 1) * _HOUR_MS)
    await enqueue(ctx, ForgetInteractions(before=end), at=Timestamp(end + _HOUR_MS))
    await enqueue(ctx, ForgetRooms(before=end), at=Timestamp(end + _DAY_MS))
