"""The parts of messages that are not in their stored body: polls, and the threads started from them.

A room whose objects messages carry registers how its part is read and stored, so that messages need not import it.
For messages without parts, which are nearly all, nothing is read.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.objects.ids import NO_USER, ChannelId, MessageId, UserId
from moothall.objects.message_types import MessagePart
from moothall.resources.message.drafts import Draft
from moothall.storage.database import Reader

PartReader = Callable[[Reader, ChannelId, Sequence[int], UserId], Awaitable[dict[int, bytes]]]
"""From messages of one channel and a viewer: the keys that each message gets, as JSON after a comma, by id."""
PartWriter = Callable[[Context, ChannelAccess, MessageId, Draft], Awaitable[None]]
"""Stores the part of a draft with its message. Raises Refusal if the sender may not send it."""


class _Reading(NamedTuple):
    read: PartReader
    is_text: bool


_READERS: Final[dict[MessagePart, _Reading]] = {}
_WRITERS: Final[dict[MessagePart, PartWriter]] = {}


class Fragments(Struct, frozen=True):
    """The keys that parts add to messages, as JSON after a comma, by message id."""

    whole: dict[int, bytes] = {}
    """For those who may read the text."""
    stripped: dict[int, bytes] = {}
    """For those who may not."""


NO_FRAGMENTS: Final = Fragments()


def reads_part(part: MessagePart, *, is_text: bool = False) -> Callable[[PartReader], PartReader]:
    """Register the reader of a part, which reads it for all messages of a page in one query.

    With `is_text` it is only shown to those who may read the text of a message.
    """

    def register(reader: PartReader) -> PartReader:
        _READERS[part] = _Reading(reader, is_text)
        return reader

    return register


def writes_part(part: MessagePart) -> Callable[[PartWriter], PartWriter]:
    """Register the writer of a part of new messages."""

    def register(writer: PartWriter) -> PartWriter:
        _WRITERS[part] = writer
        return writer

    return register


async def write_parts(ctx: Context, access: ChannelAccess, message_id: MessageId, draft: Draft) -> None:
    """Store the parts of a draft; its message is stored already."""
    for part, write in _WRITERS.items():
        if draft.parts & part:
            await write(ctx, access, message_id, draft)


async def encoded_parts(
    reader: Reader,
    channel_id: ChannelId,
    having: Iterable[tuple[int, int]],
    viewer_id: UserId,
    *,
    hidden: Collection[int] = (),
) -> dict[int, bytes]:
    """The keys that parts add to messages of a channel for a viewer, as JSON after a comma, by message id.

    `having` are message ids with their `MessagePart` bits, `hidden` the ids of messages whose text the viewer may
    not read.
    """
    with_parts = [(message_id, parts) for message_id, parts in having if parts]
    encoded: dict[int, bytes] = {}
    if not with_parts:
        return encoded
    for part, (read, is_text) in _READERS.items():
        ids = [message_id for message_id, parts in with_parts if parts & part]
        if is_text and hidden:
            ids = [message_id for message_id in ids if message_id not in hidden]
        if ids:
            for message_id, keys in (await read(reader, channel_id, ids, viewer_id)).items():
                encoded[message_id] = encoded.get(message_id, b"") + keys
    return encoded


async def read_fragments(reader: Reader, channel_id: ChannelId, having: Sequence[tuple[int, int]]) -> Fragments:
    """The fragments of messages in events, which are the same for every recipient."""
    whole = await encoded_parts(reader, channel_id, having, NO_USER)
    if not whole:
        return NO_FRAGMENTS
    hidden = {message_id for message_id, _ in having}
    return Fragments(whole, await encoded_parts(reader, channel_id, having, NO_USER, hidden=hidden))
