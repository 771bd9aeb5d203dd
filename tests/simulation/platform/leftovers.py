"""What is on the disk of things that are deleted: no row names a channel, guild, role or message that is not there.

The API cannot show it: it finds no channel for an invite whose channel is gone.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import apsw

from tests.simulation.disk import Disk

_NAMED: Final = {
    "channel_id": "channels",
    "thread_id": "channels",
    "guild_id": "guilds",
    "role_id": "roles",
    "message_id": "messages",
}
"""Columns with ids, and the tables of what they name."""
_RESTORABLE: Final = {"guilds": " UNION SELECT id FROM deleted_guilds"}
"""Where else such a thing may be that operators have deleted, for as long as they may restore it."""
_KEPT: Final = frozenset(
    {
        ("message_nonces", "message_id"),
        ("dismissed_mentions", "message_id"),
        ("attachments", "channel_id"),
        ("attachments", "message_id"),
    }
)
"""Columns that may name something else: nonces and dismissed mentions are forgotten when their time is over, and
attachments of Activities are of their application."""


def leftovers(disk: Disk, database: str) -> Iterator[str]:
    """The columns of a database on a disk that name what does not exist, with the number of such rows.

    No process may use the disk.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, file in disk.files.items():
            (Path(folder) / name).write_bytes(file.platter)
        connection = apsw.Connection(str(Path(folder) / database))
        tables = connection.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
        columns = [
            (str(table), str(column))
            for (table,) in tables.fetchall()
            for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        ]
        yield from absent(columns, lambda text: int(str(connection.execute(text).fetchall()[0][0])))
        connection.close()


def absent(columns: Iterable[tuple[str, str]], count: Callable[[str], int]) -> Iterator[str]:
    """The columns, given with their tables, that name what does not exist. `count` runs a statement that counts."""
    for table, column in columns:
        owner = _NAMED.get(column)
        if owner is None or owner == table or (table, column) in _KEPT:
            continue
        existing = f"SELECT id FROM {owner}{_RESTORABLE.get(owner, '')}"  # noqa: S608 names of the schema
        text = f'SELECT count(*) FROM "{table}" WHERE "{column}" <> 0 AND "{column}" NOT IN ({existing})'  # noqa: S608
        if number := count(text):
            yield f"{number} rows of {table} have a {column} that does not exist"
