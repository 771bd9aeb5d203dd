"""The `call` of messages of type CALL."""

from collections.abc import Sequence

from moothall.objects.ids import ChannelId, UserId
from moothall.objects.message_types import MessagePart
from moothall.objects.wire import encode
from moothall.resources.call import queries
from moothall.resources.message.extensions import reads_part
from moothall.storage.database import Reader


@reads_part(MessagePart.CALL)
async def read_calls(
    reader: Reader, channel_id: ChannelId, message_ids: Sequence[int], viewer_id: UserId
) -> dict[int, bytes]:
    """Read the `call` of messages, as JSON after a comma, by message id."""
    del viewer_id
    calls = await queries.select_message_calls(reader, channel_id, message_ids)
    return {message_id: b',"call":' + encode(call) for message_id, call in calls.items()}
