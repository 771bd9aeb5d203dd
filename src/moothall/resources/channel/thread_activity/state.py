"""The state of a thread as its row has it, and who hears of it."""

from typing import Any

from msgspec import structs

from moothall.kernel.channel_access import ChannelAccess, hearers_of_private
from moothall.kernel.context import Context
from moothall.objects.channel import ThreadMetadata
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import UserId
from moothall.objects.wire import convert, to_plain
from moothall.resources.channel.queries import update_channel
from moothall.resources.channel.thread_activity import queries
from moothall.storage.database import Reader
from moothall.storage.rows import ChannelRow, channel_from_row


def metadata_from_row(row: ChannelRow) -> ThreadMetadata:
    """The state of a thread."""
    found: ThreadMetadata = convert({**(row.thread_metadata or {}), "archived": row.archived}, ThreadMetadata)
    return found


def metadata_column(metadata: ThreadMetadata) -> dict[str, Any]:
    """The same as it is stored: whether it is archived stands in a column of its own."""
    return {key: value for key, value in to_plain(metadata).items() if key != "archived"}


async def change_thread(
    ctx: Context, row: ChannelRow, *, archived: bool, metadata: ThreadMetadata, **columns: Any
) -> ChannelRow:
    """Store another state of a thread; its row as it is then."""
    columns["thread_metadata"] = metadata_column(metadata)
    if archived != row.archived:
        columns["archived"] = archived
        columns["archived_at"] = metadata.archive_timestamp if archived else None
    await update_channel(ctx.tx, row.id, **columns)
    return structs.replace(row, **columns)


async def hearers_of(reader: Reader, row: ChannelRow) -> tuple[UserId, ...]:
    """Whom the events of a thread name (`ChannelAccess.hearers`)."""
    if row.type != ChannelType.PRIVATE_THREAD:
        return ()
    return hearers_of_private(await queries.select_member_ids(reader, row.id))


async def thread_access(reader: Reader, parent: ChannelAccess, row: ChannelRow) -> ChannelAccess:
    """A thread of a channel that has been found otherwise than by entering it: the actor may do nothing in it."""
    private = row.type == ChannelType.PRIVATE_THREAD
    members = tuple(await queries.select_member_ids(reader, row.id)) if private else ()
    return ChannelAccess(channel_from_row(row), 0, parent.guild, parent=parent.channel, recipients=members)
