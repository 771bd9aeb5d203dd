"""What other processes have still to be told."""

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
"""Events written in the transaction that they tell of, deleted once published."""
