"""The outbox: events that are not published to other processes yet."""

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
