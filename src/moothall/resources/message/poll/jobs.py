"""What is done when the time of a poll is over."""

from typing import ClassVar

from moothall.kernel.context import Context
from moothall.kernel.jobs import Job, job
from moothall.objects.ids import ChannelId, MessageId
from moothall.resources.message.poll.operations import end_in_time


@job
class EndPoll(Job, frozen=True, kw_only=True):
    """Ends a poll, if it is there and not ended yet."""

    kind: ClassVar[str] = "end_poll"
    channel_id: ChannelId
    message_id: MessageId

    async def step(self, ctx: Context) -> Job | None:
        """End it."""
        await end_in_time(ctx, self.channel_id, self.message_id)
        return None
