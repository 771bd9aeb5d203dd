"""Compile the statements of all queries into the files that servers read: `compile_statements.py [--if-changed]`.

Every module is imported while a recorder collects the queries that it makes (`moothall.storage.statements.store`). A
statement that one engine does not have is left out for that engine. The same sources give the same bytes.
"""

import argparse
import hashlib
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sqlalchemy.exc import CompileError

import moothall
from moothall.storage.query import make_all_queries
from moothall.storage.statements.compilation import table_facts
from moothall.storage.statements.store import DIALECTS, StatementRecorder, stored_sources, write_statements

_LEFT_OUT: Final = ("moothall.__main__", "moothall.storage.migrations")
"""Modules without queries, which need packages that a server may not have."""


def record() -> StatementRecorder:
    """The statements of every query, compiled."""
    with StatementRecorder() as recorder:
        for module in pkgutil.walk_packages(moothall.__path__, "moothall."):
            if not module.name.startswith(_LEFT_OUT):
                importlib.import_module(module.name)
        make_all_queries()
        for query in recorder.queries:
            for dialect in DIALECTS:
                try:
                    query.plan(dialect)
                except CompileError:
                    continue
    return recorder


def hash_of_sources() -> str:
    """A hash of every module of the package."""
    root = Path(moothall.__path__[0])
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def main(arguments: Sequence[str]) -> int:
    """Write the files; returns the exit code."""
    parser = argparse.ArgumentParser(description="Compile the statements of all queries.")
    parser.add_argument("--if-changed", action="store_true", help="Only if a module has changed since the last time.")
    options = parser.parse_args(arguments)
    sources = hash_of_sources()
    if not options.if_changed or any(stored_sources(dialect) != sources for dialect in DIALECTS):
        write_statements(record(), table_facts(), sources)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
