"""What moderators do to live stages (resources: stage instance)."""

from typing import Any

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, ScheduledEventId, Snowflake
from moothall.objects.permissions import Permissions
from moothall.objects.scheduled_event import EventStatus
from moothall.objects.stage_instance import StagePrivacyLevel
from moothall.resources.scheduled_event.operations import mark_started, start_from_stage
from moothall.resources.scheduled_event.stages import end_stage, go_live
from moothall.resources.stage.operations import MODERATOR, change_stage
from moothall.resources.stage.queries import StageRow, select_stage


async def open_by_hand(
    ctx: Context,
    channel_id: ChannelId,
    *,
    topic: str,
    privacy_level: int | None,
    event_id: ScheduledEventId | None,
    pings: bool,
) -> StageRow:
    """Make a stage channel live as its moderator, and begin the event that it is for.

    Who may not mention everyone pings nobody. Raises Refusal: 404/10003, 403/50001, 400/50024 for another kind of
    channel, 403/50013, 400/150006; what `start_from_stage` raises.
    """
    place = await ctx.enter_channel(channel_id)
    if not ctx.in_guild or place.channel.type != ChannelType.GUILD_STAGE_VOICE:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    ctx.require(MODERATOR)
    event = None if event_id is None else await start_from_stage(ctx, event_id, channel_id)
    stage = await go_live(
        ctx,
        ctx.guild,
        channel_id,
        ctx.actor.user_id,
        topic=topic,
        privacy_level=privacy_level or StagePrivacyLevel.GUILD_ONLY,
        event=event,
        pings=pings and ctx.has(Permissions.MENTION_EVERYONE),
    )
    if event is not None and event.status == EventStatus.SCHEDULED:
        await mark_started(ctx, event, Snowflake(stage.id))
    return stage


async def find_stage(ctx: Context) -> StageRow:
    """What is live in the channel entered. Raises Refusal: 404/10067."""
    stage = await select_stage(ctx.tx, ctx.guild.id, ctx.channel.id) if ctx.in_guild else None
    if stage is None:
        raise Refusal(errors.UNKNOWN_STAGE_INSTANCE)
    return stage


async def change_by_hand(ctx: Context, *, topic: str | None, privacy_level: int | None) -> StageRow:
    """Change what is live in the channel entered. Raises Refusal: 404/10067."""
    stage = await find_stage(ctx)
    values: dict[str, Any] = {}
    if topic is not None:
        values["topic"] = topic
    if privacy_level is not None:
        values["privacy_level"] = privacy_level
    return await change_stage(ctx, stage, ctx.channel.channel, **values)


async def close_by_hand(ctx: Context) -> None:
    """End what is live in the channel entered. Raises Refusal: 404/10067."""
    stage = await find_stage(ctx)
    if not await end_stage(ctx, ctx.guild, stage):
        raise Refusal(errors.UNKNOWN_STAGE_INSTANCE)
