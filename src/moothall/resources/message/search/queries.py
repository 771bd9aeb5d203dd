"""The SQL of the message index, for both engines."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Text,
    bindparam,
    cast,
    delete,
    func,
    insert,
    literal_column,
    select,
    tuple_,
)
from sqlalchemy.sql import ClauseElement, ColumnElement

from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.resources.message.search.documents import Document, IndexedMessage
from moothall.resources.message.search.index_query import Node, to_fts5, to_tsquery
from moothall.storage.database import Query, Reader, Transaction, in_list
from moothall.storage.query import ByDialect
from moothall.storage.schema import channels, jobs, message_changes, messages, polls, thread_members, users
from moothall.storage.schema.search import TextQuery, TextVector, message_index_fts, message_index_gin

_replied = messages.alias("replied")
_STORED: Final = (
    messages.c.guild_id,
    messages.c.author_id,
    messages.c.webhook_id,
    messages.c.pinned,
    messages.c.replied_id,
    messages.c.mentions,
    messages.c.body,
    messages.c.parts,
    users.c.bot.label("by_bot"),
    channels.c.type.label("kind"),
    channels.c.parent_id,
    _replied.c.author_id.label("replied_author_id"),
    polls.c.body.label("poll"),
)


def _with_rest(source: Any) -> Any:
    return (
        source.outerjoin(users, users.c.id == messages.c.author_id)
        .outerjoin(channels, channels.c.id == messages.c.channel_id)
        .outerjoin(
            _replied, (_replied.c.channel_id == messages.c.channel_id) & (_replied.c.id == messages.c.replied_id)
        )
        .outerjoin(polls, (polls.c.channel_id == messages.c.channel_id) & (polls.c.message_id == messages.c.id))
    )


_select_changes = Query(
    select(message_changes.c.id, message_changes.c.message_id)
    .order_by(message_changes.c.id)
    .limit(bindparam("maximum"))
)
_select_changed = Query(
    select(messages.c.channel_id, messages.c.id, *_STORED)
    .select_from(
        _with_rest(
            message_changes.join(
                messages,
                (messages.c.channel_id == message_changes.c.channel_id)
                & (messages.c.id == message_changes.c.message_id),
            )
        )
    )
    .where(in_list(message_changes.c.id, "change_ids")),
    into=IndexedMessage,
)
_select_after = Query(
    select(messages.c.channel_id, messages.c.id, *_STORED)
    .select_from(_with_rest(messages))
    .where(
        tuple_(messages.c.channel_id, messages.c.id)
        > tuple_(bindparam("after_channel", type_=BigInteger()), bindparam("after", type_=BigInteger()))
    )
    .order_by(messages.c.channel_id, messages.c.id)
    .limit(bindparam("maximum")),
    into=IndexedMessage,
)
_delete_changes = Query(delete(message_changes).where(in_list(message_changes.c.id, "change_ids")))


def _insert(dialect: str) -> ClauseElement:
    if dialect == "sqlite":
        return (
            insert(message_index_fts)
            .prefix_with("OR REPLACE")
            .values(
                rowid=bindparam("message_id"),
                facets=bindparam("facets"),
                words=bindparam("words"),
                channel_id=bindparam("channel_id"),
            )
        )
    from sqlalchemy.dialects.postgresql import insert as upsert  # noqa: PLC0415 not for those on SQLite

    document = cast(
        bindparam("facets", type_=Text()).concat(" ").concat(bindparam("words", type_=Text())), TextVector()
    )
    statement = upsert(message_index_gin).values(
        message_id=bindparam("message_id"), channel_id=bindparam("channel_id"), document=document
    )
    return statement.on_conflict_do_update(
        index_elements=["message_id"], set_={"document": statement.excluded.document}
    )


def _delete(dialect: str) -> ClauseElement:
    table, key = (
        (message_index_fts, message_index_fts.c.rowid)
        if dialect == "sqlite"
        else (message_index_gin, message_index_gin.c.message_id)
    )
    return delete(table).where(in_list(key, "message_ids"))


def _key(dialect: str) -> tuple[Column[Any], Column[Any], ColumnElement[bool]]:
    """The columns of the message id and the channel id, and the condition of the query."""
    query = bindparam("query", type_=Text())
    if dialect == "sqlite":
        table = message_index_fts
        return table.c.rowid, table.c.channel_id, literal_column("message_index").op("MATCH", is_comparison=True)(query)
    gin = message_index_gin
    return gin.c.message_id, gin.c.channel_id, gin.c.document.op("@@", is_comparison=True)(cast(query, TextQuery()))


def _bounds(key: ColumnElement[Any], *, bounded: bool) -> list[ColumnElement[bool]]:
    # Only if requested: PostgreSQL would scan its index of ids for them.
    return [key > bindparam("min_id"), key < bindparam("max_id")] if bounded else []


def _count(dialect: str, *, bounded: bool) -> ClauseElement:
    key, _, matches = _key(dialect)
    return select(func.count()).select_from(key.table).where(matches, *_bounds(key, bounded=bounded))


def _page(dialect: str, *, bounded: bool, descending: bool, few: bool) -> ClauseElement:
    key, channel_id, matches = _key(dialect)
    # PostgreSQL prefers to scan the ids in order until it has enough rows, which is slow if there are few. A sum is in
    # no index, and so prevents it.
    order: ColumnElement[Any] = key + literal_column("0") if few and dialect == "postgresql" else key
    return (
        select(key.label("message_id"), channel_id.label("channel_id"))
        .where(matches, *_bounds(key, bounded=bounded))
        .order_by(order.desc() if descending else order)
        .limit(bindparam("maximum"))
        .offset(bindparam("offset"))
    )


_insert_document = Query(ByDialect(_insert))
_delete_documents = Query(ByDialect(_delete))
_counts = {bounded: Query(ByDialect(partial(_count, bounded=bounded))) for bounded in (False, True)}
_pages = {
    (bounded, descending, few): Query(ByDialect(partial(_page, bounded=bounded, descending=descending, few=few)))
    for bounded in (False, True)
    for descending in (False, True)
    for few in (False, True)
}


_FEW: Final = 100_000


async def has_changes(reader: Reader) -> bool:
    """Whether there are changes that are not indexed."""
    return bool(await reader.all(_select_changes, maximum=1))


async def select_changes(tx: Transaction, maximum: int) -> list[tuple[int, int]]:
    """Changes that are not indexed, oldest first: (change, message) ids."""
    return [(row[0], row[1]) for row in await tx.all(_select_changes, maximum=maximum)]


async def select_changed(tx: Transaction, change_ids: Sequence[int]) -> list[IndexedMessage]:
    """The messages of changes as they are now; deleted ones are left out."""
    return await tx.all(_select_changed, change_ids=list(change_ids))


async def delete_changes(tx: Transaction, change_ids: Sequence[int]) -> None:
    """Delete changes that are indexed."""
    await tx.execute(_delete_changes, change_ids=list(change_ids))


async def select_after(reader: Reader, after_channel: int, after: int, maximum: int) -> list[IndexedMessage]:
    """Messages in the order of channel and id, after a message."""
    return await reader.all(_select_after, after_channel=after_channel, after=after, maximum=maximum)


async def upsert_documents(tx: Transaction, dialect: str, documents: Sequence[Document]) -> None:
    """Insert or replace index entries."""
    sqlite = dialect == "sqlite"
    await tx.execute_many(
        _insert_document,
        [
            {
                "message_id": int(document.message_id),
                "channel_id": int(document.channel_id),
                "facets": " ".join(document.facets) if sqlite else _lexemes(document.facets),
                "words": " ".join(document.words) if sqlite else _with_positions(document.words),
            }
            for document in documents
        ],
    )


async def delete_documents(tx: Transaction, message_ids: Sequence[int]) -> None:
    """Delete the index entries of messages that have any."""
    await tx.execute(_delete_documents, message_ids=list(message_ids))


def _lexemes(facets: Sequence[str]) -> str:
    return " ".join(f"'={facet}'" for facet in facets)


def _with_positions(words: Sequence[str]) -> str:
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(words, 1):
        positions.setdefault(word, []).append(position)
    return " ".join(f"'{word}':{','.join(map(str, listed))}" for word, listed in positions.items())


Bounds = tuple[int, int]
"""The ids between which results are, both exclusive."""


async def count_hits(reader: Reader, dialect: str, node: Node, bounds: Bounds | None) -> int:
    """The number of results."""
    query, values = _counts[bounds is not None], _values(dialect, node, bounds)
    return int((await reader.all_long(query, **values))[0][0])


async def select_hits(
    reader: Reader,
    dialect: str,
    node: Node,
    bounds: Bounds | None,
    *,
    total: int,
    maximum: int,
    offset: int,
    descending: bool,
) -> list[tuple[int, int]]:
    """A page of the `total` results, newest or oldest first: (message, channel) ids."""
    query = _pages[bounds is not None, descending, total <= _FEW]
    values = _values(dialect, node, bounds)
    return [(row[0], row[1]) for row in await reader.all_long(query, **values, maximum=maximum, offset=offset)]


def _values(dialect: str, node: Node, bounds: Bounds | None) -> dict[str, Any]:
    values: dict[str, Any] = {"query": _text(dialect, node)}
    return values if bounds is None else {**values, "min_id": bounds[0], "max_id": bounds[1]}


def _text(dialect: str, node: Node) -> str:
    return to_fts5(node) if dialect == "sqlite" else to_tsquery(node)


_select_job_state = Query(select(jobs.c.state).where(jobs.c.id == bindparam("job_id")))
_select_private = Query(
    select(channels.c.id, channels.c.parent_id)
    .select_from(thread_members.join(channels, channels.c.id == thread_members.c.thread_id))
    .where(
        thread_members.c.user_id == bindparam("user_id"),
        channels.c.guild_id == bindparam("guild_id"),
        channels.c.type == int(ChannelType.PRIVATE_THREAD),
    )
    .order_by(thread_members.c.thread_id.desc())
    .limit(bindparam("maximum"))
)
_select_bodies = Query(
    select(messages.c.channel_id, messages.c.id, messages.c.body).where(
        in_list(messages.c.channel_id, "channel_ids"), in_list(messages.c.id, "message_ids")
    )
)


async def select_job_state(reader: Reader, job_id: Snowflake) -> str | None:
    """The state of a job as JSON; None if it is finished or does not exist."""
    row = await reader.one(_select_job_state, job_id=job_id)
    return None if row is None else row[0]


async def select_private_threads(
    reader: Reader, guild_id: GuildId, user_id: UserId, maximum: int
) -> list[tuple[ChannelId, ChannelId | None]]:
    """The private threads of a guild that a user is in, newest first: (thread, parent) ids."""
    rows = await reader.all(_select_private, guild_id=guild_id, user_id=user_id, maximum=maximum)
    return [(ChannelId(row[0]), row[1]) for row in rows]


async def select_bodies(reader: Reader, hits: Sequence[tuple[int, int]]) -> dict[int, bytes]:
    """The stored bodies of messages by id; `hits` are (message, channel) ids."""
    rows = await reader.all_long(
        _select_bodies,
        channel_ids=list({channel_id for _, channel_id in hits}),
        message_ids=[message_id for message_id, _ in hits],
    )
    return {row[1]: row[2] for row in rows}
