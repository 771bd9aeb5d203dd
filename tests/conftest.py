"""How the suite runs: `async def` tests and fixtures on uvloop, and everything that stores on both databases.

A test has one event loop, shared with its fixtures and closed after they are finished. A fixture
that is `async def` has function scope; the browser's alone lasts for a module, whose tests then share a loop.
"""

import asyncio
import gc
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import hypothesis
import pytest
import uvloop

from moothall.storage.database import Database, StorageUnavailable
from moothall.storage.engines import database_at
from moothall.storage.schema import metadata
from tests.conformance.witness import SuiteEnd
from tests.support.harness import Platform
from tests.support.kept_connections import KeptConnections, KeptPostgres
from tests.support.passwords import hash_cheaply
from tests.support.signing_keys import generate_once
from tests.support.sqlite_file import SharedFile, SharedSqlite, memory_folder
from tests.support.suites import leave_out

# Python may be forbidden to write its caches. Without them each of the suite's hundreds of processes compiles every
# module again, and those of pytest rewrite every assertion.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long an example takes says more of the machine than of the law.
hypothesis.settings.register_profile(
    "suite", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("suite")

POSTGRES = os.environ.get("MOOTHALL_TEST_POSTGRES", "postgresql://127.0.0.1:5432/postgres")
"""A PostgreSQL server that tests may make databases on; without one its tests are skipped."""


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SuiteEnd())
    hash_cheaply()
    generate_once()
    # What importing and collecting makes stays until the end: looking through it for garbage finds none.
    gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """The event loop of `async def` tests and fixtures, which anyio's plugin runs (`anyio_mode` in pyproject.toml)."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database file with every table, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "empty.db"

    async def make() -> None:
        database = database_at(f"sqlite:///{path}")
        await database.open()
        await database.migrate()
        await database.close()

    uvloop.run(make())
    return path


@pytest.fixture(scope="session")
def migrated_postgres() -> Iterator[str]:
    """The URL of a PostgreSQL database with every table, made for this run."""
    name = f"moothall_test_{os.getpid()}"
    url = POSTGRES.rpartition("/")[0] + f"/{name}"

    async def make() -> None:
        await _on_server(*_new_database(name))
        database = database_at(url)
        await database.open()
        await database.migrate()
        await database.close()

    try:
        uvloop.run(make())
    except (OSError, asyncpg.PostgresError, StorageUnavailable) as error:
        leave_out("postgresql", f"PostgreSQL cannot be used at {POSTGRES}: {error}")
    yield url
    uvloop.run(_on_server(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))


@contextmanager
def new_postgres(name: str) -> Iterator[str]:
    """The URL of a PostgreSQL database without tables, which is dropped afterwards."""
    try:
        uvloop.run(_on_server(*_new_database(name)))
    except (OSError, asyncpg.PostgresError) as error:
        leave_out("postgresql", f"PostgreSQL cannot be used at {POSTGRES}: {error}")
    yield POSTGRES.rpartition("/")[0] + f"/{name}"
    uvloop.run(_on_server(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))


def _new_database(name: str) -> tuple[str, ...]:
    """Statements that make a database. Nothing tests that its rows survive the end of the machine."""
    return (
        f"DROP DATABASE IF EXISTS {name} WITH (FORCE)",
        f"CREATE DATABASE {name}",
        f"ALTER DATABASE {name} SET synchronous_commit = off",
    )


async def _on_server(*statements: str) -> None:
    connection = await asyncpg.connect(POSTGRES, timeout=30)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


@pytest.fixture(scope="session")
def emptying(migrated_postgres: str) -> Iterator[Callable[[], None]]:
    """What deletes every row of the run's PostgreSQL database, over one connection: a new one would plan each time."""
    connections: list[Any] = []

    async def empty() -> None:
        try:
            for connection in connections:
                await _empty(connection)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            # The test has broken all connections.
            connections.pop().terminate()
        if not connections:
            connections.append(await _connect_to_empty(migrated_postgres))
            await _empty(connections[0])

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        yield lambda: runner.run(empty())
        for connection in connections:
            runner.run(connection.close())


@pytest.fixture(scope="session")
def kept_connections(migrated_postgres: str) -> Iterator[KeptConnections]:
    """Connections to the run's PostgreSQL database, which outlive the tests that use them."""
    kept = KeptConnections(migrated_postgres)
    yield kept
    uvloop.run(kept.close())


@pytest.fixture(scope="session")
def shared_sqlite(migrated_sqlite: Path) -> Iterator[SharedFile]:
    """A database file that the tests of this process use one after the other."""
    shared = SharedFile(migrated_sqlite)
    yield shared
    shared.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a database with every table, empty, on each engine in turn."""
    if request.param == "sqlite" and "database" in request.fixturenames:
        shared: SharedFile = request.getfixturevalue("shared_sqlite")
        yield f"sqlite:///{shared.path}"
        shared.empty()
    elif request.param == "sqlite":
        # A test of the URL alone may do to the file what a server would.
        with memory_folder() as folder:
            path = Path(folder, "moothall.db")
            shutil.copy(request.getfixturevalue("migrated_sqlite"), path)
            yield f"sqlite:///{path}"
    else:
        empty = request.getfixturevalue("emptying")
        yield request.getfixturevalue("migrated_postgres")
        empty()


async def empty_database(url: str) -> None:
    """Delete every row of a PostgreSQL database."""
    connection = await _connect_to_empty(url)
    await _empty(connection)
    await connection.close()


async def _connect_to_empty(url: str) -> Any:
    """A connection that `_empty` works on: a function of the connection's own has its statements planned once."""
    # The index of messages stands beside the tables, and deleted messages leave their changes to it.
    tables = (*metadata.tables, "message_index", "message_changes")
    # Faster than TRUNCATE for tables of a few rows.
    deleting = "; ".join(f'DELETE FROM "{table}"' for table in tables)  # noqa: S608 our names
    connection = await asyncpg.connect(url)
    await connection.execute(
        # No trigger fires as a replica: the one of the operators' log would refuse.
        "CREATE FUNCTION pg_temp.empty_tables() RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
        f" PERFORM set_config('session_replication_role', 'replica', true); {deleting}; END $$"
    )
    return connection


async def _empty(connection: Any) -> None:
    await connection.fetchval("SELECT pg_temp.empty_tables()")


@pytest.fixture
async def database(database_url: str, request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    """An open database with every table, empty, on each engine in turn."""
    opened: Database
    if database_url.startswith("sqlite:"):
        opened = SharedSqlite(request.getfixturevalue("shared_sqlite"))
    else:
        opened = KeptPostgres(database_url, request.getfixturevalue("kept_connections"))
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def platform(database: Database) -> AsyncIterator[Platform]:
    """The whole API over an empty database, on each engine in turn."""
    made = Platform(database)
    yield made
    await made.close()
