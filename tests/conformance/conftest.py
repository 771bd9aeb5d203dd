"""What laws about hundreds of rows share."""

import shutil
from collections.abc import AsyncIterator, Iterator

import pytest

from moothall.storage.engines import database_at
from tests.support.harness import Platform


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a database with every table, on each engine, for all laws of the module that share a platform."""
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("shared") / "moothall.db"
        shutil.copy(request.getfixturevalue("migrated_sqlite"), path)
        yield f"sqlite:///{path}"
    else:
        empty = request.getfixturevalue("emptying")
        yield request.getfixturevalue("migrated_postgres")
        empty()


@pytest.fixture(scope="module")
async def shared_platform(shared_url: str) -> AsyncIterator[Platform]:
    """The API over one database for many laws: refusals leave no trace, and each law has a guild of its own."""
    database = database_at(shared_url)
    await database.open()
    made = Platform(database)
    made._names = 1_000_000  # on PostgreSQL the platforms of other tests name people in the same database
    yield made
    await made.close()
    await database.close()
