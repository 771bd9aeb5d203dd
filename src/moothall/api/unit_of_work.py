"""Operations outside of HTTP requests: gateway commands, jobs and operators' commands.

They run like endpoints: in one transaction with a Context, repeated whole on a conflict, with their events published
once the commit is durable.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from moothall.api.authenticate import Actor
from moothall.api.committing import complete_changes, leave_in_outbox, publish_after_commit, store_events
from moothall.api.conflicts import retry_on_conflict
from moothall.api.context import Context, Services
from moothall.api.events import Event
from moothall.api.hooks import AnyHook, declared_events
from moothall.api.staged import StagedFile
from moothall.objects.ids import Snowflake

T = TypeVar("T")


async def run(
    services: Services,
    actor: Actor,
    work: Callable[[Context], Awaitable[T]],
    *,
    fires: Iterable[type[Event] | AnyHook] | None = None,
    lock: Snowflake | None = None,
    reason: str | None = None,
    outbox: bool = False,
    files: Sequence[StagedFile] = (),
) -> T:
    """Run `work` in a transaction of its own, publish the events that it emits, and return its result.

    `actor` is the user that it runs for (`ANONYMOUS` for the platform itself). `fires` are the events that it may
    emit, None for any. `lock` is the guild whose state it changes. With `outbox` the events are left for a serving
    process, because this one has no gateway. `files` are those of `ctx.files`. Raises StorageError, and what `work`
    raises, which rolls it back.
    """
    declared = None if fires is None else declared_events(fires)

    async def attempt() -> T:
        async with services.database.transaction(lock) as tx:
            ctx = Context(services, tx, actor, reason=reason, fires=declared, writes=lock is not None, files=files)
            result = await work(ctx)
            await complete_changes(ctx)
            if outbox:
                await leave_in_outbox(ctx)
                ctx.events.clear()
            else:
                await store_events(ctx)
            tx.on_commit(partial(publish_after_commit, ctx))
        return result

    return await retry_on_conflict(attempt)
