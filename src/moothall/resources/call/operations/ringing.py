"""Operations: ring the recipients of a channel, and stop ringing them."""

from collections.abc import Collection, Iterable
from typing import ClassVar, Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.authority.channel_access import ChannelAccess, find_channel
from moothall.objects import errors
from moothall.objects.channel import ConsentStatus
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import NO_USER, ChannelId, UserId
from moothall.objects.voice import REGIONS
from moothall.objects.wire import Timestamp
from moothall.resources.call import queries
from moothall.resources.call.events import CallUpdate
from moothall.resources.call.queries import CallRow
from moothall.resources.channel.direct_message_access import is_stranger, require_may_write_here
from moothall.resources.channel.queries import lock_channel
from moothall.resources.user.queries import get_users
from moothall.resources.user.relationship.queries import select_blocked_ids

RING_SECONDS: Final = 60
"""How long a user is rung who neither answers nor declines."""


async def is_ringable(ctx: Context) -> bool:
    """Whether there is anyone in the current channel whom the caller may ring."""
    try:
        return bool(await _ringable(ctx))
    except Refusal:
        return False


async def ring(ctx: Context, requested: Collection[UserId] | None) -> None:
    """Ring recipients of the call in the current channel for `RING_SECONDS`, all of them for None.

    Without a call it does nothing. Who is in the call, is a bot, has not accepted the direct message, or has blocked
    the caller or is blocked by them is not rung. Ringing a user again begins anew. Raises Refusal: 400/50033 for users
    who are no recipients, 403/50007 in a direct message that the caller may not write in.
    """
    _require_recipients(ctx, requested)
    ringable = await _ringable(ctx)
    await lock_channel(ctx.tx, ctx.channel.id)
    row = await queries.select_call(ctx.tx, ctx.channel.id)
    if row is None:
        return
    present = {state.user_id for state in await queries.select_states_in_calls(ctx.tx, [row.channel_id])}
    target_ids = (ringable if requested is None else ringable & set(requested)) - present
    if not target_ids:
        return
    ringing = row.ringing | {user_id.wire(): int(ctx.now) for user_id in target_ids}
    await _save_and_announce(ctx, ctx.channel, row, ringing)
    at = Timestamp(ctx.now + RING_SECONDS * 1000)
    await enqueue(ctx, EndRinging(channel_id=row.channel_id, rung_at=int(ctx.now)), at=at)


async def stop_ringing(ctx: Context, requested: Collection[UserId] | None) -> None:
    """Stop ringing recipients in the current channel, the caller for None: they have declined.

    Raises Refusal: 400/50033 for users who are no recipients.
    """
    _require_recipients(ctx, requested)
    await lock_channel(ctx.tx, ctx.channel.id)
    row = await queries.select_call(ctx.tx, ctx.channel.id)
    if row is not None:
        await remove_ringing(ctx, ctx.channel, row, [ctx.actor.user_id] if requested is None else requested)


async def remove_ringing(ctx: Context, access: ChannelAccess, row: CallRow, user_ids: Iterable[UserId]) -> CallRow:
    """Stop ringing users, if they are rung; return the call as it is now. The channel must be locked."""
    stopped = {user_id.wire() for user_id in user_ids}
    ringing = {user_id: since for user_id, since in row.ringing.items() if user_id not in stopped}
    if ringing == row.ringing:
        return row
    return await _save_and_announce(ctx, access, row, ringing)


async def modify_region(ctx: Context, region: str) -> None:
    """Set the region of the call in the current channel; without a call it does nothing.

    Raises Refusal: 400/50035 for an unknown region.
    """
    known = [each.id for each in REGIONS]
    if region not in known:
        form_errors = FormErrors()
        form_errors.add("region", *FieldError.choices(tuple(known)))
        form_errors.raise_if_any()
    await lock_channel(ctx.tx, ctx.channel.id)
    row = await queries.select_call(ctx.tx, ctx.channel.id)
    if row is not None and row.region != region:
        await queries.update_region(ctx.tx, row.channel_id, region)
        await _announce(ctx, ctx.channel, structs.replace(row, region=region))


async def people_in(ctx: Context, access: ChannelAccess) -> tuple[UserId, ...]:
    """The recipients who receive the events of calls: people who have accepted the direct message."""
    waiting = dict(access.not_accepted)
    return await _people(ctx, [each for each in access.recipients if each not in waiting])


async def end_ringing(ctx: Context, channel_id: ChannelId, rung_at: int) -> None:
    """Stop ringing those who have been rung since a moment or longer."""
    if not await lock_channel(ctx.tx, channel_id):
        return
    row = await queries.select_call(ctx.tx, channel_id)
    access = await find_channel(ctx.services.states, ctx.tx, channel_id, NO_USER, ctx.now, writes=True)
    if row is not None and access is not None:
        ringing = {user_id: since for user_id, since in row.ringing.items() if since > rung_at}
        if ringing != row.ringing:
            await _save_and_announce(ctx, access, row, ringing)


@job
class EndRinging(Job, frozen=True, kw_only=True):
    """Stops ringing those who have neither answered nor declined."""

    kind: ClassVar[str] = "end_ringing"
    channel_id: ChannelId
    rung_at: int
    """Milliseconds: who was rung later rings on."""

    async def step(self, ctx: Context) -> Job | None:
        """Stop ringing."""
        await end_ringing(ctx, self.channel_id, self.rung_at)
        return None


async def _ringable(ctx: Context) -> set[UserId]:
    """Those whom the caller may ring. Raises Refusal: 403/50007 in a direct message that they may not write in."""
    await require_may_write_here(ctx)
    caller_id = ctx.actor.user_id
    people = set(await people_in(ctx, ctx.channel)) - {caller_id}
    if ctx.channel.channel.type == ChannelType.DM:
        # Before the first message there is no consent yet; a call is a message.
        untouched = [each for each, consent in ctx.channel.not_accepted if consent == ConsentStatus.UNSPECIFIED]
        for user_id in await _people(ctx, untouched):
            if user_id != caller_id and not await is_stranger(ctx, user_id, caller_id):
                people.add(user_id)
        return people
    return people - await select_blocked_ids(ctx.tx, ctx.actor.user_id, people)


async def _people(ctx: Context, user_ids: Iterable[UserId]) -> tuple[UserId, ...]:
    users = await get_users(ctx.tx, user_ids)
    return tuple(sorted(user_id for user_id, user in users.items() if user.bot is not True))


def _require_recipients(ctx: Context, user_ids: Collection[UserId] | None) -> None:
    if not set(user_ids or ()) <= set(ctx.channel.recipients):
        raise Refusal(errors.INVALID_RECIPIENTS)


async def _save_and_announce(ctx: Context, access: ChannelAccess, row: CallRow, ringing: dict[str, int]) -> CallRow:
    row = structs.replace(row, ringing=ringing)
    await queries.update_ringing(ctx.tx, row.channel_id, ringing)
    await _announce(ctx, access, row)
    return row


async def _announce(ctx: Context, access: ChannelAccess, row: CallRow) -> None:
    ctx.emit(
        CallUpdate(
            channel_id=row.channel_id,
            message_id=row.message_id,
            region=row.region,
            ringing=row.ringing_ids,
            user_ids=await people_in(ctx, access),
        )
    )
