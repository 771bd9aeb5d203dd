"""Who is in a thread: coming, going, bringing others and taking them out, and who is there."""

from collections.abc import Sequence

from msgspec import UNSET, structs

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.channel import ThreadMember
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.message_types import MessageType
from moothall.objects.permissions import Permissions
from moothall.resources.channel.thread_activity.operations import (
    add_members,
    may_invite,
    may_see,
    member_object,
    remove_member,
)
from moothall.resources.channel.thread_activity.queries import ThreadMemberRow, select_members_among
from moothall.resources.channel.thread_activity.rules import require_active, require_unlocked
from moothall.resources.member.queries import get_member, get_members, member_objects
from moothall.resources.message.operations import send_system_message
from moothall.resources.message.rules import require_unrestricted
from moothall.resources.thread import queries


def thread_of(ctx: Context) -> ChannelAccess:
    """The thread entered. Raises Refusal: 50024 for any other channel."""
    if not ctx.channel.is_thread:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    return ctx.channel


async def join(ctx: Context) -> None:
    """Come into the thread entered; being in it already changes nothing. Raises Refusal: 50083, 30033, 50013."""
    access = thread_of(ctx)
    require_unrestricted(ctx)
    require_active(ctx)
    await add_members(ctx, access, [ctx.actor.user_id])


async def leave(ctx: Context) -> None:
    """Leave the thread entered; who is not in it leaves silently. Raises Refusal: 50083."""
    access = thread_of(ctx)
    require_active(ctx)
    await remove_member(ctx, access, ctx.actor.user_id)


async def add(ctx: Context, user_id: UserId) -> None:
    """Bring a member of the guild into the thread entered, and say so in it; nothing if they are there already.

    Raises Refusal: 50083, 160005, 50013 for who may not write, or bring others into a private thread;
    404/10007 for no member, 403/50001 for one who cannot see the channel; 30033.
    """
    if user_id == ctx.actor.user_id:
        await join(ctx)
        return
    access = thread_of(ctx)
    require_active(ctx)
    ctx.require(Permissions.SEND_MESSAGES)
    require_unlocked(ctx)
    if not may_invite(ctx, access):
        raise Refusal(errors.MISSING_PERMISSIONS)
    row = await get_member(ctx.tx, ctx.guild.id, user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    if user_id in await select_members_among(ctx.tx, access.id, [user_id]):
        return
    if not may_see(ctx, access, row):
        raise Refusal(errors.MISSING_ACCESS)
    access = await add_members(ctx, access, [user_id])
    await send_system_message(ctx, access, ctx.actor.user_id, MessageType.RECIPIENT_ADD, mentions=[user_id])


async def remove(ctx: Context, user_id: UserId) -> None:
    """Take someone out of the thread entered, and say so in it: with MANAGE_THREADS, or from one's own private one.

    Raises Refusal: 50083, 50013, 404/10007 for who is not in it.
    """
    if user_id == ctx.actor.user_id:
        await leave(ctx)
        return
    access = thread_of(ctx)
    own = access.channel.type == ChannelType.PRIVATE_THREAD and access.channel.owner_id == ctx.actor.user_id
    require_unrestricted(ctx)
    if not own:
        ctx.require(Permissions.MANAGE_THREADS)
    require_active(ctx)
    if not await remove_member(ctx, access, user_id):
        raise Refusal(errors.UNKNOWN_MEMBER)
    # What follows is nothing to whom a private thread is closed now.
    access = structs.replace(access, recipients=tuple(one for one in access.recipients if one != user_id))
    await send_system_message(ctx, access, ctx.actor.user_id, MessageType.RECIPIENT_REMOVE, mentions=[user_id])


async def one_member(ctx: Context, user_id: UserId, *, with_member: bool) -> ThreadMember:
    """Someone in the thread entered. Raises Refusal: 404/10007."""
    found = await select_members_among(ctx.tx, thread_of(ctx).id, [user_id])
    if user_id not in found:
        raise Refusal(errors.UNKNOWN_MEMBER)
    return (await _shown(ctx, [found[user_id]], with_member=with_member))[0]


async def list_members(
    ctx: Context, after: UserId | None, maximum: int | None, *, with_member: bool
) -> list[ThreadMember]:
    """Who is in the thread entered, by user id: all of them, or a page if one is asked for or the members as well."""
    if maximum is None:
        maximum = limits.THREAD_LIST_MAX if with_member else limits.THREAD_MEMBERS_MAX
    rows = await queries.select_member_page(ctx.tx, thread_of(ctx).id, after or UserId(Snowflake(0)), maximum)
    return await _shown(ctx, rows, with_member=with_member)


async def _shown(ctx: Context, rows: Sequence[ThreadMemberRow], *, with_member: bool) -> list[ThreadMember]:
    if not with_member:
        return [member_object(row) for row in rows]
    found = await get_members(ctx.tx, ctx.guild.id, [row.user_id for row in rows])
    known = {m.user.id: m for m in await member_objects(ctx.tx, list(found.values())) if m.user is not UNSET}
    return [member_object(row, known.get(row.user_id)) for row in rows]
