"""What the audit log tells of threads."""

from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel, ThreadMetadata
from moothall.objects.ids import ChannelId, TagId


class _Recorded(Struct, frozen=True, kw_only=True):
    """The keys of a thread that entries tell of."""

    name: str | None
    type: int
    archived: bool
    locked: bool
    auto_archive_duration: int
    rate_limit_per_user: int
    flags: int
    invitable: bool | UnsetType
    applied_tags: list[TagId] | UnsetType


_KEYS: Final = _Recorded.__struct_fields__


async def record(
    ctx: Context, action: AuditLogEvent, thread_id: ChannelId, before: Channel | None, after: Channel | None
) -> None:
    """Write an entry of what has changed of a thread; none if nothing has."""
    changes = differences(_recorded(before), _recorded(after), _KEYS)
    if changes:
        await ctx.audit(action, target=thread_id, changes=changes)


def _recorded(thread: Channel | None) -> _Recorded | None:
    if thread is None or not isinstance(thread.thread_metadata, ThreadMetadata):
        return None
    metadata = thread.thread_metadata
    return _Recorded(
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
