"""Planning events, changing them, and calling them off (resources: guild scheduled event)."""

from typing import Any, Final

from msgspec import UNSET, Struct, structs

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires
from moothall.kernel.jobs import enqueue
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import VOICE, ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, ScheduledEventId, Snowflake
from moothall.objects.images import ImageData
from moothall.objects.scheduled_event import TRANSITIONS, EntityType, EventStatus
from moothall.objects.text import clean, clean_name
from moothall.objects.wire import Timestamp, to_plain
from moothall.resources.scheduled_event import queries
from moothall.resources.scheduled_event.access import require_creation, require_in_place
from moothall.resources.scheduled_event.events import (
    GuildScheduledEventCreate,
    GuildScheduledEventDelete,
    GuildScheduledEventUpdate,
)
from moothall.resources.scheduled_event.lifecycle import ForgetUsers, save_and_announce, schedule_transition
from moothall.resources.scheduled_event.queries import EventRow, event_object
from moothall.resources.scheduled_event.recurrence import RecurrenceRuleInput, is_occurrence
from moothall.resources.scheduled_event.requests import (
    CreateScheduledEvent,
    EntityMetadata,
    ModifyScheduledEvent,
    check_end,
    check_requirements,
    check_start,
    location_of,
)
from moothall.resources.scheduled_event.stages import end_event, start_event
from moothall.resources.stage_instance.events import StageInstanceDelete
from moothall.resources.stage_instance.operations import CLOSING, OPENING, close_stage
from moothall.resources.stage_instance.queries import select_stage

CHANGING: Final[Fires] = tuple(
    dict.fromkeys((*OPENING, *CLOSING, GuildScheduledEventCreate, GuildScheduledEventUpdate, GuildScheduledEventDelete))
)
"""What a row declares to fire if it may change an event."""
REMOVING: Final[Fires] = (*CLOSING, GuildScheduledEventDelete)
"""What a row declares to fire if it may remove an event."""
REMOVING_CHANNEL: Final[Fires] = (GuildScheduledEventDelete, StageInstanceDelete)
"""What a row declares to fire if it may delete a channel."""

_CHANNEL_TYPE: Final = {
    EntityType.STAGE_INSTANCE: ChannelType.GUILD_STAGE_VOICE,
    EntityType.VOICE: ChannelType.GUILD_VOICE,
}


class _Audited(Struct, frozen=True, kw_only=True):
    """What the audit log tells of an event."""

    name: str
    description: str | None
    channel_id: ChannelId | None
    privacy_level: int
    status: int
    entity_type: int
    location: str | None
    image_hash: str | None
    scheduled_start_time: Timestamp
    scheduled_end_time: Timestamp | None
    recurrence_rule: dict[str, Any] | None


def audited(row: EventRow) -> _Audited:
    """An event as the audit log compares it."""
    names = [name for name in _Audited.__struct_fields__ if name != "image_hash"]
    return _Audited(image_hash=row.image, **{name: getattr(row, name) for name in names})


async def create_event(ctx: Context, body: CreateScheduledEvent) -> EventRow:
    """Plan an event in the guild entered.

    Raises Refusal: 400/50035 for a channel that is not there or of another type, 403/50013, 400/30038 for a guild
    with as many events as may be.
    """
    form_errors = FormErrors()
    channel = await _channel(ctx, body.entity_type, body.channel_id or None, form_errors)
    form_errors.raise_if_any()
    require_creation(ctx, body.entity_type, channel)
    if await queries.count_live_events(ctx.tx, ctx.guild.id) >= limits.EVENTS_PER_GUILD:
        raise Refusal(errors.TOO_MANY_SCHEDULED_EVENTS)
    rule = body.recurrence_rule
    row = EventRow(
        guild_id=ctx.guild.id,
        id=ScheduledEventId(ctx.ids.next()),
        channel_id=None if channel is None else channel.id,
        creator_id=ctx.actor.user_id,
        name=clean_name(body.name),
        description=_description(body.description or None),
        image=body.image.hash if isinstance(body.image, ImageData) else None,
        scheduled_start_time=body.scheduled_start_time,
        scheduled_end_time=body.scheduled_end_time or None,
        privacy_level=body.privacy_level,
        status=EventStatus.SCHEDULED,
        entity_type=body.entity_type,
        entity_id=None,
        location=location_of(body.entity_metadata),
        recurrence_rule=to_plain(rule.rule()) if isinstance(rule, RecurrenceRuleInput) else None,
        exceptions=[],
        user_count=0,
        tending=None,
    )
    row = await schedule_transition(ctx, row)
    await queries.insert_event(ctx.tx, row)
    await ctx.audit(AuditLogEvent.GUILD_SCHEDULED_EVENT_CREATE, target=row.id, changes=differences(None, audited(row)))
    ctx.emit(GuildScheduledEventCreate(event=event_object(row)))
    return row


async def change_event(ctx: Context, before: EventRow, body: ModifyScheduledEvent) -> EventRow:
    """Change an event of the guild entered that the actor may change, begin it or end it.

    What changes nothing tells nobody. Raises Refusal: 400/180000 for an event that is over, 400/50035, 403/50013
    for a place where the actor may not plan it, 400/180002 for a stage that is live already.
    """
    if not before.is_live:
        raise Refusal(errors.EVENT_FINISHED)
    form_errors = FormErrors()
    after = _changed(before, body)
    _check_change(before, after, body, form_errors)
    channel = None
    if after.channel_id is not None or after.entity_type != EntityType.EXTERNAL:
        channel = await _channel(ctx, after.entity_type, after.channel_id, form_errors)
    form_errors.raise_if_any()
    if (after.entity_type, after.channel_id) != (before.entity_type, before.channel_id):
        own = before.creator_id == ctx.actor.user_id
        require_in_place(ctx, after.entity_type, channel, may_create=own)
    if isinstance(body.status, int) and body.status != before.status:
        after = await _with_status(ctx, after, body.status)
    await record_change(ctx, before, after)
    return await save_and_announce(ctx, ctx.guild, before, after)


async def remove_event(ctx: Context, row: EventRow) -> None:
    """Remove an event of the guild entered that the actor may change, and close its stage. Raises Refusal 404/10070."""
    # The stage first, as everywhere: so no two requests wait for each other.
    if row.channel_id is not None and row.status == EventStatus.ACTIVE:
        stage = await select_stage(ctx.tx, row.guild_id, row.channel_id)
        if stage is not None and stage.guild_scheduled_event_id == row.id:
            await close_stage(ctx, ctx.guild, stage)
    if not await queries.delete_event(ctx.tx, row.guild_id, row.id):
        raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT)
    await enqueue(ctx, ForgetUsers(guild_id=row.guild_id, event_ids=[row.id]))
    await ctx.audit(AuditLogEvent.GUILD_SCHEDULED_EVENT_DELETE, target=row.id, changes=differences(audited(row), None))
    ctx.emit(GuildScheduledEventDelete(event=event_object(row)))


async def remove_events_of_channel(ctx: Context, channel: Channel) -> None:
    """Cancel the events of a voice or stage channel of the guild entered and close its stage, before it is deleted.

    Rows that call this declare `REMOVING_CHANNEL`.
    """
    guild, channel_id = ctx.guild, channel.id
    if channel.type not in VOICE:
        return
    stage = await select_stage(ctx.tx, guild.id, channel_id)
    if stage is not None:
        await close_stage(ctx, guild, stage, quietly=True)
    rows = await queries.select_events_in_channel(ctx.tx, channel_id)
    if not rows:
        return
    await queries.delete_events(ctx.tx, guild.id, [row.id for row in rows])
    await enqueue(ctx, ForgetUsers(guild_id=guild.id, event_ids=[row.id for row in rows]))
    for row in rows:
        called_off = structs.replace(row, status=EventStatus.CANCELED)
        ctx.emit(GuildScheduledEventDelete(event=event_object(called_off)))


async def record_change(ctx: Context, before: EventRow, after: EventRow) -> None:
    """Write down what somebody changed of an event."""
    changes = differences(audited(before), audited(after))
    if changes:
        await ctx.audit(AuditLogEvent.GUILD_SCHEDULED_EVENT_UPDATE, target=before.id, changes=changes)


async def check_stage_event(ctx: Context, event_id: ScheduledEventId, channel_id: ChannelId) -> None:
    """Refuse a stage for an event that the actor may not start on it now.

    Raises Refusal: 404/10070, 400/180000 for one that is over, 400/50091 for one that is not to happen on this stage,
    403/50013.
    """
    row = await queries.select_event(ctx.tx, ctx.guild.id, event_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT)
    if row.entity_type != EntityType.STAGE_INSTANCE or row.channel_id != channel_id:
        raise Refusal(errors.EVENT_ENTITY_MISMATCH)
    if not row.is_live:
        raise Refusal(errors.EVENT_FINISHED)
    require_in_place(ctx, row.entity_type, ctx.channel.channel, may_create=row.creator_id == ctx.actor.user_id)


async def mark_started(ctx: Context, event_id: ScheduledEventId, stage_id: Snowflake) -> None:
    """Start a scheduled event whose stage has been opened. Rows that call this declare GuildScheduledEventUpdate."""
    before = await queries.select_event(ctx.tx, ctx.guild.id, event_id)
    if before is None or before.status != EventStatus.SCHEDULED:
        return
    after = structs.replace(before, status=EventStatus.ACTIVE, entity_id=stage_id)
    await record_change(ctx, before, after)
    await save_and_announce(ctx, ctx.guild, before, after)


def _changed(row: EventRow, body: ModifyScheduledEvent) -> EventRow:
    """An event with what a request sets, but for its status."""
    values: dict[str, Any] = {}
    for name in ("privacy_level", "scheduled_start_time", "scheduled_end_time", "channel_id"):
        if getattr(body, name) is not UNSET:
            values[name] = getattr(body, name)
    if isinstance(body.name, str):
        values["name"] = clean_name(body.name)
    if body.description is not UNSET:
        values["description"] = _description(body.description)
    if body.image is not UNSET:
        values["image"] = body.image.hash if isinstance(body.image, ImageData) else None
    if isinstance(body.entity_type, int):
        values["entity_type"] = int(body.entity_type)
    if body.recurrence_rule is not UNSET:
        rule = body.recurrence_rule
        values["recurrence_rule"] = None if rule is None else to_plain(rule.rule())
    after = structs.replace(row, **values)
    if after.entity_type != EntityType.EXTERNAL:
        # Whatever was sent is silently dropped.
        after = structs.replace(after, location=None)
    elif body.entity_metadata is None or isinstance(body.entity_metadata, EntityMetadata):
        after = structs.replace(after, location=location_of(body.entity_metadata))
    return _without_stale_exceptions(row, after)


def _without_stale_exceptions(before: EventRow, after: EventRow) -> EventRow:
    """An event without what was said of occurrences that are none any more."""
    if not after.exceptions or (before.recurrence_rule, before.scheduled_start_time) == (
        after.recurrence_rule,
        after.scheduled_start_time,
    ):
        return after
    rule = after.rule()
    kept = [
        to_plain(e)
        for e in after.listed_exceptions()
        if rule is not None and is_occurrence(rule, Timestamp(e.event_exception_id.created_ms))
    ]
    return structs.replace(after, exceptions=kept)


def _check_change(before: EventRow, after: EventRow, body: ModifyScheduledEvent, form_errors: FormErrors) -> None:
    becomes_external = after.entity_type == EntityType.EXTERNAL != before.entity_type
    if becomes_external and body.channel_id is UNSET:
        form_errors.add("channel_id", FormCode.BASE_TYPE_REQUIRED, "This field is required")
        after = structs.replace(after, channel_id=None)
    check_requirements(
        after.entity_type,
        channel_id=after.channel_id,
        location=after.location,
        end=after.scheduled_end_time,
        form_errors=form_errors,
    )
    if after.scheduled_start_time != before.scheduled_start_time:
        check_start(after.scheduled_start_time, form_errors)
    if (after.scheduled_start_time, after.scheduled_end_time) != (
        before.scheduled_start_time,
        before.scheduled_end_time,
    ):
        check_end(after.scheduled_start_time, after.scheduled_end_time, form_errors)
    wanted = before.status if body.status is UNSET or body.status is None else int(body.status)
    if wanted != before.status and (before.status, wanted) not in TRANSITIONS:
        form_errors.add("status", FormCode.BASE_TYPE_CHOICES, "An event does not go from its status to this one.")
    if before.status == EventStatus.ACTIVE:
        for name in ("entity_type", "channel_id", "scheduled_start_time"):
            if getattr(before, name) != getattr(after, name):
                form_errors.add(name, FormCode.BASE_TYPE_CHOICES, "This cannot be changed once an event is active.")


async def _with_status(ctx: Context, row: EventRow, status: int) -> EventRow:
    if status == EventStatus.ACTIVE:
        return await start_event(ctx, ctx.guild, row, ctx.actor.user_id)
    if status == EventStatus.COMPLETED:
        return await end_event(ctx, ctx.guild, row)
    return structs.replace(row, status=status)


async def _channel(
    ctx: Context, entity_type: int, channel_id: ChannelId | None, form_errors: FormErrors
) -> Channel | None:
    """The channel of an event to be; one that the actor may not see is as good as none."""
    if channel_id is None or entity_type == EntityType.EXTERNAL:
        return None
    channel = await ctx.guild.channel(ctx.tx, channel_id)
    if channel is None or not ctx.member.may_view(channel):
        form_errors.add("channel_id", FormCode.BASE_TYPE_CHOICES, "Unknown channel.")
    elif channel.type != _CHANNEL_TYPE[EntityType(entity_type)]:
        form_errors.add("channel_id", FormCode.BASE_TYPE_CHOICES, "Events of this type take place in other channels.")
    else:
        return channel
    return None


def _description(given: str | None) -> str | None:
    return (clean(given).strip() or None) if given else None
