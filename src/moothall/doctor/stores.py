"""What the server stores to: the database, the files, NATS."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final
from uuid import uuid4

from moothall.doctor.finding import Finding, error, ok, reason, skipped, warning
from moothall.objects.clock import CLOCK
from moothall.objects.ids import Snowflake
from moothall.settings import Settings, masked
from moothall.storage.blobs import Blobs
from moothall.storage.database import StorageError
from moothall.storage.inspection import DatabaseState, inspect_postgresql, inspect_sqlite

MIN_POSTGRESQL: Final = 15
"""The oldest major version of PostgreSQL that the suite runs on."""
SKEW_MS: Final = 1_000
MAX_SKEW_MS: Final = 30_000
_SECONDS: Final = 5.0


async def database_state(settings: Settings) -> tuple[DatabaseState | None, list[Finding]]:
    """The database, if it can be reached, and what is wrong with that; no state for a file that is not there yet."""
    path = settings.database_path
    try:
        if path is None:
            return await inspect_postgresql(settings.database), []
        if path.exists():
            return inspect_sqlite(path), []
    except StorageError as problem:
        if path is None:
            advice = "Check database_url, that the server runs, and that it takes this user from here (pg_hba.conf)."
        else:
            advice = f"Restore a backup: moothall restore FILE --data {settings.data} (see `moothall backup`)."
        return None, [error("database", f"{masked('database_url', settings.database)}: {problem}", advice)]
    return None, [ok("database", f"{path} is made at the first start")]


def check_database(settings: Settings, state: DatabaseState) -> Iterator[Finding]:
    """Versions, migrations, rights, failed jobs and the time of a database that was reached."""
    path = settings.database_path
    engine = "PostgreSQL" if path is None else "SQLite"
    shown = f"{engine} {'.'.join(map(str, state.version))}, {masked('database_url', settings.database)}"
    if state.is_older:
        yield warning(
            "database",
            f"{shown}: the tables are of an earlier version",
            "The next start of the server upgrades them, or: moothall migrate. Make a backup first.",
        )
    elif state.revision is not None and not state.is_current:
        yield error(
            "database",
            f"{shown}: the tables are of a later version of Moothall ({state.revision})",
            "Install that version, or restore the backup that was made before the upgrade.",
        )
    elif state.revision is None:
        yield ok("database", f"{shown}; the tables are made at the first start")
    else:
        yield ok("database", f"{shown}; the tables are up to date")
    yield from _check_server(settings, state) if path is None else _check_file(path)
    yield from _check_rows(state)


def _check_server(settings: Settings, state: DatabaseState) -> Iterator[Finding]:
    if state.version[0] < MIN_POSTGRESQL:
        yield warning(
            "database",
            f"PostgreSQL {state.version[0]} is older than {MIN_POSTGRESQL}, which Moothall is tested on",
            f"Upgrade it to PostgreSQL {MIN_POSTGRESQL} or later.",
        )
    if state.max_connections is not None and settings.database_connections > state.max_connections:
        yield error(
            "database",
            f"takes {state.max_connections} connections, of which this process alone wants "
            f"{settings.database_connections}",
            "Lower database_connections, or raise max_connections of PostgreSQL.",
        )
    if state.now_ms is not None and (skew := abs(state.now_ms - CLOCK.now_ms())) > SKEW_MS:
        make = error if skew > MAX_SKEW_MS else warning
        yield make(
            "clock",
            f"differs by {skew / 1000:.0f} s from the database server's",
            "Enable NTP on both machines: ids and deadlines go by these clocks.",
        )


def _check_file(path: Path) -> Iterator[Finding]:
    mode = path.stat().st_mode
    if not os.access(path, os.W_OK):
        yield error("database", f"this user may not write to {path}", f"Run as root: chown USER {path}*")
    if mode & 0o007:
        yield warning("database", f"all users of this machine may read {path}", f"Run: chmod o-rwx {path}*")


def _check_rows(state: DatabaseState) -> Iterator[Finding]:
    if state.newest_message_id is not None:
        ahead = Snowflake(state.newest_message_id).created_ms - CLOCK.now_ms()
        if ahead > MAX_SKEW_MS:
            yield error(
                "clock",
                f"is {ahead / 1000:.0f} s behind the newest message: new messages would stand before it",
                "Set the clock, and enable NTP.",
            )
    if state.failed_jobs:
        yield warning(
            "jobs",
            f"{state.failed_jobs} failed too often",
            "See: moothall jobs list --failed; then retry or drop them.",
        )


async def check_files(settings: Settings) -> AsyncIterator[Finding]:
    """Whether an object store takes, returns and deletes a file. A folder is part of the data folder."""
    if settings.blob_url is None:
        return
    key, shown = f"doctor/{uuid4().hex}", masked("blob_url", settings.blob_url)
    try:
        async with asyncio.timeout(_SECONDS * 3):
            blobs = Blobs.open(settings.blob_url)
            await blobs.put(key, b"moothall doctor")
            stored = await blobs.get(key)
            await blobs.delete(key)
    except Exception as problem:  # noqa: BLE001 each store has errors of its own
        yield error(
            "files",
            f"{shown}: {type(problem).__name__}: {problem}".strip(),
            "Check blob_url, the bucket's rights and the variables with the credentials (AWS_ACCESS_KEY_ID...).",
        )
        return
    if stored == b"moothall doctor":
        yield ok("files", f"{shown} stores and returns files")
    else:
        yield error("files", f"{shown} does not return what it stored", "Choose a store with read-after-write.")


async def check_bus(settings: Settings) -> AsyncIterator[Finding]:
    """Whether NATS answers and has JetStream."""
    if settings.nats_url is None:
        yield skipped("nats", "not set: one process serves")
        return
    from nats.aio.client import Client  # noqa: PLC0415 as in moothall.app.cluster_bus: a single process never imports it
    from nats.errors import Error as NatsError  # noqa: PLC0415
    from nats.js.errors import Error as JetStreamError  # noqa: PLC0415

    shown, client = masked("nats_url", settings.nats_url), Client()

    async def ignore(_error: Exception) -> None:
        """The error is raised as well."""

    try:
        async with asyncio.timeout(_SECONDS):
            await client.connect(
                settings.nats_url.split(","), allow_reconnect=False, max_reconnect_attempts=1, error_cb=ignore
            )
    except (NatsError, OSError, TimeoutError) as problem:
        yield error(
            "nats",
            f"{shown} cannot be reached: {reason(problem)}",
            "Check nats_url and that the server runs.",
        )
        return
    try:
        await client.jetstream(timeout=_SECONDS).account_info()
    except (NatsError, JetStreamError, TimeoutError) as problem:
        yield error(
            "nats",
            f"{shown} has no JetStream: {reason(problem)}",
            "Start it with JetStream: nats-server -js",
        )
    else:
        yield ok("nats", f"{shown} answers and has JetStream")
    finally:
        await client.close()
