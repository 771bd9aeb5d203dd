"""What the state of a thread allows (topics: threads, active and archived threads)."""

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.channel import ThreadMetadata
from moothall.objects.errors import Refusal
from moothall.objects.permissions import Permissions


def metadata_of(access: ChannelAccess) -> ThreadMetadata | None:
    """The state of a thread; None for any other channel."""
    found = access.channel.thread_metadata
    return found if isinstance(found, ThreadMetadata) else None


def require_active(ctx: Context) -> None:
    """In an archived thread nothing is changed but by deleting (400/50083)."""
    refuse_archived(ctx.channel)


def refuse_archived(access: ChannelAccess) -> None:
    """The same for a place that has not been entered (400/50083)."""
    metadata = metadata_of(access)
    if metadata is not None and metadata.archived:
        raise Refusal(errors.THREAD_ARCHIVED)


def require_unlocked(ctx: Context) -> None:
    """In a locked thread only those who manage threads write (403/160005)."""
    metadata = metadata_of(ctx.channel)
    if metadata is not None and metadata.locked and not ctx.has(Permissions.MANAGE_THREADS):
        raise Refusal(errors.THREAD_LOCKED)


def require_not_put_away(ctx: Context) -> None:
    """In a thread that is both archived and locked, only those who manage threads delete (400/50083)."""
    metadata = metadata_of(ctx.channel)
    if metadata is not None and metadata.archived and metadata.locked and not ctx.has(Permissions.MANAGE_THREADS):
        raise Refusal(errors.THREAD_ARCHIVED)
