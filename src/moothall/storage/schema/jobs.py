"""Jobs: work that was enqueued and is not finished."""

from sqlalchemy import Column

from moothall.objects.ids import Snowflake
from moothall.storage.columns import JsonColumn, id_column, moment_column, number_column, text_column
from moothall.storage.schema.metadata import partial_index, table

jobs = table(
    "jobs",
    id_column("id", Snowflake, key=True),
    text_column("kind", nullable=False),
    Column("state", JsonColumn(), nullable=False),  # the fields of the job's struct, as of its last step
    moment_column("created_at"),
    number_column("not_before", added=True),  # moment of the next attempt; 0 for as soon as possible
    number_column("attempts", added=True),  # failures in a row; a step that succeeds sets it to 0
    moment_column("failed_at", nullable=True),  # when the last attempt allowed had failed: nothing runs it now
    text_column("last_error"),  # of the last attempt that failed; NULL after one that succeeded
)
"""Written in the transaction that makes the work necessary, deleted in the one that finishes it."""
partial_index("ix_jobs_kind_not_before_id", jobs.c.kind, jobs.c.not_before, jobs.c.id, where=jobs.c.failed_at.is_(None))
