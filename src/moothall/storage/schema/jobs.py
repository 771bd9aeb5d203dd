"""Work that was promised and is not finished."""

from sqlalchemy import Column

from moothall.objects.ids import Snowflake
from moothall.storage.columns import JsonColumn, id_column, moment_column, number_column, text_column
from moothall.storage.schema.metadata import index, table

jobs = table(
    "jobs",
    id_column("id", Snowflake, key=True),
    text_column("kind", nullable=False),
    Column("state", JsonColumn(), nullable=False),  # the fields of the job's struct, as far as it has come
    moment_column("created_at"),
    number_column("not_before", added=True),  # in milliseconds since the Unix epoch; 0 for at once
    index("not_before", "id"),
)
"""Written in the transaction that makes the work necessary, deleted in the one that finishes it."""
