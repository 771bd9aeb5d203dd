"""The SQL of threads."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from sqlalchemy import bindparam, false, select

from moothall.objects.channel import ThreadMember
from moothall.objects.channel_types import THREADS
from moothall.objects.ids import ChannelId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.rows import ChannelRow
from moothall.storage.schema import channels, thread_members


class _ThreadMemberRow(Struct):
    thread_id: ChannelId
    user_id: UserId
    join_timestamp: Timestamp
    flags: int


_select_active = Query(
    select(channels)
    .where(
        in_list(channels.c.parent_id, "parent_ids"),
        channels.c.archived == false(),
        channels.c.type.in_(tuple(map(int, THREADS))),
    )
    .order_by(channels.c.id.desc()),
    into=ChannelRow,
)
_select_own = Query(
    select(thread_members).where(
        in_list(thread_members.c.thread_id, "thread_ids"), thread_members.c.user_id == bindparam("user_id")
    ),
    into=_ThreadMemberRow,
)


async def select_active(reader: Reader, parent_ids: Iterable[int]) -> list[ChannelRow]:
    """The threads of some channels that are not archived, newest first."""
    wanted = [ChannelId(Snowflake(parent_id)) for parent_id in parent_ids]
    return await reader.all(_select_active, parent_ids=wanted) if wanted else []


async def select_own_memberships(
    reader: Reader, user_id: UserId, thread_ids: Sequence[ChannelId]
) -> dict[ChannelId, ThreadMember]:
    """Someone's own membership of those of some threads that they are in."""
    if not thread_ids:
        return {}
    rows = await reader.all(_select_own, user_id=user_id, thread_ids=thread_ids)
    return {
        row.thread_id: ThreadMember(
            id=row.thread_id, user_id=row.user_id, join_timestamp=row.join_timestamp, flags=row.flags
        )
        for row in rows
    }
