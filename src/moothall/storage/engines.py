"""Selects the engine of a database URL; only that engine is imported."""

from pathlib import Path

from moothall.runtime.metered_slots import Meter
from moothall.storage.database import CommitObserver, Database
from moothall.storage.sqlite.commit_counters import CommitCounters
from moothall.storage.statements import store as statement_store


def database_at(
    url: str,
    *,
    connections: int = 16,
    observe_commit: CommitObserver | None = None,
    counters: CommitCounters | None = None,
    statement_seconds: float | None = None,
    long_read_seconds: float | None = None,
    meter: Meter | None = None,
) -> Database:
    """The database of a URL, not yet open.

    `sqlite:///relative.db` or `sqlite:////absolute.db` is a file, `postgresql://...` a server,
    to which at most so many `connections` are made. `observe_commit` is called after each commit, and `counters` count
    those of a file. A statement on a server is given up after `statement_seconds`, a long read after
    `long_read_seconds`; None for as long as no request would wait. Long reads are charged to `meter`.
    Raises ValueError for anything else.
    """
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        from moothall.storage.sqlite.engine import SqliteDatabase  # noqa: PLC0415

        statement_store.prepare("sqlite")
        return SqliteDatabase(Path(rest[1:]), observe_commit=observe_commit, counters=counters, meter=meter)
    if scheme in {"postgresql", "postgres"}:
        from moothall.storage.postgres.connection import NO_HURRY  # noqa: PLC0415
        from moothall.storage.postgres.engine import PostgresDatabase  # noqa: PLC0415

        statement_store.prepare("postgresql")
        deadlines = NO_HURRY
        if statement_seconds is not None:
            deadlines = deadlines._replace(statement=statement_seconds)
        if long_read_seconds is not None:
            deadlines = deadlines._replace(long_read=long_read_seconds)
        return PostgresDatabase(
            url, connections=connections, observe_commit=observe_commit, deadlines=deadlines, meter=meter
        )
    raise ValueError("a database URL begins with sqlite:/// or postgresql://")


def replica_at(path: Path, counters: CommitCounters, *, meter: Meter | None = None) -> Database:
    """The database in a file that another process of this machine writes, and counts with `counters`; not yet open.

    Long reads are charged to `meter`.
    """
    from moothall.storage.sqlite.replica import SqliteReplica  # noqa: PLC0415

    statement_store.prepare("sqlite")
    return SqliteReplica(path, counters, meter)
