"""Operations: create and modify group direct messages, add and remove recipients."""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec import UNSET, structs

from moothall.api.authenticate import TokenKind, actor_of_token
from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.api.jobs import enqueue
from moothall.authority.channel_access import ChannelAccess, find_channel
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors, limits
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, UserId
from moothall.objects.message_types import MessageType
from moothall.objects.text import clean_name
from moothall.objects.user import User
from moothall.resources.call.events import LEAVE_CALL_EVENTS, CallUpdate
from moothall.resources.call.operations.joining import remove_from_call
from moothall.resources.channel.direct_message_access import are_direct_messages_paused
from moothall.resources.channel.events import DirectChannelCreate, DirectChannelDelete, DirectChannelUpdate
from moothall.resources.channel.objects import direct_channel_objects, group_dm_for
from moothall.resources.channel.queries import (
    Recipient,
    insert_channel,
    insert_recipients,
    new_channel_row,
    update_channel,
)
from moothall.resources.channel.requests import ModifyChannel
from moothall.resources.group_dm import queries
from moothall.resources.group_dm.events import ChannelRecipientAdd, ChannelRecipientRemove
from moothall.resources.group_dm.jobs import PurgeGroup
from moothall.resources.group_dm.requests import AddGroupRecipient, CreateDirectMessage
from moothall.resources.message.events import MessageCreate
from moothall.resources.message.operations import send_system_message
from moothall.resources.read_state.operations import start_read_state
from moothall.resources.user.queries import get_users, lock_user
from moothall.resources.user.relationship.queries import select_blocked_ids, select_friend_ids
from moothall.storage.rows import ChannelRow

ADD_RECIPIENT_EVENTS: Final[Fires] = (DirectChannelCreate, ChannelRecipientAdd, MessageCreate)
"""What an endpoint that adds a recipient declares in `fires`."""
REMOVE_RECIPIENT_EVENTS: Final[Fires] = (
    DirectChannelDelete, DirectChannelUpdate, ChannelRecipientRemove, MessageCreate, CallUpdate, *LEAVE_CALL_EVENTS,
)  # fmt: skip
"""What an endpoint that removes a recipient declares in `fires`."""

_SCOPE: Final = "gdm.join"


async def create_group_dm(ctx: Context, recipients: list[UserId], body: CreateDirectMessage) -> Channel:
    """Create a group direct message of the caller with users; the caller's own id among them changes nothing.

    A user may add users with whom they have a direct message or share a guild that has direct messages enabled. A bot
    needs an access token of each user. Raises Refusal: 400/50033 for any other user, 400/50025 for an invalid token,
    400/30011 if the caller is in too many groups.
    """
    if body.access_tokens:
        others = [await _user_id_of_token(ctx, token) for token in dict.fromkeys(body.access_tokens)]
    else:
        others = recipients
        await _require_acquainted(ctx, [i for i in others if i != ctx.actor.user_id])
    nicks = {key: clean_name(nick) for key, nick in (body.nicks or {}).items()}
    return await _create_group_dm(ctx, [i for i in dict.fromkeys(others) if i != ctx.actor.user_id], nicks)


async def add_group_dm_recipient(ctx: Context, user_id: UserId, body: AddGroupRecipient) -> Channel | None:
    """Add a user to the current group direct message, and return None; in a direct message, create a group instead.

    A user who is in the group already changes nothing. Raises Refusal: 400/50024 outside of direct messages,
    400/50033, 400/50025, 400/30004 for a full group.
    """
    access = ctx.channel
    if ctx.in_guild:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    if body.access_token:
        if await _user_id_of_token(ctx, body.access_token) != user_id:
            raise Refusal(errors.INVALID_ACCESS_TOKEN)
    elif user_id not in access.recipients:
        await _require_acquainted(ctx, [user_id])
    nick = clean_name(body.nick or "") or None
    if access.channel.type == ChannelType.DM:
        if user_id in access.recipients:
            raise Refusal(errors.INVALID_RECIPIENTS)
        others = [*(i for i in access.recipients if i != ctx.actor.user_id), user_id]
        return await _create_group_dm(ctx, others, {} if nick is None else {str(int(user_id)): nick})
    await add_user_to_group_dm(ctx, access, user_id, nick=nick, added_by=ctx.actor.user_id)
    return None


async def add_user_to_group_dm(
    ctx: Context, access: ChannelAccess, user_id: UserId, *, nick: str | None = None, added_by: UserId
) -> bool:
    """Add a user to a group, emit events and send a system message; return False if the user is in it already.

    The row must declare `ADD_RECIPIENT_EVENTS`. Raises Refusal: 400/30004 for a full group, 400/30011 for a user in
    too many groups.
    """
    if user_id in access.recipients:
        return False
    await lock_user(ctx.tx, user_id)
    if await queries.count_group_dms(ctx.tx, user_id) >= limits.GROUP_DMS_PER_USER:
        raise Refusal(errors.TOO_MANY_GROUP_DMS)
    added = await queries.insert_recipient(ctx.tx, access.id, user_id, nick)
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
        await start_read_state(ctx, access.id, user_id)
        channel = (await direct_channel_objects(ctx.tx, [row], user_id))[0]
        ctx.emit(DirectChannelCreate(channel=channel, user_ids=(user_id,)))
    access = structs.replace(access, recipients=(*access.recipients, user_id))
    await send_system_message(ctx, access, added_by, MessageType.RECIPIENT_ADD, mentions=[user_id])
    return True


async def remove_group_dm_recipient(ctx: Context, user_id: UserId) -> None:
    """Remove a recipient from the current group: the caller, or, as its owner, another user.

    Raises Refusal: 400/50024 outside of groups, 403/50013, 404/10013 for a user who is not in it.
    """
    if ctx.in_guild or ctx.channel.channel.type != ChannelType.GROUP_DM:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    if ctx.actor.user_id not in {user_id, ctx.channel.channel.owner_id}:
        raise Refusal(errors.MISSING_PERMISSIONS)
    if user_id not in ctx.channel.recipients:
        raise Refusal(errors.UNKNOWN_USER)
    await _remove_recipient(ctx, ctx.channel, user_id, by_id=ctx.actor.user_id)


async def remove_from_group_dm(ctx: Context, channel_id: ChannelId, user_id: UserId) -> None:
    """Remove a user from a group, as if they left it. Without effect in a group that is deleted."""
    access = await find_channel(ctx.services.states, ctx.tx, channel_id, user_id, ctx.now, writes=False)
    if access is not None and user_id in access.recipients:
        await _remove_recipient(ctx, access, user_id, by_id=user_id)


async def leave_group_dm(ctx: Context) -> Channel:
    """Remove the caller from the current group; return the object as it was.

    The row must declare `REMOVE_RECIPIENT_EVENTS`.
    """
    return await _remove_recipient(ctx, ctx.channel, ctx.actor.user_id, by_id=ctx.actor.user_id)


async def _remove_recipient(ctx: Context, access: ChannelAccess, user_id: UserId, *, by_id: UserId) -> Channel:
    row = await select_channel(ctx.tx, access.id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    channel = (await direct_channel_objects(ctx.tx, [row], user_id))[0]
    await remove_from_call(ctx, access, user_id)
    if not await queries.delete_recipient(ctx.tx, access.id, user_id):
        raise Refusal(errors.UNKNOWN_USER)
    ctx.emit(DirectChannelDelete(channel=channel, user_ids=(user_id,)))
    remaining = tuple(i for i in access.recipients if i != user_id)
    if not remaining:
        await queries.delete_group_dm(ctx.tx, access.id)
        await enqueue(ctx, PurgeGroup(channel_id=access.id))
        return channel
    user = (await get_users(ctx.tx, [user_id]))[user_id]
    ctx.emit(ChannelRecipientRemove(channel_id=access.id, user=user, user_ids=remaining))
    if row.owner_id == user_id:
        # The remaining recipient with the oldest account becomes the owner.
        row = structs.replace(row, owner_id=min(remaining))
        await update_channel(ctx.tx, access.id, owner_id=row.owner_id)
        await announce_group_dm(ctx, row, remaining)
    access = structs.replace(access, recipients=remaining)
    await send_system_message(ctx, access, by_id, MessageType.RECIPIENT_REMOVE, mentions=[user_id])
    return channel


async def announce_group_dm(ctx: Context, row: ChannelRow, recipients: Collection[UserId]) -> None:
    """Emit CHANNEL_UPDATE to each recipient of a group. The row must declare DirectChannelUpdate."""
    users, channel = await _users_and_channel(ctx, row, recipients)
    for user_id in recipients:
        if user_id in users and users[user_id].bot is UNSET:
            ctx.emit(DirectChannelUpdate(channel=group_dm_for(channel, user_id), user_ids=(user_id,)))


async def _users_and_channel(
    ctx: Context, row: ChannelRow, recipients: Iterable[UserId]
) -> tuple[dict[UserId, User], Channel]:
    """Return the recipients of a group, and its channel object with all of them."""
    users = await get_users(ctx.tx, recipients)
    return users, (await direct_channel_objects(ctx.tx, [row], None))[0]


async def _create_group_dm(ctx: Context, others: list[UserId], nicks: dict[str, str]) -> Channel:
    caller_id = ctx.actor.user_id
    if not others:
        raise Refusal(errors.INVALID_RECIPIENTS)
    maximum = limits.GROUP_DMS_PER_APPLICATION if ctx.actor.bot else limits.GROUP_DMS_PER_USER
    await lock_user(ctx.tx, caller_id)
    if await queries.count_group_dms(ctx.tx, caller_id) >= maximum:
        raise Refusal(errors.TOO_MANY_GROUP_DMS)
    row = structs.replace(
        new_channel_row(ChannelId(ctx.ids.next()), ChannelType.GROUP_DM),
        owner_id=caller_id,
        application_id=ctx.actor.application_id,
        member_count=len(others) + 1,
    )
    await insert_channel(ctx.tx, row)
    recipients = [caller_id, *others]
    await insert_recipients(
        ctx.tx, [Recipient(row.id, i, closed=False, nick=nicks.get(str(int(i))) or None) for i in recipients]
    )
    users, channel = await _users_and_channel(ctx, row, recipients)
    for user_id in recipients:
        if users[user_id].bot is UNSET:
            ctx.emit(DirectChannelCreate(channel=group_dm_for(channel, user_id), user_ids=(user_id,)))
    return group_dm_for(channel, caller_id)


async def _user_id_of_token(ctx: Context, token: str) -> UserId:
    """Return the user of an access token with the scope gdm.join for the caller's application.

    Raises Refusal: 400/50025.
    """
    actor = await actor_of_token(ctx.tx, token)
    if (
        actor is None
        or actor.kind is not TokenKind.BEARER
        or _SCOPE not in actor.scopes
        or not ctx.actor.bot
        or actor.application_id != ctx.actor.application_id
    ):
        raise Refusal(errors.INVALID_ACCESS_TOKEN)
    return actor.user_id


async def _require_acquainted(ctx: Context, others: Collection[UserId]) -> None:
    """Check that the caller, who is no bot, may add users to a group without their access tokens.

    Raises Refusal: 400/50033.
    """
    users = await get_users(ctx.tx, others)
    paused, reachable = set[UserId](), set[UserId]()
    for shared in await queries.select_shared_guilds(ctx.tx, ctx.actor.user_id, others):
        (paused if are_direct_messages_paused(shared.incidents_data, ctx.now) else reachable).add(shared.user_id)
    partners = await queries.select_direct_message_partners(ctx.tx, ctx.actor.user_id, others)
    friends = await select_friend_ids(ctx.tx, ctx.actor.user_id, others)
    blocked = await select_blocked_ids(ctx.tx, ctx.actor.user_id, others)
    acquainted = (reachable | (partners - paused) | friends) - blocked
    for user_id in others:
        if ctx.actor.bot or user_id not in users or users[user_id].bot is True or user_id not in acquainted:
            raise Refusal(errors.INVALID_RECIPIENTS)


async def modify_group_dm(ctx: Context, body: ModifyChannel) -> Channel:
    """Modify the current group, emit CHANNEL_UPDATE and send system messages; null resets.

    Only the owner may change the owner. A request that changes nothing emits no event. Raises Refusal: 403/50013,
    400/50035 for an owner who is not in the group.
    """
    access, row = ctx.channel, await select_channel(ctx.tx, ctx.channel.id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    columns: dict[str, object] = {}
    if body.name is not UNSET:
        columns["name"] = clean_name(body.name or "") or None
    if body.icon is not UNSET:
        columns["icon"] = None if body.icon is None else body.icon.hash
    if isinstance(body.owner, int) and body.owner != row.owner_id:
        if row.owner_id != ctx.actor.user_id:
            raise Refusal(errors.MISSING_PERMISSIONS)
        if body.owner not in access.recipients:
            form_errors = FormErrors()
            form_errors.add("owner", FormCode.BASE_TYPE_CHOICES, "They are not in this group.")
            form_errors.raise_if_any()
        columns["owner_id"] = body.owner
    after = structs.replace(row, **columns)
    if after != row:
        await update_channel(ctx.tx, row.id, **columns)
        await announce_group_dm(ctx, after, access.recipients)
        caller_id = ctx.actor.user_id
        if after.name != row.name:
            await send_system_message(ctx, access, caller_id, MessageType.CHANNEL_NAME_CHANGE, content=after.name or "")
        if after.icon != row.icon:
            await send_system_message(ctx, access, caller_id, MessageType.CHANNEL_ICON_CHANGE)
    return (await direct_channel_objects(ctx.tx, [after], ctx.actor.user_id))[0]
