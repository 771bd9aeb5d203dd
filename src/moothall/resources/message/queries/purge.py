"""The SQL that deletes the rows of a deleted channel, a bounded number at a time."""

from typing import Final

from moothall.objects.ids import ChannelId
from moothall.resources.message.attachment.queries import drop_some_files
from moothall.storage.database import Query, Transaction
from moothall.storage.sql import Delete, Table, bindparam, delete, select, tuple_
from moothall.storage.statements.store import table_facts
from moothall.storage.tables import table_named

MAX_AT_ONCE: Final = 500
"""Rows that one step of a job deletes, which takes a few milliseconds."""


def delete_some(table: Table) -> Query[tuple[object, ...]]:
    """The statement that deletes at most `MAX_AT_ONCE` rows of an `owner`, the first column of a primary key."""

    def build() -> Delete:
        owner, *rest = (table.c[name] for name in table_facts()[table.name].key)
        if not rest:
            return delete(table).where(owner == bindparam("owner"))
        some = select(*rest).where(owner == bindparam("owner")).limit(MAX_AT_ONCE)
        key = rest[0] if len(rest) == 1 else tuple_(*rest)
        return delete(table).where(owner == bindparam("owner"), key.in_(some))

    return Query(build)


def owned_by(*keys: str) -> list[Query[tuple[object, ...]]]:
    """The statements of `delete_some` for every table whose primary key begins with one of the columns `keys`."""
    # From the schema, so that tables that are added later are included.
    return [delete_some(table_named(name)) for name, facts in table_facts().items() if facts.key[0] in keys]


_OF_CHANNEL: Final = owned_by("channel_id", "thread_id")


async def delete_some_of_channel(tx: Transaction, channel_id: ChannelId) -> bool:
    """Delete at most some hundred rows of a channel; False once there are none."""
    if await drop_some_files(tx, channel_id):
        return True
    for query in _OF_CHANNEL:
        if await tx.execute(query, owner=channel_id):
            return True
    return False
