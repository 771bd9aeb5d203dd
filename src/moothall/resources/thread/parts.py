"""What messages show of threads: the one that was started from them, and the message that one was started from."""

from collections.abc import Sequence

from msgspec import structs

from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.message_types import MessagePart
from moothall.objects.wire import encode
from moothall.resources.channel.objects import channel_objects
from moothall.resources.channel.queries import select_channel, select_own_memberships
from moothall.resources.message.pages import Viewer, message_bytes
from moothall.resources.message.parts import reads_part
from moothall.resources.thread import queries
from moothall.storage.database import Reader
from moothall.storage.rows import channel_from_row


@reads_part(MessagePart.THREAD)
async def read_threads(
    reader: Reader, channel_id: ChannelId, message_ids: Sequence[int], viewer_id: UserId
) -> dict[int, bytes]:
    """The `thread` of messages from which one was started; it has the message's id."""
    rows = [row for row in await queries.select_threads(reader, message_ids) if row.parent_id == channel_id]
    own = await select_own_memberships(reader, viewer_id, [row.id for row in rows])
    threads = await channel_objects(reader, map(channel_from_row, rows))
    return {
        thread.id: b',"thread":'
        + encode(structs.replace(thread, member=own[thread.id]) if thread.id in own else thread)
        for thread in threads
    }


@reads_part(MessagePart.STARTER, is_text=True)
async def read_starters(
    reader: Reader, channel_id: ChannelId, message_ids: Sequence[int], viewer_id: UserId
) -> dict[int, bytes]:
    """The `referenced_message` of the message that a thread begins with: that which it was started from, or null."""
    row = await select_channel(reader, channel_id)
    shown: dict[int, bytes] = {}
    if row is not None and row.parent_id is not None:
        shown = await message_bytes(reader, row.parent_id, [MessageId(Snowflake(channel_id))], Viewer(viewer_id))
    referenced = b',"referenced_message":' + shown.get(int(channel_id), b"null")
    return dict.fromkeys(message_ids, referenced)
