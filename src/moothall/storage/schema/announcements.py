"""What operators tell everyone."""

from moothall.objects.ids import Snowflake, UserId
from moothall.storage.columns import flag_column, id_column, moment_column, text_column
from moothall.storage.schema.metadata import index, table

announcements = table(
    "announcements",
    id_column("id", Snowflake, key=True),
    text_column("content", nullable=False),
    flag_column("urgent"),
    moment_column("created_at"),
    id_column("created_by", UserId, nullable=True),  # NULL for a command
    moment_column("ends_at"),
    index("ends_at"),
)
"""Words that clients show to everyone until they end."""
