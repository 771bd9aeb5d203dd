"""What belongs to every commit: new versions of changed guilds, and publishing events."""

from collections.abc import Sequence
from typing import Final

from moothall.api.context import Context, Services
from moothall.api.events import Event
from moothall.api.outbox import leave_events
from moothall.authority.guild_changes import PARTS_BY_ROW, GuildChange, GuildPart
from moothall.authority.state_versions import advance_state_versions
from moothall.bus import Envelope
from moothall.objects.ids import GuildId
from moothall.objects.role import Role
from moothall.runtime.turns import yield_turn

_PIECE: Final = 20
"""Events that are encoded at once: a fraction of a millisecond."""


def publish_after_commit(ctx: Context) -> None:
    """Publish the events of a committed transaction and make its `after_commit` calls."""
    if ctx.events:
        services = ctx.services
        durable = services.bus.durable
        if durable:
            published = [event for event in ctx.events if event.transient]
        else:
            published = []
            for event in ctx.events:
                if _is_received(services, event):
                    published.append(event)
                else:
                    services.count_unreceived(event.name)
        if published:
            services.bus.publish(_encoded(ctx, published))
        if durable:
            services.outbox_filled.set()
    for call in ctx.after_commit:
        call()


async def store_events(ctx: Context) -> None:
    """Write the events of a transaction into the outbox, if the bus is shared with other processes.

    Else encode them if they are many: after the commit all of them are published at once, before anything else.
    """
    services = ctx.services
    if services.bus.durable:
        await leave_in_outbox(ctx)
    elif len(ctx.events) > _PIECE:
        received = [event for event in ctx.events if _is_received(services, event)]
        envelopes = await _encode(ctx, received)
        # By identity: equal events are announced one by one.
        ctx.encoded_events = {id(event): envelope for event, envelope in zip(received, envelopes, strict=True)}


async def leave_in_outbox(ctx: Context) -> None:
    """Write the events of a transaction into the outbox, without those that a crash may lose."""
    await leave_events(ctx.tx, await _encode(ctx, [event for event in ctx.events if not event.transient]))


def _is_received(services: Services, event: Event) -> bool:
    """Whether a session may receive an event."""
    guild_id = event.only_in_guild()
    return guild_id is None or services.has_listeners(guild_id)


def _encoded(ctx: Context, events: Sequence[Event]) -> list[Envelope]:
    """The envelopes of events, made now unless they were made before the commit."""
    made = ctx.encoded_events
    if not made:
        return _envelopes(ctx, events)
    # A session of the guild may have come meanwhile, so that not all of them were made.
    return [made.get(id(event)) or _envelopes(ctx, [event])[0] for event in events]


def _envelopes(ctx: Context, events: Sequence[Event]) -> list[Envelope]:
    """The envelopes of events, with their numbers."""
    envelopes = ctx.services.links.sign_all(events)
    if ctx.state_versions:
        for event, envelope in zip(events, envelopes, strict=True):
            envelope.state_version = ctx.state_versions.get(id(event), 0)
    return envelopes


async def _encode(ctx: Context, events: Sequence[Event]) -> list[Envelope]:
    envelopes: list[Envelope] = []
    for start in range(0, len(events), _PIECE):
        if start:
            await yield_turn(first=True)
        envelopes += _envelopes(ctx, events[start : start + _PIECE])
    return envelopes


async def complete_changes(ctx: Context) -> None:
    """Do what ends each transaction that changes guilds: give these new versions, and number their events."""
    await renew_guild_versions(ctx)
    await _number_events(ctx)


async def _number_events(ctx: Context) -> None:
    """Number the events by which gateway nodes keep the state of guilds, in their order."""
    numbered = [event for event in ctx.events if event.changes_view]
    if not numbered:
        return
    guild_ids: list[GuildId] = [event.guild_id for event in numbered]  # type: ignore[attr-defined]  # such events have one
    versions = await advance_state_versions(ctx.tx, guild_ids)
    for event, guild_id in zip(numbered, guild_ids, strict=True):
        if guild_id in versions:
            versions[guild_id] += 1
            ctx.state_versions[id(event)] = versions[guild_id]


async def renew_guild_versions(ctx: Context) -> None:
    """Give each guild whose state the transaction has changed a new, unique version."""
    changes: dict[GuildId, set[GuildChange]] = {}
    roles: dict[int, Role | None] = {}
    for event in ctx.events:
        for part in event.changes_guild:
            guild_id: GuildId = event.guild_id  # type: ignore[attr-defined]  # such events have one
            row_id = event.changed_row() if part in PARTS_BY_ROW else 0
            changes.setdefault(guild_id, set()).add(GuildChange(part, row_id))
            if part is GuildPart.ROLE:
                roles[row_id] = event.changed_role()
    for guild_id, changed in changes.items():
        entered = ctx.guild if ctx.writes and ctx.in_guild and ctx.guild.id == guild_id else None
        await ctx.services.states.renew(ctx.tx, guild_id, ctx.ids.next(), changed, entered, roles)
