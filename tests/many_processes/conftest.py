"""Two platforms on one PostgreSQL database and one NATS server; skipped where one of those is missing."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import uvloop

from moothall.storage.engines import database_at
from moothall.storage.nodes import database_id
from tests.conftest import empty_database
from tests.many_processes.nodes import Node
from tests.support.nats_servers import forget_space, usable_nats


@pytest.fixture
def shared_database(migrated_postgres: str) -> Iterator[str]:
    """The URL of an empty PostgreSQL database."""
    yield migrated_postgres
    uvloop.run(empty_database(migrated_postgres))


@pytest.fixture
async def nats_url(shared_database: str) -> AsyncIterator[str]:
    """The URL of the environment's server; the stream of the test's database is deleted at the end."""
    url = await usable_nats()
    yield url
    database = database_at(shared_database)
    await database.open()
    space = await database_id(database)
    await database.close()
    await forget_space(url, space)


@pytest.fixture
async def nodes(shared_database: str, nats_url: str, tmp_path: Path) -> AsyncIterator[tuple[Node, Node]]:
    """Two nodes."""
    pair = Node(shared_database, nats_url, tmp_path), Node(shared_database, nats_url, tmp_path)
    for node in pair:
        await node.start()
    yield pair
    for node in pair:
        await node.stop()
