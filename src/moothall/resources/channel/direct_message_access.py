"""Who may write direct messages to whom (api.md, Incidents data object)."""

from typing import Final

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.channel import ConsentStatus
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.guild import IncidentsData
from moothall.objects.ids import UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import Timestamp, convert
from moothall.resources.channel import queries
from moothall.resources.user.relationship.queries import select_blocked_ids, select_friend_ids
from moothall.resources.user.settings.queries import select_changed_settings, select_shared_guild_ids

_DISTRUSTED: Final = ("restricted_guilds", "message_request_guilds")
"""The settings with guilds whose members are strangers nevertheless."""


def are_direct_messages_paused(incidents_data: JsonObject | None, now: Timestamp) -> bool:
    """Whether an incident action pauses the direct messages between members of a guild now."""
    until = None if incidents_data is None else convert(incidents_data, IncidentsData).dms_disabled_until
    return until is not None and until > now


async def require_may_message(
    ctx: Context, other_id: UserId, consent: ConsentStatus = ConsentStatus.UNSPECIFIED
) -> None:
    """Refuse (403/50007) callers who may not write direct messages to a user, who has given this consent.

    Deleted users receive none, bots none from bots, and users none from those whom they have blocked
    or who have blocked them.
    If every guild that the two share has paused direct messages, or is restricted by the recipient, only friends
    may write; pauses do not concern bots. Strangers may write as a message request, until it is rejected, if both the
    operator and the recipient allow message requests.
    """
    account = await queries.select_account(ctx.tx, other_id)
    if account is None or account.deleted or (account.bot and ctx.actor.bot):
        raise Refusal(errors.CANNOT_MESSAGE_USER)
    if await select_blocked_ids(ctx.tx, ctx.actor.user_id, [other_id]):
        raise Refusal(errors.CANNOT_MESSAGE_USER)
    if account.bot:
        return
    restricted_ids = set(map(int, (await select_changed_settings(ctx.tx, other_id)).get("restricted_guilds", ())))
    if ctx.actor.bot:
        shared_ids = await select_shared_guild_ids(ctx.tx, ctx.actor.user_id, other_id) if restricted_ids else set()
        if shared_ids and shared_ids <= restricted_ids:
            raise Refusal(errors.CANNOT_MESSAGE_USER)
        await _require_may_request(ctx, other_id, consent)
        return
    shared = await queries.select_shared_incidents(ctx.tx, ctx.actor.user_id, other_id)
    closed = bool(shared) and all(
        guild_id in restricted_ids or are_direct_messages_paused(data, ctx.now) for guild_id, data in shared
    )
    if closed and not await select_friend_ids(ctx.tx, ctx.actor.user_id, [other_id]):
        raise Refusal(errors.CANNOT_MESSAGE_USER)
    await _require_may_request(ctx, other_id, consent)


async def _require_may_request(ctx: Context, other_id: UserId, consent: ConsentStatus) -> None:
    """Refuse (403/50007) a stranger whose message request is rejected, or to a user who takes none."""
    if consent is ConsentStatus.ACCEPTED or not await is_stranger(ctx, other_id, ctx.actor.user_id):
        return
    settings = await select_changed_settings(ctx.tx, other_id)
    allowed = ctx.services.limits.message_requests and settings.get("allow_message_requests", True)
    if consent is ConsentStatus.REJECTED or not allowed:
        raise Refusal(errors.CANNOT_MESSAGE_USER)


async def is_stranger(ctx: Context, user_id: UserId, other_id: UserId) -> bool:
    """Whether what another user writes to a user is a message request.

    It is from those who are not their friend, share no guild with them but restricted ones and those in
    `message_request_guilds`, and are not the bot of an application that they have authorized. Bots get no requests.
    """
    account = await queries.select_account(ctx.tx, user_id)
    if account is None or account.bot or await select_friend_ids(ctx.tx, user_id, [other_id]):
        return False
    settings = await select_changed_settings(ctx.tx, user_id)
    distrusted = {int(each) for name in _DISTRUSTED for each in settings.get(name, ())}
    if await select_shared_guild_ids(ctx.tx, user_id, other_id) - distrusted:
        return False
    return not await queries.has_authorized_bot(ctx.tx, user_id, other_id)


async def require_may_write_here(ctx: Context) -> None:
    """Refuse (403/50007) callers who may not write to the recipient of the direct message entered, if it is one."""
    channel = ctx.channel
    if channel.channel.type != ChannelType.DM:
        return
    others = [user_id for user_id in channel.recipients if user_id != ctx.actor.user_id]
    if not others:
        raise Refusal(errors.CANNOT_MESSAGE_USER)
    consent = dict(channel.not_accepted).get(others[0], ConsentStatus.ACCEPTED)
    await require_may_message(ctx, others[0], consent)
