"""The SQL of thread lists, searches, tags and member pages."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct

from moothall.objects.channel_types import THREADS, ChannelFlags, ChannelType, type_numbers
from moothall.objects.ids import ChannelId, Snowflake, TagId, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.channel.thread_activity.queries import ThreadMemberRow
from moothall.storage.database import Query, Reader, Transaction, in_list
from moothall.storage.query import Row
from moothall.storage.rows import ChannelRow
from moothall.storage.sql import Select, bindparam, delete, func, insert, select, update
from moothall.storage.tables import channels, thread_members, thread_tags

_THREAD_TYPES = type_numbers(THREADS)
_of_parent = channels.c.parent_id == bindparam("parent_id")

_select_archived = Query(
    lambda: (
        select(channels.c.id)
        .where(_of_parent, channels.c.type == bindparam("type"), channels.c.archived_at < bindparam("before"))
        .order_by(channels.c.archived_at.desc(), channels.c.id.desc())
        .limit(bindparam("maximum"))
    )
)
_select_joined_archived = Query(
    lambda: (
        select(channels.c.id)
        .select_from(thread_members.join(channels, channels.c.id == thread_members.c.thread_id))
        .where(
            thread_members.c.user_id == bindparam("user_id"),
            thread_members.c.thread_id < bindparam("before"),
            _of_parent,
            channels.c.type == int(ChannelType.PRIVATE_THREAD),
            channels.c.archived_at.is_not(None),
        )
        .order_by(thread_members.c.thread_id.desc())
        .limit(bindparam("maximum"))
    )
)
_select_threads = Query(
    lambda: select(channels).where(in_list(channels.c.id, "thread_ids"), channels.c.type.in_(_THREAD_TYPES)),
    into=ChannelRow,
)
_select_last_started = Query(
    lambda: select(func.max(channels.c.id)).where(
        _of_parent,
        channels.c.id > bindparam("since_id"),
        channels.c.owner_id == bindparam("owner_id"),
        channels.c.type.in_(_THREAD_TYPES),
    )
)
_count_pinned = Query(
    lambda: (
        select(func.count())
        .select_from(channels)
        .where(
            _of_parent,
            channels.c.archived.is_(False),
            channels.c.type.in_(_THREAD_TYPES),
            channels.c.flags.op("&")(ChannelFlags.PINNED) != 0,
        )
    )
)
_delete_tags = Query(lambda: delete(thread_tags).where(thread_tags.c.thread_id == bindparam("thread_id")))
_insert_tag = Query(lambda: insert(thread_tags))
_select_tagged = Query(
    lambda: (
        select(channels)
        .where(
            channels.c.id.in_(
                select(thread_tags.c.thread_id)
                .where(in_list(thread_tags.c.tag_id, "tag_ids"))
                .limit(bindparam("maximum"))
            )
        )
        .order_by(channels.c.id)
    ),
    into=ChannelRow,
)
_set_tags = Query(
    lambda: update(channels).where(channels.c.id == bindparam("thread_id")).values(applied_tags=bindparam("left"))
)
_delete_some_tags = Query(
    lambda: delete(thread_tags).where(
        in_list(thread_tags.c.thread_id, "thread_ids"), in_list(thread_tags.c.tag_id, "tag_ids")
    )
)
_select_member_page = Query(
    lambda: (
        select(thread_members)
        .where(thread_members.c.thread_id == bindparam("thread_id"), thread_members.c.user_id > bindparam("after"))
        .order_by(thread_members.c.user_id)
        .limit(bindparam("maximum"))
    ),
    into=ThreadMemberRow,
)
_select_one_thread_id = Query(
    lambda: (
        select(channels.c.id)
        .where(channels.c.parent_id == bindparam("parent_id"), channels.c.type.in_(_THREAD_TYPES))
        .limit(1)
    )
)


async def select_member_page(
    reader: Reader, thread_id: ChannelId, after: UserId, maximum: int
) -> list[ThreadMemberRow]:
    """Select a page of members of a thread by user id, those above `after`."""
    return await reader.all(_select_member_page, thread_id=thread_id, after=after, maximum=maximum)


async def select_archived(
    reader: Reader, parent_id: ChannelId, kind: int, before: Timestamp, maximum: int
) -> list[ChannelId]:
    """Select the ids of archived threads of one type in a channel, latest archived first."""
    return _ids(await reader.all(_select_archived, parent_id=parent_id, type=kind, before=before, maximum=maximum))


async def select_joined_archived(
    reader: Reader, parent_id: ChannelId, user_id: UserId, before: Snowflake, maximum: int
) -> list[ChannelId]:
    """Select the ids of archived private threads of a channel that a user is in, newest first."""
    return _ids(
        await reader.all(_select_joined_archived, parent_id=parent_id, user_id=user_id, before=before, maximum=maximum)
    )


def _ids(rows: list[tuple[Any, ...]]) -> list[ChannelId]:
    return [ChannelId(Snowflake(row[0])) for row in rows]


async def select_threads(reader: Reader, thread_ids: Iterable[int]) -> list[ChannelRow]:
    """Select the rows of those ids that are threads."""
    return await reader.all(_select_threads, thread_ids=[Snowflake(thread_id) for thread_id in thread_ids])


async def select_last_started(
    reader: Reader, parent_id: ChannelId, owner_id: UserId, since_id: Snowflake
) -> ChannelId | None:
    """Select the newest thread above an id that a user started in a channel."""
    thread_id: ChannelId | None = await reader.scalar(
        _select_last_started, parent_id=parent_id, owner_id=owner_id, since_id=since_id
    )
    return thread_id


async def count_pinned(reader: Reader, parent_id: ChannelId) -> int:
    """Count the active pinned threads of a forum."""
    return int(await reader.scalar(_count_pinned, parent_id=parent_id))


async def select_tagged(reader: Reader, tag_ids: Sequence[TagId], maximum: int) -> list[ChannelRow]:
    """Select up to `maximum` threads that have any of the tags."""
    return await reader.all(_select_tagged, tag_ids=list(tag_ids), maximum=maximum)


async def delete_tags(tx: Transaction, rows: Sequence[ChannelRow], tag_ids: Sequence[TagId]) -> None:
    """Delete tags of threads, whose rows have the remaining `applied_tags`."""
    await tx.execute_many(_set_tags, [{"thread_id": row.id, "left": row.applied_tags} for row in rows])
    await tx.execute(_delete_some_tags, thread_ids=[row.id for row in rows], tag_ids=list(tag_ids))


async def replace_tags(tx: Transaction, thread_id: ChannelId, tags: Sequence[int]) -> None:
    """Replace the tags by which searches find a thread."""
    await tx.execute(_delete_tags, thread_id=thread_id)
    if tags:
        await tx.execute_many(_insert_tag, [{"thread_id": thread_id, "tag_id": tag_id} for tag_id in tags])


class ThreadSearch(Struct, frozen=True, kw_only=True):
    """The parameters of a search among a channel's public threads."""

    words: tuple[str, ...] = ()
    """Normalized; the name contains each of them."""
    tags: tuple[TagId, ...] = ()
    every_tag: bool = False
    """Whether a thread must have all tags rather than any."""
    archived: bool | None = None
    min_id: ChannelId | None = None
    max_id: ChannelId | None = None
    order: str = "last_message_time"
    ascending: bool = False
    maximum: int = 25
    offset: int = 0

    def values(self, parent_id: ChannelId) -> dict[str, object]:
        """Return the parameters of the SQL query."""
        values: dict[str, object] = {"parent_id": parent_id}
        values |= {f"word{index}": f"%{_escaped(word)}%" for index, word in enumerate(self.words)}
        if self.tags:
            values["tag_ids"] = list(self.tags)
            if self.every_tag:
                values["tag_count"] = len(self.tags)
        for name in ("archived", "min_id", "max_id"):
            if getattr(self, name) is not None:
                values[name] = getattr(self, name)
        return values


_ORDERS: dict[str, tuple[Any, ...]] = {
    "creation_time": (channels.c.id,),
    "last_message_time": (channels.c.latest_message_id, channels.c.id),
    "archive_time": (func.coalesce(channels.c.archived_at, 0), channels.c.id),
}


class _QueryShape(NamedTuple):
    """The parts of a search that determine the text of its query."""

    words: int
    tagged: bool
    every_tag: bool
    bounds: frozenset[str]
    order: str = ""
    ascending: bool = False


async def search_threads(reader: Reader, parent_id: ChannelId, search: ThreadSearch) -> tuple[list[ChannelId], int]:
    """Select the ids of a page of search results among the public threads of a channel, and count all results."""
    values = search.values(parent_id)
    bounds = frozenset(name for name in ("archived", "min_id", "max_id") if name in values)
    shape = _QueryShape(len(search.words), bool(search.tags), search.every_tag, bounds)
    # Both read many rows of a large forum.
    total = int((await reader.all_long(_count_query(shape), **values))[0][0])
    if not total:
        return [], 0
    page = _page_query(shape._replace(order=search.order, ascending=search.ascending))
    return _ids(await reader.all_long(page, maximum=search.maximum, offset=search.offset, **values)), total


@cache
def _count_query(shape: _QueryShape) -> Query[Row]:
    return Query(_matching(select(func.count()).select_from(channels), shape))


@cache
def _page_query(shape: _QueryShape) -> Query[Row]:
    order = [column.asc() if shape.ascending else column.desc() for column in _ORDERS[shape.order]]
    page = _matching(select(channels.c.id), shape).order_by(*order)
    return Query(page.limit(bindparam("maximum")).offset(bindparam("offset")))


def _matching(statement: Select[Any], shape: _QueryShape) -> Select[Any]:
    kinds = (int(ChannelType.PUBLIC_THREAD), int(ChannelType.ANNOUNCEMENT_THREAD))
    statement = statement.where(_of_parent, channels.c.type.in_(kinds))
    for index in range(shape.words):
        statement = statement.where(channels.c.name_key.like(bindparam(f"word{index}"), escape="\\"))
    if shape.tagged:
        having = select(thread_tags.c.thread_id).where(in_list(thread_tags.c.tag_id, "tag_ids"))
        if shape.every_tag:
            having = having.group_by(thread_tags.c.thread_id).having(func.count() == bindparam("tag_count"))
        statement = statement.where(channels.c.id.in_(having))
    if "archived" in shape.bounds:
        statement = statement.where(channels.c.archived == bindparam("archived"))
    if "min_id" in shape.bounds:
        statement = statement.where(channels.c.id >= bindparam("min_id"))
    if "max_id" in shape.bounds:
        statement = statement.where(channels.c.id <= bindparam("max_id"))
    return statement


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


async def select_one_thread_id(reader: Reader, parent_id: ChannelId) -> ChannelId | None:
    """Select the id of any thread of a channel; None if there is none."""
    thread_id: ChannelId | None = await reader.scalar(_select_one_thread_id, parent_id=parent_id)
    return thread_id
