"""The SQL of the message index, for both engines."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Struct

from moothall.objects.channel_types import THREADS, ChannelType, type_numbers
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.resources.message.queries.messages import SHOWN_COLUMNS, ShownRow
from moothall.resources.message.search.documents import Document, IndexedMessage
from moothall.resources.message.search.index_query import Node, to_fts5, to_tsquery
from moothall.storage.database import Query, Reader, Transaction, in_list
from moothall.storage.sql import (
    ARRAY,
    BigInteger,
    ClauseElement,
    Column,
    ColumnElement,
    Text,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal_column,
    select,
    table,
    text,
    tuple_,
)
from moothall.storage.statements.statement import ByDialect
from moothall.storage.tables import (
    TextQuery,
    channels,
    jobs,
    message_changes,
    message_index_fts,
    message_index_gin,
    messages,
    polls,
    thread_members,
    users,
)

MAX_COUNTED: Final = 10_000
"""Results are counted up to here, which is as far as pages reach."""

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
    lambda: (
        select(message_changes.c.id, message_changes.c.message_id)
        .order_by(message_changes.c.id)
        .limit(bindparam("maximum"))
    )
)
_select_changed = Query(
    lambda: (
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
        .where(in_list(message_changes.c.id, "change_ids"))
    ),
    into=IndexedMessage,
)
_select_after = Query(
    lambda: (
        select(messages.c.channel_id, messages.c.id, *_STORED)
        .select_from(_with_rest(messages))
        .where(
            tuple_(messages.c.channel_id, messages.c.id)
            > tuple_(bindparam("after_channel", type_=BigInteger()), bindparam("after", type_=BigInteger()))
        )
        .order_by(messages.c.channel_id, messages.c.id)
        .limit(bindparam("maximum"))
    ),
    into=IndexedMessage,
)
_delete_all_changes = Query(lambda: delete(message_changes))
_delete_changes = Query(lambda: delete(message_changes).where(in_list(message_changes.c.id, "change_ids")))


_EMPTY: Final = {
    "sqlite": (
        "INSERT INTO message_index(message_index) VALUES ('delete-all')",
        # Each transaction writes a segment; `optimize` merges all of them once.
        "INSERT INTO message_index(message_index, rank) VALUES ('automerge', 0)",
        "INSERT INTO message_index(message_index, rank) VALUES ('crisismerge', 1000)",
        "INSERT INTO message_index(message_index, rank) VALUES ('hashsize', 268435456)",
    ),
    "postgresql": ("TRUNCATE message_index", "DROP INDEX IF EXISTS ix_message_index_document"),
}
_OPTIMIZE: Final = {
    "sqlite": "INSERT INTO message_index(message_index) VALUES ('optimize')",
    "postgresql": "ANALYZE message_index",
}
_RESTORE: Final = {
    "sqlite": (
        "INSERT INTO message_index(message_index, rank) VALUES ('automerge', 4)",
        "INSERT INTO message_index(message_index, rank) VALUES ('crisismerge', 16)",
        "INSERT INTO message_index(message_index, rank) VALUES ('hashsize', 1048576)",
    ),
    "postgresql": (
        "SET LOCAL maintenance_work_mem = '512MB'",
        (
            "CREATE INDEX IF NOT EXISTS ix_message_index_document ON message_index USING gin (document)"
            " WITH (fastupdate = off)"
        ),
    ),
}


_insert_fts = Query(
    lambda: (
        insert(message_index_fts)
        .prefix_with("OR REPLACE")
        .values(
            rowid=bindparam("message_id"),
            facets=bindparam("facets"),
            words=bindparam("words"),
            channel_id=bindparam("channel_id"),
        )
    )
)
_insert_gin = Query(
    lambda: text(
        "INSERT INTO message_index (message_id, channel_id, document)"
        " SELECT message_id, channel_id, CAST(terms AS TSVECTOR)"
        " FROM unnest(CAST(:message_ids AS BIGINT[]), CAST(:channel_ids AS BIGINT[]), CAST(:terms AS TEXT[]))"
        " AS documents (message_id, channel_id, terms)"
        " ON CONFLICT (message_id) DO UPDATE SET document = excluded.document"
    )
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
    if dialect == "sqlite":
        table = message_index_fts
        matches = literal_column("message_index").op("MATCH", is_comparison=True)(bindparam("query", type_=Text()))
        return table.c.rowid, table.c.channel_id, matches
    gin = message_index_gin
    # A parameter of its type: text would be parsed anew for each row.
    matches = gin.c.document.op("@@", is_comparison=True)(bindparam("query", type_=TextQuery()))
    return gin.c.message_id, gin.c.channel_id, matches


def _bounds(key: ColumnElement[Any], *, bounded: bool) -> list[ColumnElement[bool]]:
    # Only if requested: PostgreSQL would scan its index of ids for them.
    return [key > bindparam("min_id"), key < bindparam("max_id")] if bounded else []


def _matching(dialect: str, columns: tuple[str, ...], *, bounded: bool, within: bool) -> tuple[Any, ColumnElement[Any]]:
    """Select columns of the index entries that match, and the column of their message ids."""
    key, channel_id, matches = _key(dialect)
    known = {"message_id": key.label("message_id"), "channel_id": channel_id.label("channel_id")}
    source: Any = key.table
    conditions = [matches, *_bounds(key, bounded=bounded)]
    if within:
        source = source.join(channels, channels.c.id == channel_id)
        conditions.append(in_list(_OWN_OR_PARENT, "channel_ids"))
    return select(*(known[name] for name in columns)).select_from(source).where(*conditions), key


def _count(dialect: str, *, bounded: bool, within: bool, maximum: int) -> ClauseElement:
    matching, _ = _matching(dialect, ("message_id",), bounded=bounded, within=within)
    # Not a parameter: PostgreSQL takes that for a tenth of the results, and plans to read the table for rare words.
    return select(func.count()).select_from(matching.limit(literal_column(str(maximum))).subquery("matching"))


def _page(dialect: str, *, bounded: bool, within: bool, descending: bool, few: bool) -> ClauseElement:
    matching, key = _matching(dialect, ("message_id", "channel_id"), bounded=bounded, within=within)
    # In the order of ids, an engine reads on until it has enough rows, which is slow if few match. A sum is in no
    # index, and so all are read and sorted.
    order: ColumnElement[Any] = key + literal_column("0") if few else key
    page = (
        matching.order_by(order.desc() if descending else order)
        .limit(bindparam("maximum"))
        .offset(bindparam("offset"))
        .subquery("page")
    )
    if dialect == "sqlite":
        # One row: a thread waits for the interpreter before each.
        return select(func.json_group_array(func.json_array(page.c.message_id, page.c.channel_id)))
    return select(page.c.message_id, page.c.channel_id)


_OWN_OR_PARENT: Final = case((channels.c.type.in_(type_numbers(THREADS)), channels.c.parent_id), else_=channels.c.id)
_delete_documents = Query(lambda: ByDialect(_delete))
_BOTH: Final = (False, True)


def counts_up_to(maximum: int) -> dict[tuple[bool, bool], Query[Any]]:
    """The queries that count the results of a search, at most so many, by its shape."""
    return {
        (bounded, within): Query(ByDialect(partial(_count, bounded=bounded, within=within, maximum=maximum)))
        for bounded in _BOTH
        for within in _BOTH
    }


_counts = counts_up_to(MAX_COUNTED)
_pages = {
    (bounded, within, descending, few): Query(
        ByDialect(partial(_page, bounded=bounded, within=within, descending=descending, few=few))
    )
    for bounded in _BOTH
    for within in _BOTH
    for descending in _BOTH
    for few in _BOTH
}
_count_documents = Query(
    lambda: select(func.count()).select_from(
        select(literal_column("1"))
        .select_from(table("message_index_docsize"))
        .limit(bindparam("maximum"))
        .subquery("documents")
    )
)

_FEW: Final = {"sqlite": 500, "postgresql": MAX_COUNTED - 1}
"""Results that are all read and sorted."""


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
    """Insert or replace index entries, of a message each."""
    if dialect == "sqlite":
        await tx.execute_many(
            _insert_fts,
            [
                {
                    "message_id": int(document.message_id),
                    "channel_id": int(document.channel_id),
                    "facets": " ".join(document.facets),
                    "words": " ".join(document.words),
                }
                # FTS5 writes a segment whenever ids do not ascend.
                for document in sorted(documents, key=_message_id)
            ],
        )
    elif documents:
        await tx.execute(
            _insert_gin,
            message_ids=[int(document.message_id) for document in documents],
            channel_ids=[int(document.channel_id) for document in documents],
            terms=[f"{_lexemes(document.facets)} {_with_positions(document.words)}" for document in documents],
        )


async def empty_index(tx: Transaction, dialect: str) -> None:
    """Delete every index entry and every change, and prepare the index for many entries at once."""
    await tx.execute(_delete_all_changes)
    for statement in _EMPTY[dialect]:
        await tx.execute(Query(text(statement)))


async def restore_index(tx: Transaction, dialect: str) -> None:
    """Prepare the index for searches and single changes, after many entries."""
    for statement in _RESTORE[dialect]:
        await tx.execute(Query(text(statement)))


async def optimize_index(tx: Transaction, dialect: str) -> None:
    """Make searches of a large index as fast as they can be; this takes some seconds for a million messages."""
    await tx.execute(Query(text(_OPTIMIZE[dialect])))


_MERGE_PAGES: Final = 100
"""Pages of the index that one step of merging writes."""
_merge = Query(text("INSERT INTO message_index(message_index, rank) VALUES ('merge', :pages)"))
_total_changes = Query(text("SELECT total_changes()"))


async def merge_index(tx: Transaction, dialect: str, *, begins: bool) -> bool:
    """Rewrite some pages of the index without what is deleted; False once nothing is left to do.

    With `begins` all segments are to be merged into one, else the merge that has begun goes on. PostgreSQL needs none.
    """
    if dialect != "sqlite":
        return False
    before = int(await tx.scalar(_total_changes))
    await tx.execute(_merge, pages=-_MERGE_PAGES if begins else _MERGE_PAGES)
    # One change is the statement's own.
    return int(await tx.scalar(_total_changes)) - before > 1


async def delete_documents(tx: Transaction, message_ids: Sequence[int]) -> None:
    """Delete the index entries of messages that have any."""
    await tx.execute(_delete_documents, message_ids=list(message_ids))


def _message_id(document: Document) -> int:
    return document.message_id


def _lexemes(facets: Sequence[str]) -> str:
    return " ".join(f"'={facet}'" for facet in facets)


def _with_positions(words: Sequence[str]) -> str:
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(words, 1):
        positions.setdefault(word, []).append(position)
    return " ".join(f"'{word}':{','.join(map(str, listed))}" for word, listed in positions.items())


class IndexSearch(Struct, frozen=True):
    """A search of the index."""

    query: str
    """The text of an index query."""
    bounds: tuple[int, int] | None
    """The ids between which results are, both exclusive."""
    channel_ids: tuple[int, ...] | None
    """The channels that results are in, or in threads of; None for no such condition."""

    @classmethod
    def of(
        cls, dialect: str, node: Node, bounds: tuple[int, int] | None, channel_ids: Sequence[int] | None
    ) -> "IndexSearch":
        """The search of a query."""
        text = to_fts5(node) if dialect == "sqlite" else to_tsquery(node)
        return cls(text, bounds, None if channel_ids is None else tuple(map(int, channel_ids)))

    @property
    def shape(self) -> tuple[bool, bool]:
        """What determines the text of its statements."""
        return self.bounds is not None, self.channel_ids is not None

    @property
    def values(self) -> dict[str, object]:
        """The parameters of its statements."""
        values: dict[str, object] = {"query": self.query}
        if self.bounds is not None:
            values |= {"min_id": self.bounds[0], "max_id": self.bounds[1]}
        if self.channel_ids is not None:
            values["channel_ids"] = list(self.channel_ids)
        return values


class HitPage(Struct, frozen=True):
    """A page of results, by time."""

    maximum: int
    offset: int
    descending: bool


async def is_small(reader: Reader, dialect: str, maximum: int) -> bool:
    """Whether the index has fewer entries than a maximum; False on PostgreSQL, where it does not matter."""
    return dialect == "sqlite" and int(await reader.scalar(_count_documents, maximum=maximum)) < maximum


async def count_hits(reader: Reader, search: IndexSearch, *, at_once: bool) -> int:
    """The number of results, at most `MAX_COUNTED`; `at_once` reads a small index without another thread."""
    read = reader.all if at_once else reader.all_long
    return int((await read(_counts[search.shape], **search.values))[0][0])


async def select_hits(
    reader: Reader, dialect: str, search: IndexSearch, page: HitPage, *, total: int, at_once: bool
) -> list[tuple[int, int]]:
    """A page of the `total` results: (message, channel) ids."""
    read = reader.all if at_once else reader.all_long
    query = _pages[(*search.shape, page.descending, total <= _FEW[dialect])]
    rows = await read(query, maximum=page.maximum, offset=page.offset, **search.values)
    return _decode_hits(rows[0][0]) if dialect == "sqlite" else [(row[0], row[1]) for row in rows]


_decode_hits = msgspec.json.Decoder(list[tuple[int, int]]).decode


_select_job_state = Query(lambda: select(jobs.c.state).where(jobs.c.id == bindparam("job_id")))
_select_private = Query(
    lambda: (
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


_HIT_COLUMNS = (messages.c.channel_id, *SHOWN_COLUMNS)


def _select_messages(dialect: str) -> ClauseElement:
    # One lookup for each pair of ids.
    if dialect == "sqlite":
        pairs = func.json_each(bindparam("hits", type_=Text())).table_valued("value", name="hit")
        message_id: Any = literal_column("hit.value ->> 0")
        channel_id: Any = literal_column("hit.value ->> 1")
    else:
        ids = func.unnest(
            bindparam("message_ids", type_=ARRAY(BigInteger())), bindparam("channel_ids", type_=ARRAY(BigInteger()))
        )
        pairs = ids.table_valued("message_id", "channel_id", name="hit").render_derived()
        message_id, channel_id = pairs.c.message_id, pairs.c.channel_id
    same = (messages.c.channel_id == channel_id) & (messages.c.id == message_id)
    return select(*_HIT_COLUMNS).select_from(pairs.join(messages, same))


_select_hit_messages = Query(lambda: ByDialect(_select_messages))


async def select_messages(reader: Reader, dialect: str, hits: Sequence[tuple[int, int]]) -> list[tuple[int, ShownRow]]:
    """What shows the messages of hits that still exist, unordered, each after the id of its channel."""
    values: dict[str, object] = (
        {"hits": msgspec.json.encode(hits).decode()}
        if dialect == "sqlite"
        else {"message_ids": [hit[0] for hit in hits], "channel_ids": [hit[1] for hit in hits]}
    )
    return [(row[0], row[1:]) for row in await reader.all_many(_select_hit_messages, **values)]
