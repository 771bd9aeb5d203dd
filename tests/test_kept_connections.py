"""Connections to PostgreSQL that outlive the event loop of a test."""

from collections.abc import Iterator
from contextlib import suppress

import asyncpg
import pytest
import uvloop

from moothall.runtime.invariants import BrokenInvariant
from tests.support.kept_connections import KeptConnections, KeptPostgres


@pytest.fixture
def kept(migrated_postgres: str) -> Iterator[KeptConnections]:
    kept = KeptConnections(migrated_postgres)
    yield kept
    uvloop.run(kept.close())


async def process_of_a_connection(kept: KeptConnections, *statements: str) -> int:
    """The id of the server's process behind a connection, over which statements are sent then."""
    database = KeptPostgres("", kept)
    await database.open()
    connection = await database.acquire()
    process_id = int(await connection.fetchval("SELECT pg_backend_pid()"))
    for statement in statements:
        await connection.execute(statement)
    with suppress(BrokenInvariant):
        database.release(connection)
    await database.close()
    return process_id


async def end_process(url: str, process_id: int) -> None:
    """End a process of the server, and wait until it has left."""
    connection = await asyncpg.connect(url)
    assert await connection.fetchval("SELECT pg_terminate_backend($1, 10000)", process_id)
    await connection.close()


def test_the_next_loop_uses_the_same_connection(kept: KeptConnections) -> None:
    first = uvloop.run(process_of_a_connection(kept))

    assert uvloop.run(process_of_a_connection(kept)) == first


def test_a_connection_with_an_open_transaction_is_not_kept(kept: KeptConnections) -> None:
    first = uvloop.run(process_of_a_connection(kept, "BEGIN"))

    assert uvloop.run(process_of_a_connection(kept)) != first


def test_a_connection_that_the_server_has_closed_is_not_used(kept: KeptConnections, migrated_postgres: str) -> None:
    first = uvloop.run(process_of_a_connection(kept))
    uvloop.run(end_process(migrated_postgres, first))

    assert uvloop.run(process_of_a_connection(kept)) != first
