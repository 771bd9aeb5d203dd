"""An operation outside the HTTP line: gateway commands, jobs and operators' commands.

It runs like a row's handler: in one transaction with a Context, repeated whole on a conflict, its
events announced once the commit is durable.
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar

from moothall.kernel.authenticate import Actor
from moothall.kernel.committing import announce, freshen_guilds, keep_events
from moothall.kernel.conflicts import until_it_wins
from moothall.kernel.context import Context, Services
from moothall.kernel.events import Event
from moothall.kernel.hooks import AnyHook, declared_events
from moothall.kernel.outbox import leave_events
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
) -> T:
    """Do `work` in a transaction of its own and announce what it emitted; what it returned.

    `actor` is who it is done for (`ANONYMOUS` for the platform itself). `fires` are the events that it
    may emit, None for any. `lock` is the guild whose state it changes. `outbox` leaves the events
    to a serving process, for a process in which no gateway listens. Raises what `work` raises
    (nothing then remains) and StorageError.
    """
    declared = None if fires is None else declared_events(fires)

    async def attempt() -> T:
        async with services.database.transaction(lock) as tx:
            ctx = Context(services, tx, actor, reason=reason, fires=declared, writes=lock is not None)
            result = await work(ctx)
            await freshen_guilds(ctx)
            if outbox:
                await leave_events(tx, services.links.sign_all(ctx.events))
                ctx.events.clear()
            else:
                await keep_events(ctx)
            tx.on_commit(partial(announce, ctx))
        return result

    return await until_it_wins(attempt)
