"""Statements that a build has compiled, so that a server need not import SQLAlchemy.

`make statements` writes a file for each dialect beside this module; the wheel carries them. A statement is stored by a
hash of its description (`storage.deferred`): one that was changed is not in the file, and is compiled when it is first
used, as all are where there is no file, or where one was made of another schema.
"""

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Self

import msgspec
from msgspec import Raw, Struct

from moothall.storage.statements.deferred import Deferred, NotDescribable, describe
from moothall.storage.statements.statement import CompiledStatement, TableFacts

_HERE: Final = Path(__file__).parent
DIALECTS: Final = ("sqlite", "postgresql")


class StoredStatements(Struct):
    """The content of a file."""

    fingerprint: str
    """`fingerprint()` when it was written."""
    sources: str
    """A hash of all sources that it was made of, for the build."""
    tables: dict[str, TableFacts]
    statements: dict[str, Raw]
    """Each a `CompiledStatement`, by `statement_key`."""


class StatementRecorder:
    """Collects the queries that are made while it is active, and the statements that are compiled."""

    active: "StatementRecorder | None" = None

    def __init__(self) -> None:
        self.queries: list[Any] = []
        self.statements: dict[str, dict[str, CompiledStatement]] = {dialect: {} for dialect in DIALECTS}

    def __enter__(self) -> Self:
        StatementRecorder.active = self
        return self

    def __exit__(self, *_exception: object) -> None:
        StatementRecorder.active = None


def stored_path(dialect: str) -> Path:
    """The file of a dialect."""
    return _HERE / f"compiled_{dialect}.msgpack"


def compiled_statement(statement: object, dialect: str, *, cacheable: bool) -> CompiledStatement:
    """The statement compiled for a dialect: as stored, else by SQLAlchemy.

    Raises TypeError for a statement that cannot be run.
    """
    if isinstance(statement, CompiledStatement):
        return statement
    key = statement_key(statement, cacheable=cacheable) if isinstance(statement, Deferred) else None
    stored = stored_statements(dialect)
    if key is not None and stored is not None:
        encoded = stored.statements.get(key)
        if encoded is not None:
            return _decode_statement(encoded)
    from moothall.storage.statements.compilation import compile_statement  # noqa: PLC0415 takes a third of a start

    compiled = compile_statement(statement, dialect, cacheable=cacheable)
    if StatementRecorder.active is not None and key is not None:
        StatementRecorder.active.statements[dialect][key] = compiled
    return compiled


def statement_key(statement: Deferred, *, cacheable: bool) -> str | None:
    """The key of a statement; None if it cannot be stored."""
    try:
        description = describe(statement)
    except NotDescribable:
        return None
    return blake2b(f"{cacheable} {description}".encode(), digest_size=12).hexdigest()


def table_facts() -> dict[str, TableFacts]:
    """The facts of every table, by name."""
    for dialect in DIALECTS:
        stored = stored_statements(dialect)
        if stored is not None:
            return stored.tables
    from moothall.storage.statements.compilation import table_facts as reflected  # noqa: PLC0415 as above

    return reflected()


def prepare(dialect: str) -> None:
    """Load what compiles the statements of a dialect, so that the first request does not wait for it."""
    if stored_statements(dialect) is None:
        from moothall.storage.statements import compilation  # noqa: PLC0415

        compilation.sql_dialect(dialect)


@cache
def stored_statements(dialect: str) -> StoredStatements | None:
    """The stored statements of a dialect; None if there are none, or they are of another schema."""
    if StatementRecorder.active is not None:
        return None
    stored = _read_file(dialect)
    return stored if stored is not None and stored.fingerprint == fingerprint() else None


def stored_sources(dialect: str) -> str | None:
    """The hash of the sources that the file of a dialect was made of; None if there is none."""
    stored = _read_file(dialect)
    return None if stored is None else stored.sources


def write_statements(recorder: StatementRecorder, tables: dict[str, TableFacts], sources: str) -> None:
    """Write the recorded statements into the files that servers read."""
    for dialect, statements in recorder.statements.items():
        encoded = {key: Raw(msgspec.msgpack.encode(statements[key])) for key in sorted(statements)}
        content = msgspec.msgpack.encode(StoredStatements(fingerprint(), sources, tables, encoded))
        path = stored_path(dialect)
        temporary = path.with_suffix(".new")
        temporary.write_bytes(content)
        temporary.replace(path)


def _read_file(dialect: str) -> StoredStatements | None:
    try:
        return _decode_file(stored_path(dialect).read_bytes())
    except (OSError, msgspec.MsgspecError):
        return None


@cache
def fingerprint() -> str:
    """A hash of the sources that decide what a description is compiled to."""
    digest = blake2b(digest_size=16)
    for path in _compiler_sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _compiler_sources() -> Iterator[Path]:
    storage = _HERE.parent
    yield from sorted((storage / "schema").glob("*.py"))
    for name in ("columns", "converters", "statements/compilation", "statements/deferred", "statements/statement"):
        yield storage / f"{name}.py"


_decode_file = msgspec.msgpack.Decoder(StoredStatements).decode
_decode_statement = msgspec.msgpack.Decoder(CompiledStatement).decode
