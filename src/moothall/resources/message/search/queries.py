"""The SQL of the index of messages: one text for each engine."""

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
from moothall.resources.message.search.documents import Document, Stored
from moothall.resources.message.search.wanted import Node, to_fts5, to_tsquery
from moothall.storage.database import Query, Reader, Transaction, in_list
from moothall.storage.query import ByDialect
from moothall.storage.rows import ChannelRow
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
    into=Stored,
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
    into=Stored,
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
    """The columns of the message's id and the channel's, and what the query is."""
    query = bindparam("query", type_=Text())
    if dialect == "sqlite":
        table = message_index_fts
        return table.c.rowid, table.c.channel_id, literal_column("message_index").op("MATCH", is_comparison=True)(query)
    gin = message_index_gin
    return gin.c.message_id, gin.c.channel_id, gin.c.document.op("@@", is_comparison=True)(cast(query, TextQuery()))


def _bounds(key: ColumnElement[Any], *, bounded: bool) -> list[ColumnElement[bool]]:
    # Only where they are asked for: PostgreSQL would read its index of ids from end to end for them.
    return [key > bindparam("min_id"), key < bindparam("max_id")] if bounded else []


def _count(dialect: str, *, bounded: bool) -> ClauseElement:
    key, _, matches = _key(dialect)
    return select(func.count()).select_from(key.table).where(matches, *_bounds(key, bounded=bounded))


def _page(dialect: str, *, bounded: bool, descending: bool, few: bool) -> ClauseElement:
    key, channel_id, matches = _key(dialect)
    # PostgreSQL likes to go through the ids in their order until it has found enough, which of few it never has:
    # a sum is in no index.
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
    """Whether the index is behind."""
    return bool(await reader.all(_select_changes, maximum=1))


async def select_changes(tx: Transaction, maximum: int) -> list[tuple[int, int]]:
    """What the index has not followed yet, oldest first: number of the change, message."""
    return [(row[0], row[1]) for row in await tx.all(_select_changes, maximum=maximum)]


async def select_changed(tx: Transaction, change_ids: Sequence[int]) -> list[Stored]:
    """The messages of some changes as they are now; those that are gone are left out."""
    return await tx.all(_select_changed, change_ids=list(change_ids))


async def delete_changes(tx: Transaction, change_ids: Sequence[int]) -> None:
    """Forget changes that the index has followed."""
    await tx.execute(_delete_changes, change_ids=list(change_ids))


async def select_after(reader: Reader, after_channel: int, after: int, maximum: int) -> list[Stored]:
    """Messages by channel and id, those after a place in that order."""
    return await reader.all(_select_after, after_channel=after_channel, after=after, maximum=maximum)


async def put_documents(tx: Transaction, dialect: str, documents: Sequence[Document]) -> None:
    """Enter messages into the index, or anew."""
    sqlite = dialect == "sqlite"
    await tx.execute_many(
        _insert_document,
        [
            {
                "message_id": int(document.message_id),
                "channel_id": int(document.channel_id),
                "facets": " ".join(document.facets) if sqlite else _lexemes(document.facets),
                "words": " ".join(document.words) if sqlite else _placed(document.words),
            }
            for document in documents
        ],
    )


async def delete_documents(tx: Transaction, message_ids: Sequence[int]) -> None:
    """Take messages out of the index; those that are not in it are none of its business."""
    await tx.execute(_delete_documents, message_ids=list(message_ids))


def _lexemes(facets: Sequence[str]) -> str:
    return " ".join(f"'={facet}'" for facet in facets)


def _placed(words: Sequence[str]) -> str:
    accesses: dict[str, list[int]] = {}
    for access, word in enumerate(words, 1):
        accesses.setdefault(word, []).append(access)
    return " ".join(f"'{word}':{','.join(map(str, listed))}" for word, listed in accesses.items())


Bounds = tuple[int, int]
"""The ids between which messages are looked for; they themselves are not found."""


async def count_found(reader: Reader, dialect: str, wanted: Node, bounds: Bounds | None) -> int:
    """How many messages a search finds."""
    query, values = _counts[bounds is not None], _values(dialect, wanted, bounds)
    return int((await reader.all_long(query, **values))[0][0])


async def select_found(
    reader: Reader,
    dialect: str,
    wanted: Node,
    bounds: Bounds | None,
    *,
    total: int,
    maximum: int,
    offset: int,
    descending: bool,
) -> list[tuple[int, int]]:
    """A page of the `total` that a search finds, newest or oldest first: message, channel."""
    query = _pages[bounds is not None, descending, total <= _FEW]
    values = _values(dialect, wanted, bounds)
    return [(row[0], row[1]) for row in await reader.all_long(query, **values, maximum=maximum, offset=offset)]


def _values(dialect: str, wanted: Node, bounds: Bounds | None) -> dict[str, Any]:
    values: dict[str, Any] = {"query": _text(dialect, wanted)}
    return values if bounds is None else {**values, "min_id": bounds[0], "max_id": bounds[1]}


def _text(dialect: str, wanted: Node) -> str:
    return to_fts5(wanted) if dialect == "sqlite" else to_tsquery(wanted)


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
_select_channels = Query(select(channels).where(in_list(channels.c.id, "channel_ids")), into=ChannelRow)
_select_bodies = Query(
    select(messages.c.channel_id, messages.c.id, messages.c.body).where(
        in_list(messages.c.channel_id, "channel_ids"), in_list(messages.c.id, "message_ids")
    )
)


async def select_job_state(reader: Reader, job_id: Snowflake) -> str | None:
    """The fields of the job with an id, as JSON; None if it is done or was never there."""
    row = await reader.one(_select_job_state, job_id=job_id)
    return None if row is None else row[0]


async def select_private_threads(
    reader: Reader, guild_id: GuildId, user_id: UserId, maximum: int
) -> list[tuple[ChannelId, ChannelId | None]]:
    """The private threads of a guild that somebody is in, newest first: thread, parent."""
    rows = await reader.all(_select_private, guild_id=guild_id, user_id=user_id, maximum=maximum)
    return [(ChannelId(row[0]), row[1]) for row in rows]


async def select_channels(reader: Reader, channel_ids: Sequence[int]) -> list[ChannelRow]:
    """Channels and threads by id, in no order."""
    return await reader.all(_select_channels, channel_ids=list(channel_ids))


async def select_bodies(reader: Reader, found: Sequence[tuple[int, int]]) -> dict[int, bytes]:
    """The stored bodies of messages that were found, by message."""
    rows = await reader.all_long(
        _select_bodies,
        channel_ids=list({channel_id for _, channel_id in found}),
        message_ids=[message_id for message_id, _ in found],
    )
    return {row[1]: row[2] for row in rows}
