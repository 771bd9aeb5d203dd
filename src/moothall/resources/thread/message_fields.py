"""Fields of messages about threads: `thread`, and `referenced_message` of starter messages."""

from collections.abc import Sequence

from msgspec import structs

from moothall.authority.channel_queries import select_channel
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.message_types import MessagePart
from moothall.objects.wire import encode
from moothall.resources.channel.objects import channel_objects
from moothall.resources.channel.queries import select_own_memberships
from moothall.resources.message.extensions import reads_part
from moothall.resources.message.rendering import Viewer, message_bytes
from moothall.resources.thread import queries
from moothall.storage.database import Reader
from moothall.storage.rows import channel_from_row


@reads_part(MessagePart.THREAD)
async def read_threads(
    reader: Reader, channel_id: ChannelId, message_ids: Sequence[int], viewer_id: UserId
) -> dict[int, bytes]:
    """Read the `thread` of messages that a thread was started from; it has the message's id."""
    rows = [row for row in await queries.select_threads(reader, message_ids) if row.parent_id == channel_id]
    members = await select_own_memberships(reader, viewer_id, [row.id for row in rows])
    threads = await channel_objects(reader, map(channel_from_row, rows))
    return {
        thread.id: b',"thread":'
        + encode(structs.replace(thread, member=members[thread.id]) if thread.id in members else thread)
        for thread in threads
    }


@reads_part(MessagePart.STARTER, is_text=True)
async def read_starters(
    reader: Reader, channel_id: ChannelId, message_ids: Sequence[int], viewer_id: UserId
) -> dict[int, bytes]:
    """Read the `referenced_message` of starter messages: the message that the thread was started from, or null."""
    row = await select_channel(reader, channel_id)
    starters: dict[int, bytes] = {}
    if row is not None and row.parent_id is not None:
        starters = await message_bytes(reader, row.parent_id, [MessageId(Snowflake(channel_id))], Viewer(viewer_id))
    referenced = b',"referenced_message":' + starters.get(int(channel_id), b"null")
    return dict.fromkeys(message_ids, referenced)
