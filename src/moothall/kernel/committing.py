"""What belongs to every commit: new versions of changed guilds, and publishing events."""

from sqlalchemy import bindparam, update

from moothall.kernel.context import Context
from moothall.kernel.outbox import leave_events
from moothall.storage.database import Query
from moothall.storage.schema import guilds

_set_version = Query(
    update(guilds).where(guilds.c.id == bindparam("guild_id")).values(version=bindparam("new_version"))
)


def publish_after_commit(ctx: Context) -> None:
    """Publish the events of a committed transaction and make its `after_commit` calls."""
    if ctx.events:
        services = ctx.services
        durable = services.bus.durable
        if durable:
            published = [event for event in ctx.events if event.transient]
        else:
            published = [
                event
                for event in ctx.events
                if (guild_id := event.only_in_guild()) is None or services.has_listeners(guild_id)
            ]
        if published:
            services.bus.publish(services.links.sign_all(published))
        if durable:
            services.outbox_filled.set()
    for call in ctx.after_commit:
        call()


async def store_events(ctx: Context) -> None:
    """Write the events of a transaction into the outbox, if the bus is shared with other processes."""
    if ctx.services.bus.durable:
        stored = [event for event in ctx.events if not event.transient]
        await leave_events(ctx.tx, ctx.services.links.sign_all(stored))


async def renew_guild_versions(ctx: Context) -> None:
    """Give each guild whose state the transaction has changed a new, unique version."""
    changed = {event.guild_id for event in ctx.events if event.invalidates_guild}  # type: ignore[attr-defined]  # such have one
    for guild_id in changed:
        await ctx.tx.execute(_set_version, guild_id=guild_id, new_version=ctx.ids.next())
