"""Operations: join a call, and leave it."""

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess, find_channel
from moothall.objects.ids import NO_USER, UserId
from moothall.objects.message_types import MessagePart, MessageType
from moothall.objects.voice import REGIONS
from moothall.resources.call import queries
from moothall.resources.call.access import require_private_channel
from moothall.resources.call.events import CallCreate, CallDelete, CallVoiceStateUpdate
from moothall.resources.call.operations.ringing import people_in, remove_ringing
from moothall.resources.call.queries import CallRow, CallVoiceStateRow, call_object, voice_state
from moothall.resources.channel.direct_message_access import require_may_write_here
from moothall.resources.channel.operations.direct_message import accept_by_writing
from moothall.resources.channel.queries import lock_channel
from moothall.resources.message.operations import announce_message, send_system_message
from moothall.resources.message.queries import select_message
from moothall.resources.user.queries import lock_user


async def join_call(ctx: Context, state: CallVoiceStateRow) -> None:
    """Let the caller join the call in a channel of theirs, or change their state in it; the first one begins the call.

    They leave the call that they were in before. The same state again emits no event. Raises Refusal: 404/10003 and
    403/50001 as `enter_channel`, 400/50024 for channels of guilds, 403/50007 in a direct message that the caller may
    not write in, as to someone who has blocked them, or to a bot.
    """
    access = await ctx.enter_channel(state.channel_id)
    require_private_channel(ctx)
    await lock_user(ctx.tx, state.user_id)
    before = await queries.get_call_voice_state(ctx.tx, state.user_id)
    if before == state:
        return
    # In one order, so that two users who change places cannot deadlock.
    for channel_id in sorted({state.channel_id, *([] if before is None else [before.channel_id])}):
        await lock_channel(ctx.tx, channel_id)
    if before is None or before.channel_id != state.channel_id:
        await require_may_write_here(ctx)
        if before is not None:
            await _leave(ctx, before)
        access = await _enter(ctx, access)
    await queries.upsert_call_voice_state(ctx.tx, state)
    await _announce_state(ctx, access, state)


async def leave_call(ctx: Context, user_id: UserId, *, session_id: str | None = None) -> None:
    """Let a user leave the call that they are in with a session, or with any; the last one ends it."""
    await lock_user(ctx.tx, user_id)
    state = await queries.get_call_voice_state(ctx.tx, user_id)
    # Another session of the user may have replaced the state since.
    if state is not None and session_id in {None, state.session_id}:
        await lock_channel(ctx.tx, state.channel_id)
        await _leave(ctx, state)


async def remove_from_call(ctx: Context, access: ChannelAccess, user_id: UserId) -> None:
    """Let a user who is about to leave a group leave its call, and stop ringing them.

    The row must declare `LEAVE_CALL_EVENTS` and `CallUpdate`.
    """
    state = await queries.get_call_voice_state(ctx.tx, user_id)
    if state is not None and state.channel_id == access.id:
        await leave_call(ctx, user_id)
    await lock_channel(ctx.tx, access.id)
    row = await queries.select_call(ctx.tx, access.id)
    if row is not None:
        await remove_ringing(ctx, access, row, [user_id])


async def _enter(ctx: Context, access: ChannelAccess) -> ChannelAccess:
    """Begin the call, or join the one that there is; return the channel as it is then."""
    user_id = ctx.actor.user_id
    if access.not_accepted:
        await accept_by_writing(ctx, access)
        access = await ctx.enter_channel(access.id)
    row = await queries.select_call(ctx.tx, access.id)
    if row is not None:
        row = await remove_ringing(ctx, access, row, [user_id])
        if await queries.insert_participant(ctx.tx, row, user_id):
            await _announce_message(ctx, access, row)
        return access
    message_id = await send_system_message(ctx, access, user_id, MessageType.CALL, parts=int(MessagePart.CALL))
    row = CallRow(access.id, message_id, REGIONS[0].id, {})
    await queries.insert_call(ctx.tx, row, user_id)
    # The first message may have made it a message request, whose recipient hears of no call.
    access = await ctx.enter_channel(access.id)
    people = await people_in(ctx, access)
    ctx.emit(CallCreate(channel_id=access.id, call=call_object(row, []), user_ids=people))
    return access


async def _leave(ctx: Context, state: CallVoiceStateRow) -> None:
    await queries.delete_call_voice_state(ctx.tx, state.user_id)
    access = await find_channel(ctx.services.states, ctx.tx, state.channel_id, NO_USER, ctx.now, writes=True)
    if access is None:
        return
    await _announce_state(ctx, access, state, left=True)
    if not await queries.select_states_in_calls(ctx.tx, [state.channel_id]):
        await _end(ctx, access)


async def _end(ctx: Context, access: ChannelAccess) -> None:
    row = await queries.select_call(ctx.tx, access.id)
    if row is not None:
        await queries.delete_call(ctx.tx, row, ctx.now)
        await _announce_message(ctx, access, row)
        ctx.emit(CallDelete(channel_id=access.id, user_ids=await people_in(ctx, access)))


async def _announce_state(ctx: Context, access: ChannelAccess, state: CallVoiceStateRow, *, left: bool = False) -> None:
    people = await people_in(ctx, access)
    ctx.emit(CallVoiceStateUpdate(channel_id=access.id, state=voice_state(state, left=left), user_ids=people))


async def _announce_message(ctx: Context, access: ChannelAccess, row: CallRow) -> None:
    message = await select_message(ctx.tx, row.channel_id, row.message_id)
    if message is not None:
        await announce_message(ctx, access, message)
