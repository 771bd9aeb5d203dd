"""The outbox: events that are not published to other processes yet, and the batches in which they are."""

from sqlalchemy import Column

from moothall.storage.columns import WholeColumn, bytes_column, moment_column, text_column
from moothall.storage.schema.metadata import table

outbox = table(
    "outbox",
    Column("id", WholeColumn(), primary_key=True, autoincrement=True),
    text_column("node", nullable=False),
    bytes_column("envelope"),
    moment_column("created_at"),
)
"""Events, inserted in the transaction that emits them, deleted once published."""

outbox_batches = table(
    "outbox_batches",
    Column("id", WholeColumn(), primary_key=True, autoincrement=True),
    moment_column("published_at"),
)
"""The last batch of events that was published to the processes of a cluster: one row, or none before the first."""
