"""Creating, modifying and deleting scheduled events (resources: guild scheduled event)."""

from typing import Final

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.api.jobs import enqueue
from moothall.objects import errors, limits
from moothall.objects.channel import Channel
from moothall.objects.channel_types import VOICE, ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, ScheduledEventId
from moothall.objects.images import ImageData
from moothall.objects.scheduled_event import TRANSITIONS, EntityType, EventStatus
from moothall.objects.text import clean, clean_name
from moothall.objects.wire import Timestamp, to_plain
from moothall.resources.scheduled_event import queries
from moothall.resources.scheduled_event.access import require_creation, require_event_permissions
from moothall.resources.scheduled_event.events import (
    GuildScheduledEventCreate,
    GuildScheduledEventDelete,
    GuildScheduledEventExceptionsDelete,
    GuildScheduledEventUpdate,
)
from moothall.resources.scheduled_event.jobs import DeleteEventUsers
from moothall.resources.scheduled_event.operations.audit_entries import (
    audit_event_create,
    audit_event_delete,
    audit_event_update,
)
from moothall.resources.scheduled_event.operations.lifecycle import save_and_announce, schedule_transition
from moothall.resources.scheduled_event.operations.stages import end_event, start_event
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
from moothall.resources.stage_instance.events import StageInstanceDelete
from moothall.resources.stage_instance.operations import CLOSE_STAGE_EVENTS, OPEN_STAGE_EVENTS, close_stage
from moothall.resources.stage_instance.queries import select_stage

MODIFY_FIRES: Final[Fires] = tuple(
    dict.fromkeys(
        (
            *OPEN_STAGE_EVENTS,
            *CLOSE_STAGE_EVENTS,
            GuildScheduledEventCreate,
            GuildScheduledEventUpdate,
            GuildScheduledEventDelete,
            GuildScheduledEventExceptionsDelete,
        )
    )
)
"""For `fires` of rows that may modify an event."""
DELETE_FIRES: Final[Fires] = (*CLOSE_STAGE_EVENTS, GuildScheduledEventDelete)
"""For `fires` of rows that may delete an event."""
DELETE_CHANNEL_FIRES: Final[Fires] = (GuildScheduledEventDelete, StageInstanceDelete)
"""For `fires` of rows that may delete a channel with its events."""

_CHANNEL_TYPE: Final = {
    EntityType.STAGE_INSTANCE: ChannelType.GUILD_STAGE_VOICE,
    EntityType.VOICE: ChannelType.GUILD_VOICE,
}


async def create_event(ctx: Context, body: CreateScheduledEvent) -> EventRow:
    """Create an event in the guild of the request.

    Raises Refusal: 400/50035 for an unknown channel or one of another type, 403/50013, 400/30038 for a guild that has
    `EVENTS_PER_GUILD` events that have not ended.
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
    await audit_event_create(ctx, row)
    ctx.emit(GuildScheduledEventCreate(event=event_object(row)))
    return row


async def modify_event(ctx: Context, before: EventRow, body: ModifyScheduledEvent) -> EventRow:
    """Change, start, end or cancel an event that the actor may manage. A request that changes nothing emits nothing.

    Raises Refusal: 400/180000 for an event that has ended, 400/50035, 403/50013 for a channel in which the actor may
    not create it, 400/180002 for a channel whose stage is live already.
    """
    if not before.is_live:
        raise Refusal(errors.EVENT_FINISHED)
    form_errors = FormErrors()
    after = _with_changes(before, body)
    _check_change(before, after, body, form_errors)
    channel = None
    if after.channel_id is not None or after.entity_type != EntityType.EXTERNAL:
        channel = await _channel(ctx, after.entity_type, after.channel_id, form_errors)
    form_errors.raise_if_any()
    if (after.entity_type, after.channel_id) != (before.entity_type, before.channel_id):
        is_creator = before.creator_id == ctx.actor.user_id
        require_event_permissions(ctx, after.entity_type, channel, may_create=is_creator)
    if isinstance(body.status, int) and body.status != before.status:
        after = await _with_status(ctx, after, body.status)
    await audit_event_update(ctx, before, after)
    if before.exceptions and not after.exceptions:
        # Emitted first: the event that follows has the list of exceptions as it is now.
        ctx.emit(
            GuildScheduledEventExceptionsDelete(
                guild_id=before.guild_id, channel_id=before.channel_id, event_id=before.id
            )
        )
    return await save_and_announce(ctx, ctx.guild, before, after)


async def delete_event(ctx: Context, row: EventRow) -> None:
    """Delete an event that the actor may manage, and close its stage. Raises Refusal: 404/10070."""
    # Every operation locks the stage before the event, so that two requests cannot deadlock.
    if row.channel_id is not None and row.status == EventStatus.ACTIVE:
        stage = await select_stage(ctx.tx, row.guild_id, row.channel_id)
        if stage is not None and stage.guild_scheduled_event_id == row.id:
            await close_stage(ctx, ctx.guild, stage)
    if not await queries.delete_event(ctx.tx, row.guild_id, row.id):
        raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT)
    await enqueue(ctx, DeleteEventUsers(guild_id=row.guild_id, event_ids=[row.id]))
    await audit_event_delete(ctx, row)
    ctx.emit(GuildScheduledEventDelete(event=event_object(row)))


async def delete_events_of_channel(ctx: Context, channel: Channel) -> None:
    """Delete the events of a voice or stage channel that is being deleted, and close its stage.

    Rows that call this declare `DELETE_CHANNEL_FIRES`.
    """
    guild, channel_id = ctx.guild, channel.id
    if channel.type not in VOICE:
        return
    stage = await select_stage(ctx.tx, guild.id, channel_id)
    if stage is not None:
        await close_stage(ctx, guild, stage, silent=True)
    rows = await queries.select_events_in_channel(ctx.tx, channel_id)
    if not rows:
        return
    await queries.delete_events(ctx.tx, guild.id, [row.id for row in rows])
    await enqueue(ctx, DeleteEventUsers(guild_id=guild.id, event_ids=[row.id for row in rows]))
    for row in rows:
        canceled = structs.replace(row, status=EventStatus.CANCELED)
        ctx.emit(GuildScheduledEventDelete(event=event_object(canceled)))


def _with_changes(row: EventRow, body: ModifyScheduledEvent) -> EventRow:
    """An event with the fields that a request sets, except its status."""
    values: dict[str, object] = {}
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
        # A location that was sent is silently dropped.
        after = structs.replace(after, location=None)
    elif body.entity_metadata is None or isinstance(body.entity_metadata, EntityMetadata):
        after = structs.replace(after, location=location_of(body.entity_metadata))
    return _without_stale_exceptions(row, after)


def _without_stale_exceptions(before: EventRow, after: EventRow) -> EventRow:
    """An event without exceptions of occurrences that its rule no longer has."""
    if not after.exceptions or (before.recurrence_rule, before.scheduled_start_time) == (
        after.recurrence_rule,
        after.scheduled_start_time,
    ):
        return after
    rule = after.rule()
    exceptions = [
        to_plain(e)
        for e in after.listed_exceptions()
        if rule is not None and is_occurrence(rule, Timestamp(e.event_exception_id.created_ms))
    ]
    return structs.replace(after, exceptions=exceptions)


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
    status = before.status if body.status is UNSET or body.status is None else int(body.status)
    if status != before.status and (before.status, status) not in TRANSITIONS:
        form_errors.add("status", FormCode.BASE_TYPE_CHOICES, "The event cannot change from its status to this one.")
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
    """The channel of an event; a channel that the actor may not view is reported as unknown."""
    if channel_id is None or entity_type == EntityType.EXTERNAL:
        return None
    channel = await ctx.guild.channel(ctx.tx, channel_id)
    if channel is None or not ctx.member.may_view(channel):
        form_errors.add("channel_id", FormCode.BASE_TYPE_CHOICES, "Unknown channel.")
    elif channel.type != _CHANNEL_TYPE[EntityType(entity_type)]:
        form_errors.add("channel_id", FormCode.BASE_TYPE_CHOICES, "Events of this type need another type of channel.")
    else:
        return channel
    return None


def _description(text: str | None) -> str | None:
    return (clean(text).strip() or None) if text else None
