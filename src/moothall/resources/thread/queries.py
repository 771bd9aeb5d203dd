"""The SQL of finding threads."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct
from sqlalchemy import Select, bindparam, delete, func, insert, select, update

from moothall.objects.channel_types import THREADS, ChannelFlags, ChannelType
from moothall.objects.ids import ChannelId, Snowflake, TagId, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.channel.thread_activity.queries import ThreadMemberRow
from moothall.storage.database import Query, Reader, Transaction, in_list
from moothall.storage.rows import ChannelRow
from moothall.storage.schema import channels, thread_members, thread_tags

_THREAD_TYPES = tuple(map(int, THREADS))
_of_parent = channels.c.parent_id == bindparam("parent_id")

_select_archived = Query(
    select(channels)
    .where(_of_parent, channels.c.type == bindparam("type"), channels.c.archived_at < bindparam("before"))
    .order_by(channels.c.archived_at.desc(), channels.c.id.desc())
    .limit(bindparam("maximum")),
    into=ChannelRow,
)
_select_joined_archived = Query(
    select(channels)
    .select_from(thread_members.join(channels, channels.c.id == thread_members.c.thread_id))
    .where(
        thread_members.c.user_id == bindparam("user_id"),
        thread_members.c.thread_id < bindparam("before"),
        _of_parent,
        channels.c.type == int(ChannelType.PRIVATE_THREAD),
        channels.c.archived_at.is_not(None),
    )
    .order_by(thread_members.c.thread_id.desc())
    .limit(bindparam("maximum")),
    into=ChannelRow,
)
_select_threads = Query(
    select(channels).where(in_list(channels.c.id, "thread_ids"), channels.c.type.in_(_THREAD_TYPES)), into=ChannelRow
)
_select_last_started = Query(
    select(func.max(channels.c.id)).where(
        _of_parent,
        channels.c.id > bindparam("since_id"),
        channels.c.owner_id == bindparam("owner_id"),
        channels.c.type.in_(_THREAD_TYPES),
    )
)
_count_pinned = Query(
    select(func.count())
    .select_from(channels)
    .where(
        _of_parent,
        channels.c.archived.is_(False),
        channels.c.type.in_(_THREAD_TYPES),
        channels.c.flags.op("&")(ChannelFlags.PINNED) != 0,
    )
)
_delete_tags = Query(delete(thread_tags).where(thread_tags.c.thread_id == bindparam("thread_id")))
_insert_tag = Query(insert(thread_tags))
_select_tagged = Query(
    select(channels)
    .where(
        channels.c.id.in_(
            select(thread_tags.c.thread_id).where(in_list(thread_tags.c.tag_id, "tag_ids")).limit(bindparam("maximum"))
        )
    )
    .order_by(channels.c.id),
    into=ChannelRow,
)
_set_tags = Query(
    update(channels).where(channels.c.id == bindparam("thread_id")).values(applied_tags=bindparam("left"))
)
_take_tags = Query(
    delete(thread_tags).where(in_list(thread_tags.c.thread_id, "thread_ids"), in_list(thread_tags.c.tag_id, "tag_ids"))
)
_select_member_page = Query(
    select(thread_members)
    .where(thread_members.c.thread_id == bindparam("thread_id"), thread_members.c.user_id > bindparam("after"))
    .order_by(thread_members.c.user_id)
    .limit(bindparam("maximum")),
    into=ThreadMemberRow,
)
_select_any_thread = Query(
    select(channels.c.id)
    .where(channels.c.parent_id == bindparam("parent_id"), channels.c.type.in_(_THREAD_TYPES))
    .limit(1)
)


async def select_member_page(
    reader: Reader, thread_id: ChannelId, after: UserId, maximum: int
) -> list[ThreadMemberRow]:
    """Members of a thread by user id, those above `after`."""
    return await reader.all(_select_member_page, thread_id=thread_id, after=after, maximum=maximum)


async def select_archived(
    reader: Reader, parent_id: ChannelId, kind: int, before: Timestamp, maximum: int
) -> list[ChannelRow]:
    """Archived threads of one type in a channel, the one archived last first."""
    return await reader.all(_select_archived, parent_id=parent_id, type=kind, before=before, maximum=maximum)


async def select_joined_archived(
    reader: Reader, parent_id: ChannelId, user_id: UserId, before: Snowflake, maximum: int
) -> list[ChannelRow]:
    """Archived private threads of a channel that someone is in, newest first."""
    return await reader.all(
        _select_joined_archived, parent_id=parent_id, user_id=user_id, before=before, maximum=maximum
    )


async def select_threads(reader: Reader, thread_ids: Iterable[int]) -> list[ChannelRow]:
    """Those of some ids that are threads."""
    return await reader.all(_select_threads, thread_ids=[Snowflake(thread_id) for thread_id in thread_ids])


async def select_last_started(
    reader: Reader, parent_id: ChannelId, owner_id: UserId, since_id: Snowflake
) -> ChannelId | None:
    """The last thread that somebody started in a channel after an id."""
    found: ChannelId | None = await reader.scalar(
        _select_last_started, parent_id=parent_id, owner_id=owner_id, since_id=since_id
    )
    return found


async def count_pinned(reader: Reader, parent_id: ChannelId) -> int:
    """How many threads are pinned in a forum."""
    return int(await reader.scalar(_count_pinned, parent_id=parent_id))


async def select_tagged(reader: Reader, tag_ids: Sequence[TagId], maximum: int) -> list[ChannelRow]:
    """Some of the threads that have one of some tags."""
    return await reader.all(_select_tagged, tag_ids=list(tag_ids), maximum=maximum)


async def take_tags(tx: Transaction, rows: Sequence[ChannelRow], tag_ids: Sequence[TagId]) -> None:
    """Store what is left of the tags of threads once some are taken from them."""
    await tx.execute_many(_set_tags, [{"thread_id": row.id, "left": row.applied_tags} for row in rows])
    await tx.execute(_take_tags, thread_ids=[row.id for row in rows], tag_ids=list(tag_ids))


async def replace_tags(tx: Transaction, thread_id: ChannelId, tags: Sequence[int]) -> None:
    """Write down by which tags a thread is found."""
    await tx.execute(_delete_tags, thread_id=thread_id)
    if tags:
        await tx.execute_many(_insert_tag, [{"thread_id": thread_id, "tag_id": tag_id} for tag_id in tags])


class ThreadSearch(Struct, frozen=True, kw_only=True):
    """What a search of a channel's public threads asks for."""

    words: tuple[str, ...] = ()
    """Folded for searches; every one stands in the name."""
    tags: tuple[TagId, ...] = ()
    every_tag: bool = False
    """Whether a thread needs all of them, or any."""
    archived: bool | None = None
    min_id: ChannelId | None = None
    max_id: ChannelId | None = None
    order: str = "last_message_time"
    ascending: bool = False
    maximum: int = 25
    offset: int = 0

    def values(self, parent_id: ChannelId) -> dict[str, Any]:
        """The parameters of the queries that `shape` stands for."""
        given: dict[str, Any] = {"parent_id": parent_id}
        given |= {f"word{index}": f"%{_escaped(word)}%" for index, word in enumerate(self.words)}
        if self.tags:
            given["tag_ids"] = list(self.tags)
            if self.every_tag:
                given["tag_count"] = len(self.tags)
        for name in ("archived", "min_id", "max_id"):
            if getattr(self, name) is not None:
                given[name] = getattr(self, name)
        return given


_ORDERS: dict[str, tuple[Any, ...]] = {
    "creation_time": (channels.c.id,),
    "last_message_time": (channels.c.latest_message_id, channels.c.id),
    "archive_time": (func.coalesce(channels.c.archived_at, 0), channels.c.id),
}


class _Shape(NamedTuple):
    """What of a search makes another query of it."""

    words: int
    tagged: bool
    every_tag: bool
    bounds: frozenset[str]
    order: str = ""
    ascending: bool = False


async def search_threads(reader: Reader, parent_id: ChannelId, asked: ThreadSearch) -> tuple[list[ChannelRow], int]:
    """A page of the public threads of a channel that a search finds, and how many it finds in all."""
    values = asked.values(parent_id)
    bounds = frozenset(name for name in ("archived", "min_id", "max_id") if name in values)
    shape = _Shape(len(asked.words), bool(asked.tags), asked.every_tag, bounds)
    total = int(await reader.scalar(_count_found(shape), **values))
    if not total:
        return [], 0
    page = _select_found(shape._replace(order=asked.order, ascending=asked.ascending))
    return await reader.all(page, maximum=asked.maximum, offset=asked.offset, **values), total


@cache
def _count_found(shape: _Shape) -> Query[Any]:
    return Query(_found(select(func.count()).select_from(channels), shape))


@cache
def _select_found(shape: _Shape) -> Query[ChannelRow]:
    by = [column.asc() if shape.ascending else column.desc() for column in _ORDERS[shape.order]]
    found = _found(select(channels), shape).order_by(*by)
    return Query(found.limit(bindparam("maximum")).offset(bindparam("offset")), into=ChannelRow)


def _found(statement: Select[Any], shape: _Shape) -> Select[Any]:
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


async def select_any_thread(reader: Reader, parent_id: ChannelId) -> ChannelId | None:
    """The id of one thread of a channel, whichever comes first; None once there is none."""
    thread_id: ChannelId | None = await reader.scalar(_select_any_thread, parent_id=parent_id)
    return thread_id
