"""Create, edit and delete the messages of interactions: responses and followups, ephemeral or not."""

from msgspec import structs

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import ChannelId, MessageId
from moothall.objects.interaction import InteractionState
from moothall.objects.message_types import MessageFlags, MessagePart
from moothall.resources.channel.thread_activity.operations import unarchive_thread
from moothall.resources.interaction.queries import (
    EphemeralRow,
    InteractionRow,
    insert_ephemeral,
    update_interaction,
)
from moothall.resources.interaction.respond.callback_response import InteractionMessage
from moothall.resources.interaction.respond.channel import (
    bot_access,
    bot_id,
    component_sender,
    is_ephemeral,
    response_room_id,
    room_access,
)
from moothall.resources.interaction.respond.data import read_poll_of_edit
from moothall.resources.interaction.respond.message_fields import (
    build_flags,
    build_message_fields,
    without_reply_mention,
)
from moothall.resources.interaction.respond.message_lookup import (
    find_interaction_message,
    find_referenced_message,
    get_interaction_message,
)
from moothall.resources.message.drafts import Draft
from moothall.resources.message.extensions import write_parts
from moothall.resources.message.operations import apply_edit, remove_message, send_message
from moothall.resources.message.queries import MessageRow, lock_message
from moothall.resources.message.reading import draft_edit
from moothall.resources.message.requests import EditMessage


async def create_interaction_message(
    ctx: Context,
    row: InteractionRow,
    access: ChannelAccess,
    draft: Draft,
    *,
    ephemeral: bool,
    loading: bool = False,
    followup: bool = False,
) -> InteractionMessage:
    """Create a message that responds to an interaction, or with `followup` one after it.

    A message visible to all unarchives its thread. The caller declares `MessageCreate`.
    """
    message_id = MessageId(ctx.ids.next())
    room_id = response_room_id(row, access, ephemeral=ephemeral)
    if ephemeral:
        await insert_ephemeral(
            ctx.tx,
            EphemeralRow(
                id=message_id,
                interaction_id=row.id,
                channel_id=access.id,
                application_id=row.application_id,
                user_id=row.user_id,
            ),
        )
    else:
        access = await unarchive_thread(ctx, access)
    referenced = await find_referenced_message(ctx, row, room_id, followup=followup)
    if referenced is not None:
        draft = without_reply_mention(draft)
    flags = build_flags(draft.flags, ephemeral=ephemeral, loading=loading)
    data = await send_message(
        ctx,
        room_access(row, access, room_id),
        bot_id(row),
        draft,
        message_id=message_id,
        interaction=build_message_fields(row, access.id, flags, referenced, followup=followup),
    )
    return InteractionMessage(message_id, room_id, data, ephemeral, loading)


async def edit_interaction_message(
    ctx: Context, row: InteractionRow, room_id: ChannelId, message_id: MessageId, body: EditMessage, *, at: str = ""
) -> bytes:
    """Edit a message of an interaction; the message as JSON.

    The first edit of a loading message fills it: it may add a poll, except to an ephemeral message, and sets no
    `edited_timestamp`.
    Raises Refusal: 404/10008, 50035 below `at`, 50006. The caller declares `MessageUpdate`.
    """
    access = await bot_access(ctx, row)
    message = await find_interaction_message(ctx, row, room_id, message_id, select=lock_message)
    room = room_access(row, access, room_id)
    fills = await _end_deferral(ctx, row, message)
    poll = read_poll_of_edit(body, ephemeral=is_ephemeral(message.flags)) if fills else None
    if poll is not None:
        body = structs.replace(body, poll=None)
        message = structs.replace(message, parts=message.parts | MessagePart.POLL)
    form_errors = FormErrors()
    errors_at = form_errors.at(at) if at else form_errors
    draft = await draft_edit(ctx, access, message, body, component_sender(row), errors_at)
    if poll is not None:
        await write_parts(ctx, room, message.id, Draft(content="", poll=poll))
    edited = await apply_edit(ctx, room, message, bot_id(row), draft, completes=fills)
    return edited if edited is not None else await get_interaction_message(ctx, row, room_id, message_id)


async def edit_source_message(ctx: Context, row: InteractionRow, body: EditMessage) -> bytes:
    """Edit the message whose component was used; as JSON. Raises Refusal: 404/10008, 50035 below `data`, 50006."""
    if row.source_id is None or row.source_room_id is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return await edit_interaction_message(ctx, row, row.source_room_id, row.source_id, body, at="data")


async def delete_interaction_message(
    ctx: Context, row: InteractionRow, room_id: ChannelId, message_id: MessageId
) -> None:
    """Delete a message of an interaction. Raises Refusal: 404/10008. The caller declares `MessageDelete`."""
    message = await find_interaction_message(ctx, row, room_id, message_id, select=lock_message)
    await _end_deferral(ctx, row, message)
    await remove_message(ctx, room_access(row, await bot_access(ctx, row), room_id), message)


async def _end_deferral(ctx: Context, row: InteractionRow, message: MessageRow) -> bool:
    """Mark the interaction as answered if the message is its loading response; whether the message is loading."""
    loading = bool(message.flags & MessageFlags.LOADING)
    if loading and row.state == InteractionState.DEFERRED:
        await update_interaction(ctx.tx, row.id, state=int(InteractionState.ANSWERED))
    return loading
