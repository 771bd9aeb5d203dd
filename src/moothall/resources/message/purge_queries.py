"""The SQL that removes what a deleted channel leaves behind, a bounded number of rows at a time."""

from typing import Final

from sqlalchemy import Table, bindparam, delete, select, tuple_

from moothall.objects.ids import ChannelId
from moothall.resources.message.attachment.queries import drop_some_files
from moothall.storage.database import Query, Transaction
from moothall.storage.schema import metadata

MAX_AT_ONCE: Final = 500
"""Rows that one step of a job removes: a few milliseconds."""


def delete_some(table: Table) -> Query[tuple[object, ...]]:
    """The statement that removes at most `MAX_AT_ONCE` rows of an `owner`, the first column of a table's key."""
    owner, *rest = table.primary_key.columns
    if not rest:
        return Query(delete(table).where(owner == bindparam("owner")))
    some = select(*rest).where(owner == bindparam("owner")).limit(MAX_AT_ONCE)
    key = rest[0] if len(rest) == 1 else tuple_(*rest)
    return Query(delete(table).where(owner == bindparam("owner"), key.in_(some)))


def owned_by(*keys: str) -> list[Query[tuple[object, ...]]]:
    """Such statements for every table whose key begins with one of the columns named."""
    # By the schema, so that a table of tomorrow is not forgotten: its key leads with its owner.
    return [
        delete_some(table) for table in metadata.sorted_tables if next(iter(table.primary_key.columns)).name in keys
    ]


_OF_CHANNEL: Final = owned_by("channel_id", "thread_id")


async def delete_some_of_channel(tx: Transaction, channel_id: ChannelId) -> bool:
    """Remove at most some hundred rows of what was said and done in a channel; False once nothing is left."""
    if await drop_some_files(tx, channel_id):
        return True
    for query in _OF_CHANNEL:
        if await tx.execute(query, owner=channel_id):
            return True
    return False
