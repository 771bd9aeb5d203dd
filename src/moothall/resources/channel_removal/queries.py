"""The SQL of taking a channel out of everything that hangs on it."""

from sqlalchemy import bindparam, delete, select, update

from moothall.objects.channel_types import THREADS
from moothall.objects.ids import ChannelId
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.rows import ChannelRow
from moothall.storage.schema import channels, webhooks

_THREAD_TYPES = tuple(map(int, THREADS))

_select_children = Query(
    select(channels)
    .where(channels.c.parent_id == bindparam("category_id"), channels.c.type.not_in(_THREAD_TYPES))
    .order_by(channels.c.id),
    into=ChannelRow,
)
_free_children = Query(
    update(channels)
    .where(channels.c.parent_id == bindparam("category_id"), channels.c.type.not_in(_THREAD_TYPES))
    .values(parent_id=None)
)
_delete_webhooks = Query(delete(webhooks).where(webhooks.c.channel_id == bindparam("channel_id")))
_select_thread = Query(
    select(channels.c.id)
    .where(channels.c.parent_id == bindparam("parent_id"), channels.c.type.in_(_THREAD_TYPES))
    .limit(1)
)


async def free_children(tx: Transaction, category_id: ChannelId) -> list[ChannelRow]:
    """Take every channel out of a category; their rows as they are then."""
    rows = await tx.all(_select_children, category_id=category_id)
    if rows:
        await tx.execute(_free_children, category_id=category_id)
    for row in rows:
        row.parent_id = None
    return rows


async def delete_webhooks(tx: Transaction, channel_id: ChannelId) -> int:
    """Remove the webhooks of a channel; how many there were."""
    return await tx.execute(_delete_webhooks, channel_id=channel_id)


async def select_thread(reader: Reader, parent_id: ChannelId) -> ChannelId | None:
    """Some thread of a channel; None once there is none."""
    found: ChannelId | None = await reader.scalar(_select_thread, parent_id=parent_id)
    return found
