"""Messages are counted as they are stored."""

from moothall.api.context import Context
from moothall.resources.message.operations.create import MESSAGE_STORED
from moothall.resources.message.stored_message import StoredMessage
from moothall.resources.server_figure.counts import FigureCounts


async def _count_message(ctx: Context, stored: StoredMessage) -> None:
    del stored
    ctx.after_commit.append(ctx.services.resources[FigureCounts].count_message)


MESSAGE_STORED.register(_count_message)
