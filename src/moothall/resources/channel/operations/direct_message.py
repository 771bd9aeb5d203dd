"""Operations: open, reopen and close direct messages."""

from msgspec import UNSET, UnsetType, structs

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors
from moothall.objects.channel import Channel, ConsentStatus
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.channel import queries
from moothall.resources.channel.direct_message_access import is_stranger, require_may_message
from moothall.resources.channel.events import DirectChannelCreate, DirectChannelDelete, DirectChannelUpdate
from moothall.resources.channel.objects import direct_channel_objects
from moothall.resources.channel.queries import Recipient
from moothall.resources.user.queries import get_users, select_user
from moothall.resources.user.relationship.contact_limits import count_opened, count_stranger


async def open_direct_message(ctx: Context, recipient_id: UserId | UnsetType | None) -> Channel:
    """Return the direct message between the caller and a user, creating it if there is none.

    The direct message is added to the caller's list now, and to the recipient's with the first message. Raises
    Refusal: 400/50033 for an unknown user or the caller; 403/50007 as `require_may_message`; 429/40003 after too many
    new ones.
    """
    if not isinstance(recipient_id, int):
        refuse_field("recipient_id", *FieldError.required())
    other = await select_user(ctx.tx, recipient_id)
    if other is None or other.deleted or other.id == ctx.actor.user_id:
        raise Refusal(errors.INVALID_RECIPIENTS)
    caller_id = ctx.actor.user_id
    channel_id = await queries.select_direct_message_id(ctx.tx, caller_id, other.id)
    is_new = channel_id is None
    if channel_id is None:
        await require_may_message(ctx, other.id)
        if await is_stranger(ctx, other.id, caller_id):
            count_stranger(ctx, errors.OPENING_DMS_TOO_FAST)
        count_opened(ctx, errors.OPENING_DMS_TOO_FAST)
        channel_id = await _create_direct_message(ctx, other.id)
    row = await select_channel(ctx.tx, channel_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    was_closed = any(r.closed for r in await queries.select_recipients(ctx.tx, [channel_id]) if r.user_id == caller_id)
    if was_closed:
        await queries.update_closed(ctx.tx, channel_id, [caller_id], closed=False)
    channel = (await direct_channel_objects(ctx.tx, [row], caller_id))[0]
    if (is_new or was_closed) and not ctx.actor.bot:
        ctx.emit(DirectChannelCreate(channel=channel, user_ids=(caller_id,)))
    return channel


async def reopen_direct_message(ctx: Context, access: ChannelAccess, message_id: MessageId) -> None:
    """Add a direct message to the list of each recipient who had closed it, as a new message does.

    The first message of a stranger makes it a message request. The row must declare DirectChannelCreate, which goes to
    the users whose list changes.
    """
    recipients = await queries.select_recipients(ctx.tx, [access.id])
    for recipient in recipients:
        if recipient.consent == ConsentStatus.UNSPECIFIED:
            # Not the author, who may be the bot of a command that the other recipient uses.
            [other_id] = [each.user_id for each in recipients if each.user_id != recipient.user_id]
            is_request = await is_stranger(ctx, recipient.user_id, other_id)
            sent_at = Timestamp(Snowflake(message_id).created_ms)
            consent = ConsentStatus.PENDING if is_request else ConsentStatus.ACCEPTED
            await queries.update_consent(
                ctx.tx, structs.replace(recipient, consent=consent, requested_at=sent_at if is_request else None)
            )
    closed_by = [r.user_id for r in recipients if r.closed]
    if not closed_by:
        return
    row = await select_channel(ctx.tx, access.id)
    if row is None:
        return
    await queries.update_closed(ctx.tx, access.id, closed_by, closed=False)
    users = await get_users(ctx.tx, closed_by)
    for user_id in closed_by:
        # One user at most, so this is not a query per row of a long list.
        if user_id in users and users[user_id].bot is UNSET:
            channel = (await direct_channel_objects(ctx.tx, [row], user_id))[0]
            ctx.emit(DirectChannelCreate(channel=channel, user_ids=(user_id,)))


async def accept_by_writing(ctx: Context, access: ChannelAccess) -> None:
    """Accept a message request in which the caller writes, or whose sender, the caller, is no longer a stranger.

    The row must declare DirectChannelUpdate.
    """
    for user_id, consent in access.not_accepted:
        if user_id == ctx.actor.user_id or (
            consent != ConsentStatus.UNSPECIFIED and not await is_stranger(ctx, user_id, ctx.actor.user_id)
        ):
            await set_consent(ctx, access.id, user_id, ConsentStatus.ACCEPTED)


async def set_consent(ctx: Context, channel_id: ChannelId, user_id: UserId, consent: ConsentStatus) -> Channel | None:
    """Store and announce the consent of a recipient; the direct message as they see it, None if they are not in it.

    The row must declare DirectChannelUpdate, which is emitted if it was a message request before.
    """
    before = next((r for r in await queries.select_recipients(ctx.tx, [channel_id]) if r.user_id == user_id), None)
    row = await select_channel(ctx.tx, channel_id)
    if before is None or row is None:
        return None
    if before.consent != consent:
        await queries.update_consent(ctx.tx, structs.replace(before, consent=consent))
    channel = (await direct_channel_objects(ctx.tx, [row], user_id))[0]
    if before.consent == ConsentStatus.PENDING != consent and not before.closed:
        ctx.emit(DirectChannelUpdate(channel=channel, user_ids=(user_id,)))
    return channel


async def close_direct_message(ctx: Context) -> Channel:
    """Remove the current direct message from the caller's list; closing it again emits no event."""
    caller_id, channel_id = ctx.actor.user_id, ctx.channel.id
    row = await select_channel(ctx.tx, channel_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    channel = (await direct_channel_objects(ctx.tx, [row], caller_id))[0]
    is_open = any(not r.closed for r in await queries.select_recipients(ctx.tx, [channel_id]) if r.user_id == caller_id)
    if is_open:
        await queries.update_closed(ctx.tx, channel_id, [caller_id], closed=True)
        if not ctx.actor.bot:
            ctx.emit(DirectChannelDelete(channel=channel, user_ids=(caller_id,)))
    return channel


async def _create_direct_message(ctx: Context, other: UserId) -> ChannelId:
    caller_id, channel_id = ctx.actor.user_id, ChannelId(ctx.ids.next())
    if not await queries.insert_direct_message(ctx.tx, caller_id, other, channel_id):
        # A concurrent request has created it.
        return await queries.select_direct_message_id(ctx.tx, caller_id, other) or channel_id
    await queries.insert_channel(ctx.tx, queries.new_channel_row(channel_id, ChannelType.DM))
    await queries.insert_recipients(
        ctx.tx,
        (
            Recipient(channel_id, caller_id, closed=False),
            Recipient(channel_id, other, closed=True, consent=ConsentStatus.UNSPECIFIED),
        ),
    )
    return channel_id
