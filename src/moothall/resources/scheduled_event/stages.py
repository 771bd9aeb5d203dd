"""Events on stages: what begins and ends an event begins and ends its stage, and the other way round."""

from typing import ClassVar, Final

from msgspec import structs

from moothall.kernel.context import Context
from moothall.kernel.events import Event
from moothall.kernel.guild_state import GuildState
from moothall.kernel.jobs import Job, enqueue, job
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, Snowflake, StageInstanceId, UserId
from moothall.objects.scheduled_event import EntityType, EventStatus
from moothall.objects.stage_instance import StagePrivacyLevel
from moothall.objects.wire import Timestamp
from moothall.resources.scheduled_event import queries
from moothall.resources.scheduled_event.events import GuildScheduledEventUpdate
from moothall.resources.scheduled_event.queries import EventRow
from moothall.resources.scheduled_event.tending import over, settle
from moothall.resources.scheduled_event.times import MS
from moothall.resources.stage.operations import CLOSING, OPENING, close_stage, open_stage
from moothall.resources.stage.queries import StageRow, count_speakers, select_stage

BEGINNING: Final[tuple[type[Event], ...]] = (*OPENING, GuildScheduledEventUpdate)
"""What a row declares to fire if it may begin an event."""
ENDING: Final[tuple[type[Event], ...]] = (*CLOSING, GuildScheduledEventUpdate)
"""What a row declares to fire if it may end an event."""


@job
class WatchStage(Job, frozen=True, kw_only=True):
    """Closes a stage on which nobody has spoken for a while (stage instance, auto closing)."""

    kind: ClassVar[str] = "watch_stage"
    guild_id: GuildId
    channel_id: ChannelId
    stage_id: StageInstanceId
    quiet_since: Timestamp | None = None
    """Since when nobody has been there who may speak."""

    async def step(self, ctx: Context) -> Job | None:
        """Look whether anyone is there."""
        stage = await select_stage(ctx.tx, self.guild_id, self.channel_id)
        guild = await ctx.services.states.state(ctx.tx, self.guild_id, writes=True)
        if stage is None or guild is None or stage.id != self.stage_id:
            return None
        quiet_since = self.quiet_since
        if await count_speakers(ctx.tx, self.channel_id):
            quiet_since = None
        elif quiet_since is None:
            quiet_since = ctx.now
        elif ctx.now - quiet_since >= limits.STAGE_SILENCE * MS:
            await end_stage(ctx, guild, stage)
            return None
        again = structs.replace(self, quiet_since=quiet_since)
        await enqueue(ctx, again, at=Timestamp(ctx.now + limits.STAGE_LOOK * MS))
        return None


async def begun(ctx: Context, guild: GuildState, row: EventRow, starter_id: UserId) -> EventRow:
    """An event that starts now; one on a stage makes it live. Storing it is the caller's.

    Raises Refusal: 400/180002 for a stage that is live already.
    """
    after = structs.replace(row, status=EventStatus.ACTIVE)
    if row.entity_type != EntityType.STAGE_INSTANCE or row.channel_id is None:
        return after
    if await select_stage(ctx.tx, guild.id, row.channel_id) is not None:
        raise Refusal(errors.STAGE_FOR_EVENT_FAILED)
    stage = await go_live(ctx, guild, row.channel_id, starter_id, topic=row.name, event=row)
    return structs.replace(after, entity_id=Snowflake(stage.id))


async def ended(ctx: Context, guild: GuildState, row: EventRow) -> EventRow:
    """An active event that is over, and its stage with it; one that recurs goes on to its next occurrence."""
    if row.entity_type == EntityType.STAGE_INSTANCE and row.channel_id is not None:
        stage = await select_stage(ctx.tx, guild.id, row.channel_id)
        if stage is not None and stage.guild_scheduled_event_id == row.id:
            await close_stage(ctx, guild, stage)
    return over(row, ctx.now)


async def go_live(
    ctx: Context,
    guild: GuildState,
    channel_id: ChannelId,
    opener_id: UserId,
    *,
    topic: str,
    privacy_level: int = StagePrivacyLevel.GUILD_ONLY,
    event: EventRow | None = None,
    pings: bool = False,
) -> StageRow:
    """Open a stage, with an event or without, and have somebody look whether anyone speaks on it.

    Raises Refusal: 404/10003, 400/150006. Rows that call this declare `OPENING`.
    """
    channel = await guild.channel(ctx.tx, channel_id)
    if channel is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    stage = await open_stage(
        ctx,
        guild,
        channel,
        opener_id,
        topic=topic[: limits.STAGE_TOPIC_MAX],
        privacy_level=privacy_level,
        event_id=None if event is None else event.id,
        pings=pings,
    )
    watch = WatchStage(guild_id=guild.id, channel_id=channel_id, stage_id=stage.id)
    await enqueue(ctx, watch, at=Timestamp(ctx.now + limits.STAGE_LOOK * MS))
    return stage


async def end_stage(ctx: Context, guild: GuildState, stage: StageRow) -> bool:
    """Close a stage, and end the event that it was opened with; False if it was over already.

    Rows that call this declare `ENDING`.
    """
    if not await close_stage(ctx, guild, stage):
        return False
    if stage.guild_scheduled_event_id is not None:
        row = await queries.lock_event(ctx.tx, guild.id, stage.guild_scheduled_event_id)
        if row is not None and row.status == EventStatus.ACTIVE:
            await settle(ctx, guild, row, await ended(ctx, guild, row))
    return True
