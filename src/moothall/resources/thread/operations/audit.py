"""Audit log entries of threads."""

from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel, ThreadMetadata
from moothall.objects.ids import ChannelId, TagId


class _AuditedFields(Struct, frozen=True, kw_only=True):
    """The fields of a thread in audit log entries."""

    name: str | None
    type: int
    archived: bool
    locked: bool
    auto_archive_duration: int
    rate_limit_per_user: int
    flags: int
    invitable: bool | UnsetType
    applied_tags: list[TagId] | UnsetType


_KEYS: Final = _AuditedFields.__struct_fields__


async def audit_thread(
    ctx: Context, action: AuditLogEvent, thread_id: ChannelId, before: Channel | None, after: Channel | None
) -> None:
    """Write an audit log entry of the changes of a thread, unless there are none."""
    changes = differences(_audited_fields(before), _audited_fields(after), _KEYS)
    if changes:
        await ctx.audit(action, target=thread_id, changes=changes)


def _audited_fields(thread: Channel | None) -> _AuditedFields | None:
    if thread is None or not isinstance(thread.thread_metadata, ThreadMetadata):
        return None
    metadata = thread.thread_metadata
    return _AuditedFields(
        name=thread.name or None,
        type=thread.type,
        archived=metadata.archived,
        locked=metadata.locked,
        auto_archive_duration=metadata.auto_archive_duration,
        rate_limit_per_user=thread.rate_limit_per_user or 0,
        flags=thread.flags,
        invitable=metadata.invitable,
        applied_tags=thread.applied_tags or UNSET,
    )
