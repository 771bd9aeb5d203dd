"""What is done after a channel's end, a little at a time."""

from typing import ClassVar

from moothall.kernel.context import Context
from moothall.kernel.jobs import SETTLED_MS, Job, enqueue, job
from moothall.objects.ids import ChannelId
from moothall.objects.wire import Timestamp
from moothall.resources.channel.queries import delete_channel, select_channel
from moothall.resources.channel_removal import queries
from moothall.resources.guild.queries import delete_some_of_channel
from moothall.resources.invite.queries import delete_channel_invites


@job
class PurgeChannelTree(Job, frozen=True, kw_only=True):
    """Removes the threads of a channel that is gone, and all that was said in them and in the channel.

    Nobody reaches such a thread meanwhile: there is no way to it but through its channel.
    """

    kind: ClassVar[str] = "purge_channel_tree"
    channel_id: ChannelId

    async def step(self, ctx: Context) -> Job | None:
        """Remove some hundred rows."""
        if await select_channel(ctx.tx, self.channel_id) is not None:
            return None  # a thread was started from the same message again
        thread_id = await queries.select_thread(ctx.tx, self.channel_id)
        if thread_id is None:
            if await delete_some_of_channel(ctx.tx, self.channel_id):
                return self
            # Those that were being made while the channel went.
            await queries.delete_webhooks(ctx.tx, self.channel_id)
            await delete_channel_invites(ctx.tx, self.channel_id)
            return None
        if not await delete_some_of_channel(ctx.tx, thread_id):
            await delete_channel(ctx.tx, thread_id)
        return self


async def purge_later(ctx: Context, channel_id: ChannelId, *, again: bool = False) -> None:
    """Enqueue the job that removes what a deleted channel leaves behind, once concurrent transactions are over.

    With `again`, which is for threads, enqueue it for now as well: a thread with the same id may follow soon.
    """
    work = PurgeChannelTree(channel_id=channel_id)
    if again:
        await enqueue(ctx, work)
    await enqueue(ctx, work, at=Timestamp(ctx.now + SETTLED_MS))
