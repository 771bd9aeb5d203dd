"""What a message has that its stored body cannot tell for good: a poll's votes, a thread's state.

A noun that messages can carry registers how its part is read, and how it is stored with a new message,
so that messages need not know it. Messages without parts, which nearly all are, cost nothing here.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.message_types import MessagePart
from moothall.resources.message.drafts import Draft
from moothall.storage.database import Reader

PartReader = Callable[[Reader, ChannelId, Sequence[int], UserId], Awaitable[dict[int, bytes]]]
"""Given messages of one channel and who looks, the keys that each gets, as JSON after a comma."""
PartWriter = Callable[[Context, ChannelAccess, MessageId, Draft], Awaitable[None]]
"""Stores what a draft has of a part, with the message that it becomes. Raises Refusal if it may not be sent."""


class _Reading(NamedTuple):
    read: PartReader
    is_text: bool


_READERS: Final[dict[MessagePart, _Reading]] = {}
_WRITERS: Final[dict[MessagePart, PartWriter]] = {}
_NO_USER: Final = UserId(Snowflake(0))


class Parts(Struct, frozen=True):
    """Keys of messages by their id: for those who may read texts, and for the others."""

    whole: dict[int, bytes] = {}
    stripped: dict[int, bytes] = {}


NO_PARTS: Final = Parts()


def reads_part(part: MessagePart, *, is_text: bool = False) -> Callable[[PartReader], PartReader]:
    """Register what reads a part, for all messages of a page in one query.

    What `is_text` is shown only to those who may read the text of a message.
    """

    def register(reader: PartReader) -> PartReader:
        _READERS[part] = _Reading(reader, is_text)
        return reader

    return register


def writes_part(part: MessagePart) -> Callable[[PartWriter], PartWriter]:
    """Register what stores a part of a new message."""

    def register(writer: PartWriter) -> PartWriter:
        _WRITERS[part] = writer
        return writer

    return register


async def write_parts(ctx: Context, access: ChannelAccess, message_id: MessageId, draft: Draft) -> None:
    """Store what a draft has besides its body; the message is there already."""
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
    """The keys that messages of a channel get besides those of their bodies, each after a comma, by message id.

    `having` are ids with the parts of each, `hidden` those whose text the viewer may not read.
    """
    given = [(message_id, parts) for message_id, parts in having if parts]
    found: dict[int, bytes] = {}
    if not given:
        return found
    for part, (read, is_text) in _READERS.items():
        ids = [message_id for message_id, parts in given if parts & part]
        if is_text and hidden:
            ids = [message_id for message_id in ids if message_id not in hidden]
        if ids:
            for message_id, keys in (await read(reader, channel_id, ids, viewer_id)).items():
                found[message_id] = found.get(message_id, b"") + keys
    return found


async def find_parts(reader: Reader, channel_id: ChannelId, having: Sequence[tuple[int, int]]) -> Parts:
    """The parts of messages as everybody hears of them, whoever they are."""
    whole = await encoded_parts(reader, channel_id, having, _NO_USER)
    if not whole:
        return NO_PARTS
    hidden = {message_id for message_id, _ in having}
    return Parts(whole, await encoded_parts(reader, channel_id, having, _NO_USER, hidden=hidden))
