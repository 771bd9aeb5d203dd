"""Figures over time: what operators see of the last days and of two years."""

from sqlalchemy import Column

from moothall.storage.columns import WholeColumn, key_column, number_column
from moothall.storage.schema.metadata import clustered

server_figures = clustered(
    "server_figures",
    Column("span", WholeColumn(), primary_key=True, autoincrement=False),  # hours that a row covers: 1 or 24
    Column("start", WholeColumn(), primary_key=True, autoincrement=False),  # hours since the Unix epoch
    key_column("name", key=True),
    number_column("value"),
)
"""Figures by hour and by day. Old rows are deleted, so that their number is bounded."""
