"""The processes that serve this database."""

from moothall.objects.ids import Snowflake
from moothall.storage.columns import id_column, moment_column, text_column
from moothall.storage.schema.metadata import table

nodes = table(
    "nodes",
    id_column("number", Snowflake, key=True),  # worker and process of the ids that it makes
    text_column("name", nullable=False),
    moment_column("seen_at"),
)
"""A row for each process, renewed while it runs."""
