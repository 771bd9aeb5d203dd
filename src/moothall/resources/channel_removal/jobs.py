"""What is done after a channel's end, a little at a time."""

from typing import ClassVar

from moothall.kernel.context import Context
from moothall.kernel.jobs import Job, job
from moothall.objects.ids import ChannelId
from moothall.resources.channel.queries import delete_channel
from moothall.resources.channel_removal import queries
from moothall.resources.guild.queries import delete_some_of_channel


@job
class PurgeChannelTree(Job, frozen=True, kw_only=True):
    """Removes the threads of a channel that is gone, and all that was said in them and in the channel.

    Nobody reaches such a thread meanwhile: there is no way to it but through its channel.
    """

    kind: ClassVar[str] = "purge_channel_tree"
    channel_id: ChannelId

    async def step(self, ctx: Context) -> Job | None:
        """Remove some hundred rows."""
        thread_id = await queries.select_thread(ctx.tx, self.channel_id)
        if thread_id is None:
            return self if await delete_some_of_channel(ctx.tx, self.channel_id) else None
        if not await delete_some_of_channel(ctx.tx, thread_id):
            await delete_channel(ctx.tx, thread_id)
        return self
