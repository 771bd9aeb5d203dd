"""Threads and their members as objects: metadata, thread members, access."""

from msgspec import UNSET

from moothall.authority.channel_access import ChannelAccess, private_thread_user_ids
from moothall.authority.channel_queries import select_thread_member_ids
from moothall.objects.channel import ThreadMember, ThreadMetadata
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.member import Member
from moothall.objects.wire import convert, to_plain
from moothall.resources.channel.thread_activity.queries import ThreadMemberRow
from moothall.storage.database import Reader
from moothall.storage.rows import ChannelRow, channel_from_row


def metadata_from_row(row: ChannelRow) -> ThreadMetadata:
    """Return the metadata of a thread."""
    metadata: ThreadMetadata = convert({**(row.thread_metadata or {}), "archived": row.archived}, ThreadMetadata)
    return metadata


def metadata_column(metadata: ThreadMetadata) -> JsonObject:
    """Return the value of the column `thread_metadata`, without `archived`, which is a column of its own."""
    return {key: value for key, value in to_plain(metadata).items() if key != "archived"}


async def hearers_of(reader: Reader, row: ChannelRow) -> tuple[UserId, ...]:
    """Return the users that events of a thread name (`ChannelAccess.event_user_ids`)."""
    if row.type != ChannelType.PRIVATE_THREAD:
        return ()
    return private_thread_user_ids(await select_thread_member_ids(reader, row.id))


async def thread_access(reader: Reader, parent: ChannelAccess, row: ChannelRow) -> ChannelAccess:
    """Return the access to a thread, given that to its parent, without permissions."""
    private = row.type == ChannelType.PRIVATE_THREAD
    members = tuple(await select_thread_member_ids(reader, row.id)) if private else ()
    return ChannelAccess(channel_from_row(row), 0, parent.guild, parent=parent.channel, recipients=members)


def thread_member_object(row: ThreadMemberRow, member: Member | None = None, *, own: bool = False) -> ThreadMember:
    """Build a thread member object, with the guild member if there is one; with `own` for the member's own user."""
    return ThreadMember(
        id=row.thread_id,
        user_id=row.user_id,
        join_timestamp=row.join_timestamp,
        flags=row.flags,
        muted=row.muted if own else UNSET,
        mute_config=row.mute_config if own else UNSET,
        member=UNSET if member is None else member,
    )
