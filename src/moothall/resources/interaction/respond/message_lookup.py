"""Find messages of interactions: responses, followups, and messages whose component was used."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, InteractionId, MessageId
from moothall.objects.wire import decoder
from moothall.resources.interaction.queries import InteractionRow, select_ephemeral
from moothall.resources.interaction.respond.channel import bot_id
from moothall.resources.message.queries import MessageRow, select_message
from moothall.resources.message.rendering import Viewer, message_bytes


class _Metadata(Struct):
    id: InteractionId | None = None


class _StoredMessage(Struct):
    interaction_metadata: _Metadata | None = None


_decoder = decoder(_StoredMessage)


async def get_interaction_message(
    ctx: Context, row: InteractionRow, room_id: ChannelId, message_id: MessageId
) -> bytes:
    """A message of an interaction, as JSON. Raises Refusal: 404/10008."""
    await find_interaction_message(ctx, row, room_id, message_id)
    messages = await message_bytes(ctx.tx, room_id, [message_id], Viewer(bot_id(row)))
    if message_id not in messages:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return messages[message_id]


async def find_interaction_message(
    ctx: Context,
    row: InteractionRow,
    room_id: ChannelId,
    message_id: MessageId,
    *,
    select: Callable[[Any, ChannelId, MessageId], Awaitable[MessageRow | None]] = select_message,
) -> MessageRow:
    """A response or followup of an interaction, or the message whose component was used.

    Pass `select=lock_message` to change it. Raises Refusal: 404/10008.
    """
    message = await select(ctx.tx, room_id, message_id)
    if message is None or (message_id != row.source_id and _interaction_id(message) != row.id):
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return message


async def find_room_id(ctx: Context, row: InteractionRow, message_id: MessageId) -> ChannelId:
    """The room id of a message, which need not be one of the interaction: `find_interaction_message` checks that."""
    if message_id == row.source_id and row.source_room_id is not None:
        return row.source_room_id
    ephemeral = await select_ephemeral(ctx.tx, message_id)
    return row.channel_id if ephemeral is None else ChannelId(ephemeral.interaction_id)


def original_response(row: InteractionRow) -> tuple[ChannelId, MessageId]:
    """The room id and the id of `@original`. Raises Refusal: 404/10008 for a response without a message."""
    if row.response_id is None or row.response_room_id is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return row.response_room_id, row.response_id


async def find_referenced_message(
    ctx: Context, row: InteractionRow, room_id: ChannelId, *, followup: bool
) -> MessageRow | None:
    """The message that a new message refers to: a followup to the original response, else to the source message.

    None if there is none, and for an ephemeral message that a message visible to all would show.
    """
    message_id, message_room_id = (
        (row.response_id, row.response_room_id) if followup else (row.source_id, row.source_room_id)
    )
    if message_id is None or message_room_id is None or (room_id == row.channel_id and message_room_id != room_id):
        return None
    return await select_message(ctx.tx, message_room_id, message_id)


def _interaction_id(message: MessageRow) -> InteractionId | None:
    metadata = _decoder.decode(message.body).interaction_metadata
    return None if metadata is None else metadata.id
