"""Ending polls when their duration is over."""

from typing import ClassVar

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.ids import ChannelId, MessageId
from moothall.resources.message.poll.ending import end_expired_poll


@job
class EndPoll(Job, frozen=True, kw_only=True):
    """Ends a poll that has not ended."""

    kind: ClassVar[str] = "end_poll"
    channel_id: ChannelId
    message_id: MessageId

    async def step(self, ctx: Context) -> Job | None:
        """End the poll."""
        await end_expired_poll(ctx, self.channel_id, self.message_id)
        return None
