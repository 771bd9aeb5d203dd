"""From Alembic's revisions to SQL.

Rendered, not run by Alembic: it would need a second driver for SQLite and greenlets for asyncpg.
So a revision can use every `op` that needs not look at the database, and `op.execute` or a `REWRITE` for data.
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
from moothall.storage.migrations.rewriting import Rewrite


def revisions() -> ScriptDirectory:
    """The revisions that there are."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return ScriptDirectory.from_config(config)


def steps_between(dialect: str, start: str, end: str) -> list[str | Rewrite]:
    """The statements from one revision to another, in pieces between which rows are rewritten in Python.

    Raises StorageError for a revision that is not known, as a later version's is not.
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
    """The statements from one revision (None: an empty database) to another, the version's row included.

    Raises StorageError for a revision that is not known, as a later version's is not.
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
            transactional_ddl=False,  # the caller's transaction is around all of it
        )
        try:
            environment.run_migrations()
        except CommandError as error:
            raise _unknown(error) from error
    return text.getvalue()


def _unknown(error: Exception) -> StorageError:
    return StorageError(f"the database is not of this version of Moothall: {error}")
