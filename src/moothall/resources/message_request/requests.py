"""Request bodies of message requests."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.objects import limits
from moothall.objects.ids import ChannelId


class UpdateMessageRequest(Struct, frozen=True):
    """The new state of a message request: 2, accepted, is the only one."""

    consent_status: int


class RejectMessageRequests(Struct, frozen=True):
    """The message requests to reject."""

    channel_ids: Annotated[list[ChannelId], Meta(min_length=1, max_length=limits.MESSAGE_REQUESTS_REJECTED_AT_ONCE)]
