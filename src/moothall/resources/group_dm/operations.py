"""Making groups, and who comes into them and leaves them."""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec import UNSET, structs

from moothall.kernel.authenticate import TokenKind, actor_of_token
from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires
from moothall.kernel.jobs import enqueue
from moothall.objects import errors, limits
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.guild import IncidentsData
from moothall.objects.ids import ChannelId, UserId
from moothall.objects.message_types import MessageType
from moothall.objects.text import clean_name
from moothall.objects.user import User
from moothall.objects.wire import convert
from moothall.resources.channel.events import DirectChannelCreate, DirectChannelDelete, DirectChannelUpdate
from moothall.resources.channel.objects import direct_objects, group_as_seen
from moothall.resources.channel.queries import (
    Recipient,
    blank_row,
    insert_channel,
    insert_recipients,
    select_channel,
    update_channel,
)
from moothall.resources.group_dm import queries
from moothall.resources.group_dm.events import ChannelRecipientAdd, ChannelRecipientRemove
from moothall.resources.group_dm.jobs import PurgeGroup
from moothall.resources.group_dm.requests import AddGroupRecipient, CreateDirectMessage
from moothall.resources.message.events import MessageCreate
from moothall.resources.message.operations import send_system_message
from moothall.resources.user.queries import get_users
from moothall.storage.rows import ChannelRow

COMING: Final[Fires] = (DirectChannelCreate, ChannelRecipientAdd, MessageCreate)
"""What a row declares to fire if it may put somebody into a group."""
LEAVING: Final[Fires] = (
    DirectChannelDelete, DirectChannelUpdate, ChannelRecipientRemove, MessageCreate,
)  # fmt: skip
"""What a row declares to fire if it may take somebody out of one."""

_SCOPE: Final = "gdm.join"


async def create_group(ctx: Context, recipients: list[UserId], body: CreateDirectMessage) -> Channel:
    """A new group of the caller's with several others.

    People name whom they know: those with whom they share a guild that has direct messages on, or talk
    already. A bot has an access token of each. Raises Refusal: 400/50033 for anybody else, 400/50025 for a
    token that is none, 400/30011 for who is in too many groups.
    """
    if body.access_tokens:
        others = [await _of_token(ctx, token) for token in dict.fromkeys(body.access_tokens)]
    else:
        others = recipients
        await _check_known(ctx, others)
    nicks = {key: clean_name(nick) for key, nick in (body.nicks or {}).items()}
    return await _make_group(ctx, [i for i in dict.fromkeys(others) if i != ctx.actor.user_id], nicks)


async def add_recipient(ctx: Context, user_id: UserId, body: AddGroupRecipient) -> Channel | None:
    """Put somebody into the group entered; None then. From a direct message of two a new group is made.

    Who is in it already stays, and nobody is told. Raises Refusal: 400/50024 outside of direct
    messages, 400/50033, 400/50025, 400/30004 for a full group.
    """
    access = ctx.channel
    if ctx.in_guild:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    if body.access_token:
        if await _of_token(ctx, body.access_token) != user_id:
            raise Refusal(errors.INVALID_ACCESS_TOKEN)
    elif user_id not in access.recipients:
        await _check_known(ctx, [user_id])
    nick = clean_name(body.nick or "") or None
    if access.channel.type == ChannelType.DM:
        if user_id in access.recipients:
            raise Refusal(errors.INVALID_RECIPIENTS)
        others = [*(i for i in access.recipients if i != ctx.actor.user_id), user_id]
        return await _make_group(ctx, others, {} if nick is None else {str(int(user_id)): nick})
    await join_group(ctx, access, user_id, nick=nick, added_by=ctx.actor.user_id)
    return None


async def join_group(
    ctx: Context, access: ChannelAccess, user_id: UserId, *, nick: str | None = None, added_by: UserId
) -> bool:
    """Let somebody into a group, announce it and say so in it; False for who is in it already.

    Raises Refusal: 400/30004 for a full group, 400/30011 for who is in too many. The caller declares `COMING`.
    """
    if user_id in access.recipients:
        return False
    if await queries.count_groups(ctx.tx, user_id) >= limits.GROUP_DMS_PER_USER:
        raise Refusal(errors.TOO_MANY_GROUP_DMS)
    added = await queries.add_recipient(ctx.tx, access.id, user_id, nick)
    if added is None:
        raise Refusal(errors.TOO_MANY_RECIPIENTS)
    row = await select_channel(ctx.tx, access.id)
    users = await get_users(ctx.tx, [user_id])
    if row is None or user_id not in users:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    if not added:
        return False
    ctx.emit(
        ChannelRecipientAdd(
            channel_id=access.id, user=users[user_id], nick=UNSET if nick is None else nick, user_ids=access.recipients
        )
    )
    if users[user_id].bot is UNSET:
        channel = (await direct_objects(ctx.tx, [row], user_id))[0]
        ctx.emit(DirectChannelCreate(channel=channel, user_ids=(user_id,)))
    grown = structs.replace(access, recipients=(*access.recipients, user_id))
    await send_system_message(ctx, grown, added_by, MessageType.RECIPIENT_ADD, mentions=[user_id])
    return True


async def remove_recipient(ctx: Context, user_id: UserId) -> None:
    """Take somebody out of the group entered: oneself, or, as its owner, another.

    Raises Refusal: 400/50024 outside of groups, 403/50013, 404/10013 for who is not in it.
    """
    if ctx.in_guild or ctx.channel.channel.type != ChannelType.GROUP_DM:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    if ctx.actor.user_id not in {user_id, ctx.channel.channel.owner_id}:
        raise Refusal(errors.MISSING_PERMISSIONS)
    if user_id not in ctx.channel.recipients:
        raise Refusal(errors.UNKNOWN_USER)
    await _remove(ctx, user_id)


async def leave_group(ctx: Context) -> Channel:
    """Take the caller out of the group entered, which is told as it was. The row declares `LEAVING`."""
    return await _remove(ctx, ctx.actor.user_id)


async def _remove(ctx: Context, user_id: UserId) -> Channel:
    access, row = ctx.channel, await select_channel(ctx.tx, ctx.channel.id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    gone = (await direct_objects(ctx.tx, [row], user_id))[0]
    if not await queries.delete_recipient(ctx.tx, access.id, user_id):
        raise Refusal(errors.UNKNOWN_USER)
    ctx.emit(DirectChannelDelete(channel=gone, user_ids=(user_id,)))
    left = tuple(i for i in access.recipients if i != user_id)
    if not left:
        await queries.delete_group(ctx.tx, access.id)
        await enqueue(ctx, PurgeGroup(channel_id=access.id))
        return gone
    user = (await get_users(ctx.tx, [user_id]))[user_id]
    ctx.emit(ChannelRecipientRemove(channel_id=access.id, user=user, user_ids=left))
    if row.owner_id == user_id:
        # Whoever has the oldest account of those who stay.
        row = structs.replace(row, owner_id=min(left))
        await update_channel(ctx.tx, access.id, owner_id=row.owner_id)
        await announce_group(ctx, row, left)
    here = structs.replace(access, recipients=left)
    await send_system_message(ctx, here, ctx.actor.user_id, MessageType.RECIPIENT_REMOVE, mentions=[user_id])
    return gone


async def announce_group(ctx: Context, row: ChannelRow, recipients: Collection[UserId]) -> None:
    """Tell everybody in a group what it is now, each without themselves. The row declares DirectChannelUpdate."""
    users, whole = await _whole(ctx, row, recipients)
    for user_id in recipients:
        if user_id in users and users[user_id].bot is UNSET:
            ctx.emit(DirectChannelUpdate(channel=group_as_seen(whole, user_id), user_ids=(user_id,)))


async def _whole(ctx: Context, row: ChannelRow, recipients: Iterable[UserId]) -> tuple[dict[UserId, User], Channel]:
    """Those in a group, and the group with all of them."""
    users = await get_users(ctx.tx, recipients)
    return users, (await direct_objects(ctx.tx, [row], None))[0]


async def _make_group(ctx: Context, others: list[UserId], nicks: dict[str, str]) -> Channel:
    me = ctx.actor.user_id
    if not others:
        raise Refusal(errors.INVALID_RECIPIENTS)
    maximum = limits.GROUP_DMS_PER_APPLICATION if ctx.actor.bot else limits.GROUP_DMS_PER_USER
    if await queries.count_groups(ctx.tx, me) >= maximum:
        raise Refusal(errors.TOO_MANY_GROUP_DMS)
    row = structs.replace(
        blank_row(ChannelId(ctx.ids.next()), ChannelType.GROUP_DM),
        owner_id=me,
        application_id=ctx.actor.application_id,
        member_count=len(others) + 1,
    )
    await insert_channel(ctx.tx, row)
    everybody = [me, *others]
    await insert_recipients(
        ctx.tx, [Recipient(row.id, i, closed=False, nick=nicks.get(str(int(i))) or None) for i in everybody]
    )
    users, whole = await _whole(ctx, row, everybody)
    for user_id in everybody:
        if users[user_id].bot is UNSET:
            ctx.emit(DirectChannelCreate(channel=group_as_seen(whole, user_id), user_ids=(user_id,)))
    return group_as_seen(whole, me)


async def _of_token(ctx: Context, token: str) -> UserId:
    """Who let the caller's application put them into groups. Raises Refusal: 400/50025."""
    found = await actor_of_token(ctx.tx, token)
    if (
        found is None
        or found.kind is not TokenKind.BEARER
        or _SCOPE not in found.scopes
        or not ctx.actor.bot
        or found.application_id != ctx.actor.application_id
    ):
        raise Refusal(errors.INVALID_ACCESS_TOKEN)
    return found.user_id


async def _check_known(ctx: Context, others: Collection[UserId]) -> None:
    """Refuse (400/50033) whom a person cannot just put into a group; bots have access tokens for that."""
    users = await get_users(ctx.tx, others)
    met = await queries.select_partners(ctx.tx, ctx.actor.user_id, others)
    for shared in await queries.select_shared(ctx.tx, ctx.actor.user_id, others):
        data = shared.incidents_data
        until = None if data is None else convert(data, IncidentsData).dms_disabled_until
        if until is None or until <= ctx.now:
            met.add(shared.user_id)
    for user_id in others:
        if ctx.actor.bot or user_id not in users or users[user_id].bot is True or user_id not in met:
            raise Refusal(errors.INVALID_RECIPIENTS)
