"""Which transactions of a connection were committed."""

from sqlalchemy import Column

from moothall.storage.columns import WholeColumn
from moothall.storage.schema.metadata import table

commit_marks = table(
    "commit_marks",
    Column("slot", WholeColumn(), primary_key=True, autoincrement=False),
    Column("number", WholeColumn(), nullable=False),
)
"""A row for each connection to PostgreSQL, with the number of the last transaction that was committed on it."""
