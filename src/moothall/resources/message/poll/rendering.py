"""The `poll` of messages."""

from collections.abc import Sequence

from moothall.objects.ids import ChannelId, UserId
from moothall.objects.message_types import MessagePart
from moothall.objects.poll import PollAnswerCount, PollResults
from moothall.objects.wire import Timestamp, encode
from moothall.resources.message.extensions import reads_part
from moothall.resources.message.poll import queries
from moothall.storage.database import Reader


@reads_part(MessagePart.POLL, is_text=True)
async def encoded_polls(
    reader: Reader, channel_id: ChannelId, message_ids: Sequence[int], viewer_id: UserId
) -> dict[int, bytes]:
    """The `poll` of messages for a viewer, as JSON after a comma, by message id."""
    bodies: dict[int, tuple[str, int, int]] = {}
    counts: dict[int, list[PollAnswerCount]] = {}
    for row in await queries.select_shown(reader, channel_id, message_ids, viewer_id):
        message_id, body, expires_at, ended, answer_id, count, me = row
        bodies[message_id] = body, expires_at, ended
        listed = counts.setdefault(message_id, [])
        if answer_id is not None and count is not None:
            listed.append(PollAnswerCount(id=answer_id, count=count, me_voted=me is not None))
    return {
        message_id: b',"poll":%b,"expiry":%b,"results":%b}'
        % (
            body.encode()[:-1],
            encode(Timestamp(expires_at)),
            encode(PollResults(answer_counts=counts[message_id], is_finalized=bool(ended))),
        )
        for message_id, (body, expires_at, ended) in bodies.items()
    }
