"""Work that was promised and is not finished."""

from sqlalchemy import Column

from moothall.objects.ids import Snowflake
from moothall.storage.columns import JsonColumn, id_column, moment_column, text_column
from moothall.storage.schema.metadata import table

jobs = table(
    "jobs",
    id_column("id", Snowflake, key=True),
    text_column("kind", nullable=False),
    Column("state", JsonColumn(), nullable=False),  # the fields of the job's struct, as far as it has come
    moment_column("created_at"),
)
"""Written in the transaction that makes the work necessary, deleted in the one that finishes it."""
