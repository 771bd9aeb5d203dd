"""Scheduled events on stages: starting an event opens its stage, ending either ends the other."""

from msgspec import structs

from moothall.kernel.context import Context
from moothall.kernel.guild_state import GuildState
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.scheduled_event import EntityType, EventStatus
from moothall.resources.scheduled_event import queries
from moothall.resources.scheduled_event.lifecycle import finished, save_and_announce
from moothall.resources.scheduled_event.queries import EventRow
from moothall.resources.stage_instance.operations import close_stage, go_live
from moothall.resources.stage_instance.queries import StageRow, select_stage


async def start_event(ctx: Context, guild: GuildState, row: EventRow, starter_id: UserId) -> EventRow:
    """An event that starts now; one on a stage makes it live. Storing it is the caller's.

    Raises Refusal: 400/180002 for a stage that is live already.
    """
    after = structs.replace(row, status=EventStatus.ACTIVE)
    if row.entity_type != EntityType.STAGE_INSTANCE or row.channel_id is None:
        return after
    if await select_stage(ctx.tx, guild.id, row.channel_id) is not None:
        raise Refusal(errors.STAGE_FOR_EVENT_FAILED)
    stage = await go_live(ctx, guild, row.channel_id, starter_id, topic=row.name, event_id=row.id)
    return structs.replace(after, entity_id=Snowflake(stage.id))


async def end_event(ctx: Context, guild: GuildState, row: EventRow) -> EventRow:
    """An active event that is over, and its stage with it; one that recurs goes on to its next occurrence."""
    if row.entity_type == EntityType.STAGE_INSTANCE and row.channel_id is not None:
        stage = await select_stage(ctx.tx, guild.id, row.channel_id)
        if stage is not None and stage.guild_scheduled_event_id == row.id:
            await close_stage(ctx, guild, stage)
    return finished(row, ctx.now)


async def end_event_of_stage(ctx: Context, guild: GuildState, stage: StageRow) -> None:
    """End the event that a closed stage was opened for. Rows that call this declare GuildScheduledEventUpdate."""
    if stage.guild_scheduled_event_id is None:
        return
    row = await queries.lock_event(ctx.tx, guild.id, stage.guild_scheduled_event_id)
    if row is not None and row.status == EventStatus.ACTIVE:
        await save_and_announce(ctx, guild, row, await end_event(ctx, guild, row))
