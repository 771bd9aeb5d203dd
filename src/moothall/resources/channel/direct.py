"""Direct messages: opening, listing and closing them."""

from msgspec import UNSET, UnsetType

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError
from moothall.objects.guild import IncidentsData
from moothall.objects.ids import ChannelId, UserId
from moothall.objects.wire import convert
from moothall.resources.channel import queries
from moothall.resources.channel.events import DirectChannelCreate, DirectChannelDelete
from moothall.resources.channel.objects import direct_objects
from moothall.resources.channel.queries import Recipient
from moothall.resources.user.queries import get_users, select_user
from moothall.storage.rows import UserRow


async def open_direct_message(ctx: Context, recipient_id: UserId | UnsetType | None) -> Channel:
    """The direct message with someone: the one that the two have, or a new one.

    It stands in the caller's list from now on, in the other's from the first message. Raises Refusal:
    400/50033 for nobody or oneself; 403/50007 between bots, and while every guild that the
    two people share has direct messages switched off.
    """
    if not isinstance(recipient_id, int):
        refuse_field("recipient_id", *FieldError.required())
    other = await select_user(ctx.tx, recipient_id)
    if other is None or other.deleted or other.id == ctx.actor.user_id:
        raise Refusal(errors.INVALID_RECIPIENTS)
    me = ctx.actor.user_id
    channel_id = await queries.select_pair(ctx.tx, me, other.id)
    fresh = channel_id is None
    if channel_id is None:
        await _check_may_open(ctx, other)
        channel_id = await _create(ctx, other.id)
    row = await queries.select_channel(ctx.tx, channel_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    was_closed = any(r.closed for r in await queries.select_recipients(ctx.tx, [channel_id]) if r.user_id == me)
    if was_closed:
        await queries.set_closed(ctx.tx, channel_id, [me], closed=False)
    channel = (await direct_objects(ctx.tx, [row], me))[0]
    if (fresh or was_closed) and not ctx.actor.bot:
        ctx.emit(DirectChannelCreate(channel=channel, user_ids=(me,)))
    return channel


async def reopen_direct_message(ctx: Context, access: ChannelAccess) -> None:
    """Put a direct message back into the lists of everybody in it, as a new message does.

    Whoever calls this declares DirectChannelCreate: people in whose list it was not are told.
    """
    hidden = [r.user_id for r in await queries.select_recipients(ctx.tx, [access.id]) if r.closed]
    if not hidden:
        return
    row = await queries.select_channel(ctx.tx, access.id)
    if row is None:
        return
    await queries.set_closed(ctx.tx, access.id, hidden, closed=False)
    users = await get_users(ctx.tx, hidden)
    for user_id in hidden:
        # At most the other one of a pair, so this is no query for each row of a long list.
        if user_id in users and users[user_id].bot is UNSET:
            channel = (await direct_objects(ctx.tx, [row], user_id))[0]
            ctx.emit(DirectChannelCreate(channel=channel, user_ids=(user_id,)))


async def close_direct_message(ctx: Context) -> Channel:
    """Take the direct message entered out of the caller's list; closing it twice tells nobody again."""
    me, channel_id = ctx.actor.user_id, ctx.channel.id
    row = await queries.select_channel(ctx.tx, channel_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    channel = (await direct_objects(ctx.tx, [row], me))[0]
    listed = any(not r.closed for r in await queries.select_recipients(ctx.tx, [channel_id]) if r.user_id == me)
    if listed:
        await queries.set_closed(ctx.tx, channel_id, [me], closed=True)
        if not ctx.actor.bot:
            ctx.emit(DirectChannelDelete(channel=channel, user_ids=(me,)))
    return channel


async def _check_may_open(ctx: Context, other: UserRow) -> None:
    if ctx.actor.bot and other.bot:
        raise Refusal(errors.CANNOT_MESSAGE_USER)
    if ctx.actor.bot or other.bot:
        return
    shared = await queries.shared_incidents(ctx.tx, ctx.actor.user_id, other.id)
    if shared and all(_direct_messages_off(ctx, data) for data in shared):
        raise Refusal(errors.CANNOT_MESSAGE_USER)


def _direct_messages_off(ctx: Context, data: object) -> bool:
    until = None if data is None else convert(data, IncidentsData).dms_disabled_until
    return until is not None and until > ctx.now


async def _create(ctx: Context, other: UserId) -> ChannelId:
    me, channel_id = ctx.actor.user_id, ChannelId(ctx.ids.next())
    if not await queries.insert_pair(ctx.tx, me, other, channel_id):
        # Both opened it at once: the other request has made it.
        return await queries.select_pair(ctx.tx, me, other) or channel_id
    await queries.insert_channel(ctx.tx, queries.blank_row(channel_id, ChannelType.DM))
    await queries.insert_recipients(
        ctx.tx, (Recipient(channel_id, me, closed=False), Recipient(channel_id, other, closed=True))
    )
    return channel_id
