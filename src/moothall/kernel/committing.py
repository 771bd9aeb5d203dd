"""What belongs to every commit: guilds that change get a new version, and what has happened is told."""

from sqlalchemy import bindparam, update

from moothall.kernel.context import Context
from moothall.kernel.outbox import OutboxRelay, leave_events
from moothall.storage.database import Query
from moothall.storage.schema import guilds

_set_version = Query(
    update(guilds).where(guilds.c.id == bindparam("guild_id")).values(version=bindparam("new_version"))
)


def announce(ctx: Context) -> None:
    """What follows a commit: the events leave, and whatever else the operation asked for is done."""
    if ctx.events:
        durable = ctx.services.bus.durable
        if durable:
            told = [event for event in ctx.events if event.fleeting]
        else:
            hears = ctx.services.hears
            told = [event for event in ctx.events if not (where := event.only_in_guild()) or hears(where)]
        if told:
            ctx.services.bus.publish(ctx.services.links.sign_all(told))
        relay = ctx.services.extra.get(OutboxRelay) if durable else None
        if relay is not None:
            relay.wake()
    for call in ctx.after_commit:
        call()


async def keep_events(ctx: Context) -> None:
    """Where other processes must hear of the transaction, its events are written down in it."""
    if ctx.services.bus.durable:
        kept = [event for event in ctx.events if not event.fleeting]
        await leave_events(ctx.tx, ctx.services.links.sign_all(kept))


async def freshen_guilds(ctx: Context) -> None:
    """Give every guild whose state the transaction changed a version never used before."""
    changed = {event.guild_id for event in ctx.events if event.stales_guild}  # type: ignore[attr-defined]  # such have one
    for guild_id in changed:
        await ctx.tx.execute(_set_version, guild_id=guild_id, new_version=ctx.ids.next())
