"""Audit log entries of scheduled events."""

from msgspec import Struct

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.ids import ChannelId
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import Timestamp
from moothall.resources.scheduled_event.queries import EventRow


class _AuditedFields(Struct, frozen=True, kw_only=True):
    """The fields of an event that audit log entries compare, by their change keys."""

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
    recurrence_rule: JsonObject | None


async def audit_event_create(ctx: Context, row: EventRow) -> None:
    """Record that an event was created."""
    changes = differences(None, _audited_fields(row))
    await ctx.audit(AuditLogEvent.GUILD_SCHEDULED_EVENT_CREATE, target=row.id, changes=changes)


async def audit_event_update(ctx: Context, before: EventRow, after: EventRow) -> None:
    """Record what changed of an event; nothing if no audited field changed."""
    changes = differences(_audited_fields(before), _audited_fields(after))
    if changes:
        await ctx.audit(AuditLogEvent.GUILD_SCHEDULED_EVENT_UPDATE, target=before.id, changes=changes)


async def audit_event_delete(ctx: Context, row: EventRow) -> None:
    """Record that an event was deleted."""
    changes = differences(_audited_fields(row), None)
    await ctx.audit(AuditLogEvent.GUILD_SCHEDULED_EVENT_DELETE, target=row.id, changes=changes)


def _audited_fields(row: EventRow) -> _AuditedFields:
    names = [name for name in _AuditedFields.__struct_fields__ if name != "image_hash"]
    return _AuditedFields(image_hash=row.image, **{name: getattr(row, name) for name in names})
