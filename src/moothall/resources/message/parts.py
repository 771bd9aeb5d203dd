"""What a message has that its stored body cannot tell for good: a poll's votes, a thread's state.

A noun that messages can carry registers how its part is read, so that messages need not know it.
Messages without parts, which nearly all are, cost nothing here.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from moothall.objects.ids import ChannelId, UserId
from moothall.objects.message_types import MessagePart
from moothall.resources.message.queries import ShownRow
from moothall.storage.database import Reader

PartReader = Callable[[Reader, ChannelId, Sequence[int], UserId], Awaitable[dict[int, bytes]]]
"""Given messages of one channel and who looks, the keys that each gets, as JSON after a comma."""

_READERS: dict[MessagePart, PartReader] = {}


def reads_part(part: MessagePart) -> Callable[[PartReader], PartReader]:
    """Register what reads a part, for all messages of a page in one query."""

    def register(reader: PartReader) -> PartReader:
        _READERS[part] = reader
        return reader

    return register


async def encoded_parts(
    reader: Reader, channel_id: ChannelId, rows: Iterable[ShownRow], viewer_id: UserId
) -> dict[int, bytes]:
    """The keys that messages of a channel get besides those of their bodies, each after a comma, by message id."""
    having = [row for row in rows if row[7]]
    found: dict[int, bytes] = {}
    if not having:
        return found
    for part, read in _READERS.items():
        ids = [row[0] for row in having if row[7] & part]
        if ids:
            for message_id, keys in (await read(reader, channel_id, ids, viewer_id)).items():
                found[message_id] = found.get(message_id, b"") + keys
    return found
