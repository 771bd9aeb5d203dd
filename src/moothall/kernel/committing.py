"""What belongs to every commit: new versions of changed guilds, and publishing events."""

from moothall.kernel.context import Context
from moothall.kernel.guild_changes import PARTS_BY_ROW, GuildChange
from moothall.kernel.outbox import leave_events
from moothall.objects.ids import GuildId


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
    changes: dict[GuildId, set[GuildChange]] = {}
    for event in ctx.events:
        for part in event.changes_guild:
            guild_id: GuildId = event.guild_id  # type: ignore[attr-defined]  # such events have one
            row_id = event.changed_row() if part in PARTS_BY_ROW else 0
            changes.setdefault(guild_id, set()).add(GuildChange(part, row_id))
    for guild_id, changed in changes.items():
        entered = ctx.guild if ctx.writes and ctx.in_guild and ctx.guild.id == guild_id else None
        await ctx.services.states.renew(ctx.tx, guild_id, ctx.ids.next(), changed, entered)
