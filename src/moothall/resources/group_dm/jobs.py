"""Job: remove the messages of a deleted group direct message."""

from typing import ClassVar

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.ids import ChannelId
from moothall.resources.message.queries.purge import delete_some_of_channel


@job
class PurgeGroup(Job, frozen=True, kw_only=True):
    """Removes the messages of a group direct message that was deleted."""

    kind: ClassVar[str] = "purge_group"
    channel_id: ChannelId

    async def step(self, ctx: Context) -> Job | None:
        """Delete some hundred rows."""
        return self if await delete_some_of_channel(ctx.tx, self.channel_id) else None
