"""Forgetting interactions, and what one person saw of them."""

from typing import ClassVar, Final

from moothall.kernel.context import Context
from moothall.kernel.jobs import Job, job, promise
from moothall.objects.ids import MessageId, snowflake_at
from moothall.objects.wire import Timestamp
from moothall.resources.interaction import queries

_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS
_MOST: Final = 200


@job
class ForgetInteractions(Job, frozen=True, kw_only=True):
    """Remove interactions an hour after they were raised, and messages that one person saw after a day."""

    kind: ClassVar[str] = "forget interactions"
    before: Timestamp

    async def step(self, ctx: Context) -> Job | None:
        """Remove some; the rest is for the next step."""
        gone = await queries.delete_old(ctx.tx, self.before, _MOST)
        seen = Timestamp(self.before - _DAY_MS + _HOUR_MS)
        gone += await queries.delete_rooms(ctx.tx, MessageId(snowflake_at(max(seen, 0))), _MOST)
        return self if gone else None


async def promise_forgetting(ctx: Context, now: Timestamp) -> None:
    """Have what is old by then removed an hour from now; one promise an hour is enough."""
    hour = int(now) // _HOUR_MS
    seen: int | None = ctx.services.extra.get(ForgetInteractions)
    if seen == hour:
        return

    def note() -> None:
        ctx.services.extra[ForgetInteractions] = hour

    ctx.after_commit.append(note)
    await promise(ctx, ForgetInteractions(before=now), at=Timestamp(now + _HOUR_MS))
