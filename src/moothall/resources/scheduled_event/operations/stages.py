"""Scheduled events in stage channels: starting an event opens its stage, ending either ends the other."""

from msgspec import structs

from moothall.api.context import Context
from moothall.authority.guild_state import GuildState
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, ScheduledEventId, Snowflake, UserId
from moothall.objects.scheduled_event import EntityType, EventStatus
from moothall.resources.scheduled_event import queries
from moothall.resources.scheduled_event.access import require_event_permissions
from moothall.resources.scheduled_event.operations.audit_entries import audit_event_update
from moothall.resources.scheduled_event.operations.lifecycle import complete_or_move_on, save_and_announce
from moothall.resources.scheduled_event.queries import EventRow
from moothall.resources.stage_instance.operations import close_stage, open_watched_stage
from moothall.resources.stage_instance.queries import StageRow, select_stage


async def start_event(ctx: Context, guild: GuildState, row: EventRow, starter_id: UserId) -> EventRow:
    """Return an event as active, and open the stage of an event in a stage channel. The caller stores the event.

    Raises Refusal: 400/180002 for a channel whose stage is live already.
    """
    after = structs.replace(row, status=EventStatus.ACTIVE)
    if row.entity_type != EntityType.STAGE_INSTANCE or row.channel_id is None:
        return after
    if await select_stage(ctx.tx, guild.id, row.channel_id) is not None:
        raise Refusal(errors.STAGE_FOR_EVENT_FAILED)
    stage = await open_watched_stage(ctx, guild, row.channel_id, starter_id, topic=row.name, event_id=row.id)
    return structs.replace(after, entity_id=Snowflake(stage.id))


async def end_event(ctx: Context, guild: GuildState, row: EventRow) -> EventRow:
    """Return an active event as completed or at its next occurrence, and close its stage. The caller stores it."""
    if row.entity_type == EntityType.STAGE_INSTANCE and row.channel_id is not None:
        stage = await select_stage(ctx.tx, guild.id, row.channel_id)
        if stage is not None and stage.guild_scheduled_event_id == row.id:
            await close_stage(ctx, guild, stage)
    return complete_or_move_on(row, ctx.now)


async def end_event_of_stage(ctx: Context, guild: GuildState, stage: StageRow) -> None:
    """End the event that a closed stage was opened for. Rows that call this declare GuildScheduledEventUpdate."""
    if stage.guild_scheduled_event_id is None:
        return
    row = await queries.lock_event(ctx.tx, guild.id, stage.guild_scheduled_event_id)
    if row is not None and row.status == EventStatus.ACTIVE:
        await save_and_announce(ctx, guild, row, await end_event(ctx, guild, row))


async def check_stage_event(ctx: Context, event_id: ScheduledEventId, channel_id: ChannelId) -> None:
    """Refuse to open a stage for an event that the actor may not start in this channel.

    Raises Refusal: 404/10070, 400/180000 for an event that has ended, 400/50091 for an event that belongs to another
    channel or is no stage event, 403/50013.
    """
    row = await queries.select_event(ctx.tx, ctx.guild.id, event_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT)
    if row.entity_type != EntityType.STAGE_INSTANCE or row.channel_id != channel_id:
        raise Refusal(errors.EVENT_ENTITY_MISMATCH)
    if not row.is_live:
        raise Refusal(errors.EVENT_FINISHED)
    is_creator = row.creator_id == ctx.actor.user_id
    require_event_permissions(ctx, row.entity_type, ctx.channel.channel, may_create=is_creator)


async def mark_event_started(ctx: Context, event_id: ScheduledEventId, stage_id: Snowflake) -> None:
    """Set an event active whose stage has been opened. Rows that call this declare GuildScheduledEventUpdate."""
    before = await queries.select_event(ctx.tx, ctx.guild.id, event_id)
    if before is None or before.status != EventStatus.SCHEDULED:
        return
    after = structs.replace(before, status=EventStatus.ACTIVE, entity_id=stage_id)
    await audit_event_update(ctx, before, after)
    await save_and_announce(ctx, ctx.guild, before, after)
