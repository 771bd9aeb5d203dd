"""Renders Alembic's revisions to SQL.

Alembic does not run them itself, because it would need a second driver for SQLite and greenlets for asyncpg. So a
revision can use every `op` that does not read the database, and `op.execute` or a `REWRITE` for data.
"""

from io import StringIO
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from alembic.script.revision import RevisionError
from alembic.util import CommandError

from moothall.storage.database import StorageError
from moothall.storage.migrations.rewrites import Rewrite


def revisions() -> ScriptDirectory:
    """The directory of revisions."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return ScriptDirectory.from_config(config)


def steps_between(dialect: str, start: str, end: str) -> list[str | Rewrite]:
    """The statements from one revision to another, with the rewrites between them.

    Raises StorageError for an unknown revision, as of a later version.
    """
    try:
        passed = list(revisions().iterate_revisions(end, start))
    except RevisionError as error:
        raise _unknown(error) from error
    steps: list[str | Rewrite] = []
    for script in reversed(passed):
        rewrite: Rewrite | None = getattr(script.module, "REWRITE", None)
        if rewrite is not None:
            steps += [render_upgrade(dialect, start, script.revision), rewrite]
            start = script.revision
    return steps if start == end else [*steps, render_upgrade(dialect, start, end)]


def render_upgrade(dialect: str, start: str | None, end: str) -> str:
    """The statements from one revision (None: an empty database) to another, including the version's row.

    Raises StorageError for an unknown revision, as of a later version.
    """
    scripts, text = revisions(), StringIO()

    def steps(revision: Any, _context: Any) -> Any:
        return scripts._upgrade_revs(end, revision)  # noqa: SLF001 as alembic.command.upgrade does

    with EnvironmentContext(
        Config(), scripts, fn=steps, as_sql=True, starting_rev=start, destination_rev=end
    ) as environment:
        environment.configure(
            dialect_name=dialect,
            output_buffer=text,
            literal_binds=True,
            transactional_ddl=False,  # the caller has a transaction
        )
        try:
            environment.run_migrations()
        except CommandError as error:
            raise _unknown(error) from error
    return text.getvalue()


def _unknown(error: Exception) -> StorageError:
    return StorageError(f"the database is not of this version of Moothall: {error}")
