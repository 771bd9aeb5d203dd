"""Operations: join and leave threads, add and remove members."""

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.channel import ThreadMember, ThreadMemberFlags
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import UserId
from moothall.objects.message_types import MessageType
from moothall.objects.permissions import Permissions
from moothall.resources.channel.thread_activity.events import ThreadMemberUpdate
from moothall.resources.channel.thread_activity.operations import add_to_thread, remove_from_thread
from moothall.resources.channel.thread_activity.queries import ThreadMemberRow, select_members_among, update_settings
from moothall.resources.channel.thread_activity.rules import (
    can_view_parent,
    may_add_members,
    require_active,
    require_unlocked,
)
from moothall.resources.channel.thread_activity.state import thread_member_object
from moothall.resources.member.queries import get_member
from moothall.resources.message.operations import send_system_message
from moothall.resources.message.rules import require_unrestricted
from moothall.resources.thread.requests import ModifyThreadSettings
from moothall.resources.thread.rules import thread_of


async def join_thread(ctx: Context) -> None:
    """Add the caller to the current thread, unless they are in it. Raises Refusal: 400/50083, 400/30033, 403/50013."""
    access = thread_of(ctx)
    require_unrestricted(ctx)
    require_active(ctx)
    await add_to_thread(ctx, access, [ctx.actor.user_id])


async def leave_thread(ctx: Context) -> None:
    """Remove the caller from the current thread, if they are in it. Raises Refusal: 400/50083."""
    access = thread_of(ctx)
    require_active(ctx)
    await remove_from_thread(ctx, access, ctx.actor.user_id)


async def modify_own_settings(ctx: Context, body: ModifyThreadSettings) -> ThreadMember | None:
    """Change the caller's notification settings of the current thread; None if they are these already.

    Raises Refusal: 404/10007 if the caller is not in the thread, 400/50084 for more than one level.
    """
    access, user_id = thread_of(ctx), ctx.actor.user_id
    row = (await select_members_among(ctx.tx, access.id, [user_id])).get(user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    changed = _with_settings(row, body)
    if changed == row:
        return None
    await update_settings(ctx.tx, changed)
    member = thread_member_object(changed, own=True)
    ctx.emit(
        ThreadMemberUpdate(
            guild_id=ctx.guild.id,
            channel_id=access.audience_channel_id,
            user_ids=(user_id,),
            thread_id=access.id,
            member=member,
        )
    )
    return member


def _with_settings(row: ThreadMemberRow, body: ModifyThreadSettings) -> ThreadMemberRow:
    flags, muted, mute_config = row.flags, row.muted, row.mute_config
    if body.flags is not None:
        level = body.flags & ThreadMemberFlags.LEVELS
        if level & (level - 1):
            raise Refusal(errors.INVALID_THREAD_NOTIFICATIONS)
        flags = flags & ~ThreadMemberFlags.LEVELS | level
    if body.muted is not None:
        muted = body.muted
    if body.mute_config is not UNSET:
        mute_config = body.mute_config
    return structs.replace(row, flags=flags, muted=muted, mute_config=mute_config if muted else None)


async def add_thread_member(ctx: Context, user_id: UserId) -> None:
    """Add a guild member to the current thread and send a system message in it, unless they are in it.

    Raises Refusal: 400/50083; 403/160005; 403/50013 if the caller may not send messages, or not add members to a
    private thread; 404/10007 if the user is no guild member; 403/50001 if they may not view the parent; 400/30033.
    """
    if user_id == ctx.actor.user_id:
        await join_thread(ctx)
        return
    access = thread_of(ctx)
    require_active(ctx)
    ctx.require(Permissions.SEND_MESSAGES)
    require_unlocked(ctx)
    if not may_add_members(ctx, access):
        raise Refusal(errors.MISSING_PERMISSIONS)
    row = await get_member(ctx.tx, ctx.guild.id, user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    if user_id in await select_members_among(ctx.tx, access.id, [user_id]):
        return
    if not can_view_parent(ctx, access, row):
        raise Refusal(errors.MISSING_ACCESS)
    access = await add_to_thread(ctx, access, [user_id])
    await send_system_message(ctx, access, ctx.actor.user_id, MessageType.RECIPIENT_ADD, mentions=[user_id])


async def remove_thread_member(ctx: Context, user_id: UserId) -> None:
    """Remove a member from the current thread and send a system message in it.

    The caller needs MANAGE_THREADS, or must own the private thread. Raises Refusal: 400/50083, 403/50013, 404/10007 if
    the user is not in it.
    """
    if user_id == ctx.actor.user_id:
        await leave_thread(ctx)
        return
    access = thread_of(ctx)
    is_own = access.channel.type == ChannelType.PRIVATE_THREAD and access.channel.owner_id == ctx.actor.user_id
    require_unrestricted(ctx)
    if not is_own:
        ctx.require(Permissions.MANAGE_THREADS)
    require_active(ctx)
    if not await remove_from_thread(ctx, access, user_id):
        raise Refusal(errors.UNKNOWN_MEMBER)
    # The removed member of a private thread must not receive the system message.
    access = structs.replace(access, recipients=tuple(one for one in access.recipients if one != user_id))
    await send_system_message(ctx, access, ctx.actor.user_id, MessageType.RECIPIENT_REMOVE, mentions=[user_id])
