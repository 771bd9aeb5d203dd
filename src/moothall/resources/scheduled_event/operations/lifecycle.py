"""Automatic status transitions of scheduled events (status update automation).

`save_and_announce` stores and announces a change of an event and schedules its next transition; `save_event` leaves the
announcement to its caller.
"""

from typing import ClassVar, Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.authority.guild_state import GuildState
from moothall.objects import limits
from moothall.objects.features import Feature
from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, Snowflake
from moothall.objects.permissions import Permissions
from moothall.objects.scheduled_event import EntityType, EventStatus
from moothall.objects.wire import Timestamp
from moothall.resources.scheduled_event import queries
from moothall.resources.scheduled_event.events import (
    GuildScheduledEventCreate,
    GuildScheduledEventDelete,
    GuildScheduledEventUpdate,
)
from moothall.resources.scheduled_event.jobs import DeleteEventUsers
from moothall.resources.scheduled_event.queries import EventRow, event_object
from moothall.resources.scheduled_event.times import MS, is_skipped, move_to_next_occurrence, next_moment
from moothall.resources.voice.queries import count_in_channel

_TRANSITION_FIELDS: Final = (
    "status", "scheduled_start_time", "scheduled_end_time", "entity_type", "recurrence_rule", "exceptions",
)  # fmt: skip
"""The fields that determine when the next automatic transition is due."""


@job
class AdvanceEvent(Job, frozen=True, kw_only=True):
    """Makes the next automatic transition of an event, unless a later job for the same event replaced this one."""

    kind: ClassVar[str] = "tend_event"
    guild_id: GuildId
    event_id: ScheduledEventId
    token: Snowflake
    """Equal to the event's `tending` column while this job is the current one."""
    quiet_since: Timestamp | None = None
    """Since when the voice channel of an active event has been empty; None while it has users."""

    async def step(self, ctx: Context) -> Job | None:
        """Start an external event, end an event, cancel one that was not started in time, or delete an old one."""
        row = await queries.lock_event(ctx.tx, self.guild_id, self.event_id)
        guild = await ctx.services.states.state(ctx.tx, self.guild_id, writes=True)
        if row is None or guild is None or row.tending != self.token:
            return None
        if not row.is_live:
            await queries.delete_event(ctx.tx, row.guild_id, row.id)
            await enqueue(ctx, DeleteEventUsers(guild_id=row.guild_id, event_ids=[row.id]))
            return None
        if row.status == EventStatus.ACTIVE and row.entity_type == EntityType.VOICE:
            await self._check_voice_channel(ctx, guild, row)
            return None
        await save_and_announce(ctx, guild, row, _after_transition(row, ctx.now))
        return None

    async def _check_voice_channel(self, ctx: Context, guild: GuildState, row: EventRow) -> None:
        """End an event whose voice channel has been empty for `STAGE_SILENCE` seconds, else check again later."""
        quiet_since = self.quiet_since
        if row.channel_id is not None and await count_in_channel(ctx.tx, row.channel_id):
            quiet_since = None
        elif quiet_since is None:
            quiet_since = ctx.now
        elif ctx.now - quiet_since >= limits.STAGE_SILENCE * MS:
            await save_and_announce(ctx, guild, row, complete_or_move_on(row, ctx.now))
            return
        next_check = structs.replace(self, quiet_since=quiet_since)
        await enqueue(ctx, next_check, at=Timestamp(ctx.now + limits.STAGE_LOOK * MS))


def complete_or_move_on(row: EventRow, now: Timestamp) -> EventRow:
    """An event whose active occurrence ended: at its next occurrence, or completed if there is none."""
    return move_to_next_occurrence(row, now) or structs.replace(row, status=EventStatus.COMPLETED)


def _after_transition(row: EventRow, now: Timestamp) -> EventRow:
    if row.status == EventStatus.ACTIVE:
        return complete_or_move_on(row, now)
    if row.entity_type == EntityType.EXTERNAL and not is_skipped(row):
        return structs.replace(row, status=EventStatus.ACTIVE)
    return move_to_next_occurrence(row, now) or structs.replace(row, status=EventStatus.CANCELED)


async def save_event(ctx: Context, before: EventRow, after: EventRow) -> tuple[EventRow, bool]:
    """Store the changed fields of an event and schedule its next transition.

    Returns the event as stored, and whether more than the scheduled transition changed.
    """
    if any(getattr(before, name) != getattr(after, name) for name in _TRANSITION_FIELDS):
        after = await schedule_transition(ctx, after)
    values = {
        name: getattr(after, name) for name in after.__struct_fields__ if getattr(after, name) != getattr(before, name)
    }
    if values:
        await queries.update_event(ctx.tx, before, values)
    return after, bool(values.keys() - {"tending"})


async def save_and_announce(ctx: Context, guild: GuildState, before: EventRow, after: EventRow) -> EventRow:
    """Store the changed fields of an event, schedule its next transition and announce the change.

    Returns the event as stored. Emits nothing if only the scheduled transition changed. Rows that call this declare
    GuildScheduledEventUpdate, and if the channel may change GuildScheduledEventCreate and GuildScheduledEventDelete.
    """
    after, changed = await save_event(ctx, before, after)
    if not changed:
        return after
    new = event_object(after)
    if before.channel_id != after.channel_id and await _viewers_differ(ctx, guild, before.channel_id, after.channel_id):
        # Members who may view only one of the two channels would keep a stale event, or miss the new one.
        ctx.emit(GuildScheduledEventDelete(event=event_object(before)))
        ctx.emit(GuildScheduledEventCreate(event=new))
    ctx.emit(GuildScheduledEventUpdate(event=new))
    return after


async def schedule_transition(ctx: Context, row: EventRow) -> EventRow:
    """Enqueue the next automatic transition of an event, which replaces the one enqueued before.

    Returns the event with its new `tending` token, which the caller stores; None for an event that follows its stage.
    """
    moment = next_moment(row, ctx.now)
    if moment is None:
        return structs.replace(row, tending=None)
    token = int(ctx.ids.next())
    await enqueue(ctx, AdvanceEvent(guild_id=row.guild_id, event_id=row.id, token=Snowflake(token)), at=moment)
    return structs.replace(row, tending=token)


async def _viewers_differ(ctx: Context, guild: GuildState, before: ChannelId | None, after: ChannelId | None) -> bool:
    return await _view_overwrites(ctx, guild, before) != await _view_overwrites(ctx, guild, after)


async def _view_overwrites(
    ctx: Context, guild: GuildState, channel_id: ChannelId | None
) -> dict[int, tuple[int, int]] | None:
    """The VIEW_CHANNEL bits (allow, deny) of a channel's overwrites by id; None if every member may view it.

    Events without a channel are visible to every member.
    """
    if channel_id is None:
        return None
    channel = await guild.channel(ctx.tx, channel_id)
    if channel is None:
        return {}
    view = int(Permissions.VIEW_CHANNEL)
    bits = {key: (allow & view, deny & view) for key, (allow, deny) in guild.overwrites(channel).items()}
    overwrites = {key: pair for key, pair in bits.items() if any(pair)}
    visible_to_all = guild.everyone.permissions & view and Feature.GUESTS_ENABLED not in guild.row.features
    return None if not overwrites and visible_to_all else overwrites
