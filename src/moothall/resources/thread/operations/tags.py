"""Operation: remove deleted forum tags from threads."""

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from moothall.api.context import Context
from moothall.objects.ids import TagId
from moothall.resources.channel.objects import channel_objects
from moothall.resources.channel.thread_activity.events import ThreadUpdate
from moothall.resources.thread import queries
from moothall.storage.rows import channel_from_row

_BATCH_SIZE: Final = 100


async def remove_tags_from_threads(ctx: Context, tag_ids: Sequence[TagId]) -> bool:
    """Remove tags from up to a hundred threads, and emit THREAD_UPDATE for the active ones.

    Returns whether any thread had one of the tags.
    """
    rows = await queries.select_tagged(ctx.tx, tag_ids, _BATCH_SIZE)
    if not rows:
        return False
    removed = set(map(int, tag_ids))
    changed = [
        structs.replace(row, applied_tags=[tag_id for tag_id in row.applied_tags if int(tag_id) not in removed])
        for row in rows
    ]
    await queries.delete_tags(ctx.tx, changed, tag_ids)
    for thread in await channel_objects(ctx.tx, [channel_from_row(row) for row in changed if not row.archived]):
        if isinstance(thread.guild_id, int) and isinstance(thread.parent_id, int):
            ctx.emit(ThreadUpdate(guild_id=thread.guild_id, channel_id=thread.parent_id, thread=thread))
    return True
