"""How events go on by themselves, and how every change of one is stored and told (status update automation)."""

from typing import ClassVar, Final

from msgspec import structs

from moothall.kernel.context import Context
from moothall.kernel.guild_state import GuildState
from moothall.kernel.jobs import Job, enqueue, job
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
from moothall.resources.scheduled_event.queries import EventRow, event_object
from moothall.resources.scheduled_event.times import MS, is_skipped, move_to_next_occurrence, next_moment
from moothall.resources.voice.queries import count_in_channel

_TRANSITION_FIELDS: Final = (
    "status", "scheduled_start_time", "scheduled_end_time", "entity_type", "recurrence_rule", "exceptions",
)  # fmt: skip
"""What the moment rests on at which an event goes on by itself."""


@job
class AdvanceEvent(Job, frozen=True, kw_only=True):
    """Looks at one event when it goes on by itself; one that has changed since has another such job."""

    kind: ClassVar[str] = "tend_event"
    guild_id: GuildId
    event_id: ScheduledEventId
    token: Snowflake
    """What the event's `tending` is as long as this job is the one."""
    quiet_since: Timestamp | None = None
    """Since when nobody has been in the channel of an active event."""

    async def step(self, ctx: Context) -> Job | None:
        """Begin an external event, end one that is over, give up one that nobody starts, forget an old one."""
        row = await queries.lock_event(ctx.tx, self.guild_id, self.event_id)
        guild = await ctx.services.states.state(ctx.tx, self.guild_id, writes=True)
        if row is None or guild is None or row.tending != self.token:
            return None
        if not row.is_live:
            await queries.delete_event(ctx.tx, row.guild_id, row.id)
            await enqueue(ctx, ForgetUsers(guild_id=row.guild_id, event_ids=[row.id]))
            return None
        if row.status == EventStatus.ACTIVE and row.entity_type == EntityType.VOICE:
            await self._watch(ctx, guild, row)
            return None
        await save_and_announce(ctx, guild, row, _gone_on(row, ctx.now))
        return None

    async def _watch(self, ctx: Context, guild: GuildState, row: EventRow) -> None:
        """An event in a voice channel ends when everybody has been gone for a while."""
        quiet_since = self.quiet_since
        if row.channel_id is not None and await count_in_channel(ctx.tx, row.channel_id):
            quiet_since = None
        elif quiet_since is None:
            quiet_since = ctx.now
        elif ctx.now - quiet_since >= limits.STAGE_SILENCE * MS:
            await save_and_announce(ctx, guild, row, finished(row, ctx.now))
            return
        again = structs.replace(self, quiet_since=quiet_since)
        await enqueue(ctx, again, at=Timestamp(ctx.now + limits.STAGE_LOOK * MS))


@job
class ForgetUsers(Job, frozen=True, kw_only=True):
    """Removes the answers to events that are gone."""

    kind: ClassVar[str] = "forget_event_users"
    guild_id: GuildId
    event_ids: list[ScheduledEventId]

    async def step(self, ctx: Context) -> Job | None:
        """Remove some hundred rows."""
        if not self.event_ids:
            return None
        if await queries.delete_some_users(ctx.tx, self.guild_id, self.event_ids[0]):
            return self
        return structs.replace(self, event_ids=self.event_ids[1:])


def finished(row: EventRow, now: Timestamp) -> EventRow:
    """An active event that is over; one that recurs has come to its next occurrence."""
    return move_to_next_occurrence(row, now) or structs.replace(row, status=EventStatus.COMPLETED)


def _gone_on(row: EventRow, now: Timestamp) -> EventRow:
    if row.status == EventStatus.ACTIVE:
        return finished(row, now)
    if row.entity_type == EntityType.EXTERNAL and not is_skipped(row):
        return structs.replace(row, status=EventStatus.ACTIVE)
    return move_to_next_occurrence(row, now) or structs.replace(row, status=EventStatus.CANCELED)


async def save_and_announce(ctx: Context, guild: GuildState, before: EventRow, after: EventRow) -> EventRow:
    """Store what has become of an event, announce it, and see to it that somebody looks after it in time.

    Whoever calls this declares GuildScheduledEventUpdate, and if the channel may be another
    GuildScheduledEventCreate and GuildScheduledEventDelete.
    """
    if any(getattr(before, name) != getattr(after, name) for name in _TRANSITION_FIELDS):
        after = await schedule_transition(ctx, after)
    values = {
        name: getattr(after, name) for name in after.__struct_fields__ if getattr(after, name) != getattr(before, name)
    }
    if not values:
        return after
    await queries.update_event(ctx.tx, before, values)
    if set(values) == {"tending"}:
        return after
    new = event_object(after)
    if before.channel_id != after.channel_id and await _hides(ctx, guild, before.channel_id, after.channel_id):
        # Not everybody who saw it sees it now, or the other way round.
        ctx.emit(GuildScheduledEventDelete(event=event_object(before)))
        ctx.emit(GuildScheduledEventCreate(event=new))
    ctx.emit(GuildScheduledEventUpdate(event=new))
    return after


async def schedule_transition(ctx: Context, row: EventRow) -> EventRow:
    """Enqueue the job for the event's next automatic transition; it replaces the one enqueued before."""
    moment = next_moment(row, ctx.now)
    if moment is None:
        return structs.replace(row, tending=None)
    token = int(ctx.ids.next())
    await enqueue(ctx, AdvanceEvent(guild_id=row.guild_id, event_id=row.id, token=Snowflake(token)), at=moment)
    return structs.replace(row, tending=token)


async def _hides(ctx: Context, guild: GuildState, before: ChannelId | None, after: ChannelId | None) -> bool:
    return await _viewing(ctx, guild, before) != await _viewing(ctx, guild, after)


async def _viewing(ctx: Context, guild: GuildState, channel_id: ChannelId | None) -> dict[int, tuple[int, int]] | None:
    """What says who may see a channel; None for what all members see."""
    if channel_id is None:
        return None
    channel = await guild.channel(ctx.tx, channel_id)
    if channel is None:
        return {}
    view = int(Permissions.VIEW_CHANNEL)
    bits = {key: (allow & view, deny & view) for key, (allow, deny) in guild.overwrites(channel).items()}
    found = {key: pair for key, pair in bits.items() if any(pair)}
    seen_by_all = guild.everyone.permissions & view and Feature.GUESTS_ENABLED not in guild.row.features
    return None if not found and seen_by_all else found
