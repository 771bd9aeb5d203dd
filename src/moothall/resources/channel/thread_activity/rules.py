"""What the state of a thread permits (topics: threads, active and archived threads)."""

from typing import Final

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.authority.member_authority import build_authority
from moothall.objects import errors
from moothall.objects.channel import ThreadMetadata
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import RoleId
from moothall.objects.message_types import MessageType
from moothall.objects.permissions import Permissions
from moothall.storage.rows import MemberRow

_STARTER: Final = MessageType.THREAD_STARTER_MESSAGE


def metadata_of(access: ChannelAccess) -> ThreadMetadata | None:
    """Return the metadata of a thread; None for any other channel."""
    metadata = access.channel.thread_metadata
    return metadata if isinstance(metadata, ThreadMetadata) else None


def require_active(ctx: Context) -> None:
    """Check that the current channel is not an archived thread. Raises Refusal: 400/50083."""
    require_active_in(ctx.channel)


def require_active_in(access: ChannelAccess) -> None:
    """Check that a channel is not an archived thread. Raises Refusal: 400/50083."""
    metadata = metadata_of(access)
    if metadata is not None and metadata.archived:
        raise Refusal(errors.THREAD_ARCHIVED)


def require_unlocked(ctx: Context) -> None:
    """Check that the current channel is not a locked thread, or that the caller has MANAGE_THREADS.

    Raises Refusal: 403/160005.
    """
    require_unlocked_in(ctx.channel)


def require_unlocked_in(access: ChannelAccess) -> ChannelAccess:
    """Check, and return, a channel as `require_unlocked` does; webhooks have no permissions.

    Raises Refusal: 403/160005.
    """
    metadata = metadata_of(access)
    if metadata is not None and metadata.locked and not access.permissions & Permissions.MANAGE_THREADS:
        raise Refusal(errors.THREAD_LOCKED)
    return access


def require_not_archived_and_locked(ctx: Context) -> None:
    """Check that the current thread is not both archived and locked, or that the caller has MANAGE_THREADS.

    Raises Refusal: 400/50083.
    """
    metadata = metadata_of(ctx.channel)
    if metadata is not None and metadata.archived and metadata.locked and not ctx.has(Permissions.MANAGE_THREADS):
        raise Refusal(errors.THREAD_ARCHIVED)


def may_add_members(ctx: Context, access: ChannelAccess) -> bool:
    """Whether the caller, who may send messages in a thread, may add members to it."""
    metadata = metadata_of(access)
    if access.channel.type != ChannelType.PRIVATE_THREAD or metadata is None or metadata.invitable is not False:
        return True
    return access.channel.owner_id == ctx.actor.user_id or bool(access.permissions & Permissions.MANAGE_THREADS)


def can_view_parent(ctx: Context, access: ChannelAccess, row: MemberRow) -> bool:
    """Whether a guild member may view the parent of a thread."""
    if access.guild is None or access.parent is None:
        return False
    authority = build_authority(
        access.guild,
        row.user_id,
        [RoleId(role) for role in row.roles],
        pending=row.pending,
        until=row.communication_disabled_until,
        flags=row.flags,
        now=ctx.now,
        guest_of=row.guest_channel_id,
    )
    return authority.may_view(access.parent)


def is_counted(access: ChannelAccess, message_id: int, kind: int) -> bool:
    """Whether a message is in the message counts of a thread: all but the starter message."""
    return kind != _STARTER and message_id != access.id
