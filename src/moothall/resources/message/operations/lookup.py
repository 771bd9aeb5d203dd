"""Stored messages that an operation acts on, or 404."""

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, MessageId
from moothall.resources.message import queries
from moothall.resources.message.queries import MessageRow


async def get_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> MessageRow:
    """A message of a channel. Raises Refusal: 404/10008."""
    return _require(await queries.select_message(ctx.tx, channel_id, message_id))


async def lock_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> MessageRow:
    """A message of a channel, locked against changes until the transaction ends. Raises Refusal: 404/10008."""
    return _require(await queries.lock_message(ctx.tx, channel_id, message_id))


async def lock_message_shared(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> MessageRow:
    """A message of a channel, locked against deletion until the transaction ends. Raises Refusal: 404/10008.

    Any number of transactions may have this lock at once.
    """
    return _require(await queries.lock_message_shared(ctx.tx, channel_id, message_id))


def _require(row: MessageRow | None) -> MessageRow:
    if row is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return row
