"""What is stored of a poll for good."""

from msgspec import Struct

from moothall.objects.poll import DEFAULT_LAYOUT, PollAnswer, PollMedia
from moothall.objects.wire import decoder
from moothall.resources.message.poll.queries import PollRow


class PollBody(Struct, frozen=True, kw_only=True):
    """What is stored of a poll: all that its message shows but for its expiry and its results."""

    question: PollMedia
    answers: list[PollAnswer]
    allow_multiselect: bool
    layout_type: int = DEFAULT_LAYOUT


_bodies = decoder(PollBody)


def decode_body(row: PollRow) -> PollBody:
    """What a stored poll asks."""
    body: PollBody = _bodies.decode(row.body)
    return body
