"""The messages of interactions: answers and followups, for everybody or for one person only.

What one person sees lies in a room of its own interaction: among the messages, under an id that is no channel's.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, structs

from moothall.kernel.channel_access import ChannelAccess, find_channel
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.command import CommandType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, InteractionId, MessageId, UserId, WebhookId
from moothall.objects.interaction import InteractionState, InteractionType
from moothall.objects.message import AllowedMentions, MessageReference
from moothall.objects.message_types import SETTABLE, MessageFlags, MessagePart, MessageType
from moothall.objects.permissions import Permissions
from moothall.objects.poll import PollDraft, PollInput, read_poll
from moothall.objects.wire import convert, decoder, encode
from moothall.resources.channel.thread_activity.operations import wake_thread
from moothall.resources.component.resolved_ids import Sender, look_up
from moothall.resources.interaction.queries import (
    EphemeralRow,
    InteractionRow,
    insert_ephemeral,
    update_interaction,
)
from moothall.resources.message.attachment.drafting import Uploaded
from moothall.resources.message.drafts import Draft, EditMessage, MessageFields, read_draft, read_edit
from moothall.resources.message.editing import edit_message
from moothall.resources.message.files import files_of
from moothall.resources.message.layouts import files_in, is_layout
from moothall.resources.message.operations import remove_message, send_message
from moothall.resources.message.pages import Viewer, message_bytes
from moothall.resources.message.parts import write_parts
from moothall.resources.message.queries import MessageRow, lock_message, select_message

_OF_COMMANDS: Final = {
    CommandType.CHAT_INPUT: MessageType.CHAT_INPUT_COMMAND,
    CommandType.USER: MessageType.CONTEXT_MENU_COMMAND,
    CommandType.MESSAGE: MessageType.CONTEXT_MENU_COMMAND,
}
_FLAGS: Final = SETTABLE | MessageFlags.IS_VOICE_MESSAGE | MessageFlags.EPHEMERAL
_PINGS: Final = ["users", "roles", "everyone"]


class Posted(Struct, frozen=True):
    """A message that is there now, and where it lies."""

    id: MessageId
    room_id: ChannelId
    data: bytes
    ephemeral: bool
    loading: bool


async def access_of(ctx: Context, row: InteractionRow) -> ChannelAccess:
    """The channel of an interaction, with what the application's bot may do in it. Raises Refusal: 404/10003."""
    access = await find_channel(ctx.services.states, ctx.tx, row.channel_id, bot_of(row), ctx.now, writes=ctx.writes)
    if access is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    return access


def bot_of(row: InteractionRow) -> UserId:
    """Who answers an interaction."""
    return UserId(row.application_id)


def sender_for(row: InteractionRow) -> Sender:
    """Whose emojis the components of an answer may use."""
    return Sender(user_id=bot_of(row), application_id=row.application_id)


def room_of(row: InteractionRow, access: ChannelAccess, room_id: ChannelId) -> ChannelAccess:
    """Where a message of an interaction lies: the channel itself, or what only its person sees of it."""
    if room_id == access.id:
        return access
    return ChannelAccess(
        structs.replace(access.channel, id=room_id),
        access.permissions,
        recipients=(row.user_id,),
        shown=(access.id, row.guild_id),
    )


async def flags_of(ctx: Context, row: InteractionRow, access: ChannelAccess, flags: int | None) -> int:
    """The flags of an answer, those that can be set.

    What an application that only its person has installed says in a guild is seen by that person alone, unless
    they may use such applications before others (USE_EXTERNAL_APPS).
    """
    bits = (flags or 0) & _FLAGS
    if access.guild is None or "0" in row.owners:
        return bits
    person = await find_channel(ctx.services.states, ctx.tx, access.id, row.user_id, ctx.now, writes=ctx.writes)
    allowed = person is not None and person.permissions & Permissions.USE_EXTERNAL_APPS
    return bits if allowed else bits | MessageFlags.EPHEMERAL


async def read_new(
    ctx: Context, row: InteractionRow, access: ChannelAccess, body: MessageFields, form_errors: FormErrors
) -> Draft:
    """The draft of an answer, with its files where it will lie; `body.flags` are those of `flags_of`.

    Raises Refusal: 50035, 50006.
    """
    ephemeral = bool((body.flags or 0) & MessageFlags.EPHEMERAL)
    room_id = ChannelId(row.id) if ephemeral else access.id
    body = structs.replace(body, sticker_ids=None, shared_client_theme=None)
    if ephemeral and body.poll is not None:
        form_errors.add("poll", FormCode.BASE_TYPE_BAD_TYPE, "Nobody could vote in a poll that one person sees.")
    lookup = await look_up(ctx, access, body.components, sender_for(row))
    return read_draft(body, form_errors, lookup=lookup, uploaded=Uploaded.of(ctx, room_id))


async def post_message(
    ctx: Context,
    row: InteractionRow,
    access: ChannelAccess,
    draft: Draft,
    *,
    ephemeral: bool,
    loading: bool = False,
    follows: bool = False,
) -> Posted:
    """Post an answer, or with `follows` a message after it. The row declares `MessageCreate`."""
    message_id = MessageId(ctx.ids.next())
    room_id = ChannelId(row.id) if ephemeral else access.id
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
        access = await wake_thread(ctx, access)
    original = await _answered(ctx, row, room_id, follows=follows)
    if original is not None:
        # It refers to a message of the same application, which nobody is told of again.
        allowed = draft.allowed_mentions or AllowedMentions(parse=_PINGS)
        draft = structs.replace(draft, allowed_mentions=structs.replace(allowed, replied_user=False))
    flags = draft.flags | (MessageFlags.EPHEMERAL if ephemeral else 0) | (MessageFlags.LOADING if loading else 0)
    more: dict[str, Any] = {
        "channel_id": access.id,
        "type": _type_of(row, original, follows=follows),
        "flags": flags,
        "webhook_id": WebhookId(row.application_id),
        "application_id": row.application_id,
        "interaction_metadata": Raw(encode(_metadata(row, follows=follows))),
    }
    if original is not None:
        more["message_reference"] = MessageReference(
            message_id=original.id, channel_id=access.id, guild_id=UNSET if row.guild_id is None else row.guild_id
        )
    elif row.type == InteractionType.APPLICATION_COMMAND and not follows:
        more["interaction"] = Raw(encode(_old_metadata(row)))
    data = await send_message(
        ctx,
        room_of(row, access, room_id),
        bot_of(row),
        draft,
        message_id=message_id,
        answers=original,
        more=more,
    )
    return Posted(message_id, room_id, data, ephemeral, loading)


async def edit_posted(
    ctx: Context, row: InteractionRow, room_id: ChannelId, message_id: MessageId, body: EditMessage, *, at: str = ""
) -> bytes:
    """Change a message of an interaction; one that was loading is there then.

    Raises Refusal: 404/10008, 50035 below `at`, 50006.
    """
    access = await access_of(ctx, row)
    message = await find_posted(ctx, row, room_id, message_id, find=lock_message)
    room = room_of(row, access, room_id)
    fills = bool(message.flags & MessageFlags.LOADING)
    if fills and row.state == InteractionState.DEFERRED:
        await update_interaction(ctx.tx, row.id, state=int(InteractionState.ANSWERED))
    poll = _poll_of(body) if fills else None
    if poll is not None:
        body = structs.replace(body, poll=None)
        message = structs.replace(message, parts=message.parts | MessagePart.POLL)
    form_errors = FormErrors()
    draft = read_edit(
        body,
        layout=is_layout(message.flags) or is_layout(body.flags),
        lookup=await look_up(ctx, access, body.components, sender_for(row)),
        own_files=files_in(ctx, message),
        uploaded=Uploaded.of(ctx, room_id),
        held=await files_of(ctx, message),
        form_errors=form_errors.at(at) if at else form_errors,
    )
    if poll is not None:
        await write_parts(ctx, room, message.id, Draft(content="", poll=poll))
    edited = await edit_message(ctx, room, message, bot_of(row), draft, fills=fills)
    return edited if edited is not None else await show_posted(ctx, row, room_id, message_id)


async def edit_source(ctx: Context, row: InteractionRow, body: EditMessage) -> bytes:
    """Change the message whose component was used, as the answer to that. Raises Refusal: 404/10008, 50035, 50006."""
    if row.source_id is None or row.source_room_id is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return await edit_posted(ctx, row, row.source_room_id, row.source_id, body, at="data")


async def show_posted(ctx: Context, row: InteractionRow, room_id: ChannelId, message_id: MessageId) -> bytes:
    """A message of an interaction, as JSON. Raises Refusal: 404/10008."""
    await find_posted(ctx, row, room_id, message_id)
    found = await message_bytes(ctx.tx, room_id, [message_id], Viewer(bot_of(row)))
    if message_id not in found:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return found[message_id]


async def delete_posted(ctx: Context, row: InteractionRow, room_id: ChannelId, message_id: MessageId) -> None:
    """Remove a message of an interaction. The row declares `MessageDelete`. Raises Refusal: 404/10008."""
    message = await find_posted(ctx, row, room_id, message_id, find=lock_message)
    if message.flags & MessageFlags.LOADING and row.state == InteractionState.DEFERRED:
        await update_interaction(ctx.tx, row.id, state=int(InteractionState.ANSWERED))
    await remove_message(ctx, room_of(row, await access_of(ctx, row), room_id), message)


async def find_posted(
    ctx: Context,
    row: InteractionRow,
    room_id: ChannelId,
    message_id: MessageId,
    *,
    find: Callable[[Any, ChannelId, MessageId], Awaitable[MessageRow | None]] = select_message,
) -> MessageRow:
    """A message that was posted for an interaction, or whose component was used; whoever changes it locks it.

    Raises Refusal: 404/10008.
    """
    message = await find(ctx.tx, room_id, message_id)
    if message is None or (message_id != row.source_id and _posted_for(message) != row.id):
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return message


class _Metadata(Struct):
    id: InteractionId | None = None


class _Posted(Struct):
    interaction_metadata: _Metadata | None = None


_posted = decoder(_Posted)


def _posted_for(message: MessageRow) -> InteractionId | None:
    """The interaction that a message answers."""
    metadata = _posted.decode(message.body).interaction_metadata
    return None if metadata is None else metadata.id


def _poll_of(body: EditMessage) -> PollDraft | None:
    """The poll that a message that was loading gets."""
    if not body.poll:
        return None
    form_errors = FormErrors()
    try:
        poll = read_poll(convert(body.poll, PollInput), form_errors.at("poll"))
    except msgspec.ValidationError:
        return None  # `read_edit` says what is wrong
    form_errors.raise_if_any()
    return poll


async def _answered(ctx: Context, row: InteractionRow, room_id: ChannelId, *, follows: bool) -> MessageRow | None:
    """The message that a message of an interaction answers: one with the component, or the first of several."""
    answered, where = (row.response_id, row.response_room_id) if follows else (row.source_id, row.source_room_id)
    # What others see never shows what one person has seen.
    if answered is None or where is None or (room_id == row.channel_id and where != room_id):
        return None
    return await select_message(ctx.tx, where, answered)


def _type_of(row: InteractionRow, original: MessageRow | None, *, follows: bool) -> MessageType:
    if original is not None:
        return MessageType.REPLY
    if row.type == InteractionType.APPLICATION_COMMAND and not follows:
        return _OF_COMMANDS.get(row.metadata.get("command_type", 1), MessageType.CHAT_INPUT_COMMAND)
    return MessageType.DEFAULT


def _metadata(row: InteractionRow, *, follows: bool) -> dict[str, Any]:
    done = dict(row.metadata)
    if follows and row.response_id is not None:
        done["original_response_message_id"] = str(int(row.response_id))
    return done


def _old_metadata(row: InteractionRow) -> dict[str, Any]:
    """The same as clients read it before there was `interaction_metadata`."""
    return {"id": str(int(row.id)), "type": row.type, "name": row.name or "", "user": row.metadata.get("user")}
