"""Databases of earlier versions, which packages upgrade."""

from pathlib import Path
from typing import Final

import apsw

from moothall.storage.migrations.render import render_upgrade

OLD: Final = "0030"
"""A revision of the tables that an earlier version made."""


def old_database(path: Path) -> None:
    """Make a database of an earlier version."""
    connection = apsw.Connection(str(path))
    connection.execute(render_upgrade("sqlite", None, OLD))
    connection.close()


def revision_of(path: Path) -> str:
    """The revision of a database's tables."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    revision = connection.execute("SELECT version_num FROM alembic_version").get
    connection.close()
    return str(revision)
