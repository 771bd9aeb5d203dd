"""What people have reported to the operators."""

from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.storage.columns import id_column, key_column, moment_column, text_column
from moothall.storage.schema.metadata import index, table

reports = table(
    "reports",
    id_column("id", Snowflake, key=True),
    text_column("name", nullable=False),  # of the menu: message, user or guild
    text_column("reason", nullable=False),
    id_column("reporter_id", UserId, nullable=True),  # NULL once the account is deleted
    key_column("network", nullable=True),  # of the reporter
    id_column("user_id", UserId),  # whom it is about
    id_column("guild_id", GuildId, nullable=True),
    id_column("channel_id", ChannelId, nullable=True),
    id_column("target_id", Snowflake),  # the message, the user or the guild
    text_column("description", nullable=False),  # the reporter's words
    text_column("evidence", nullable=False),  # JSON: the message, the user or the guild at that moment
    moment_column("created_at"),
    moment_column("closed_at", nullable=True),  # NULL while it is open
    id_column("closed_by", UserId, nullable=True),  # NULL for a command
    text_column("outcome"),
    text_column("note"),  # of the operator
    index("reporter_id", "created_at"),
    index("network", "created_at"),
    index("user_id"),
    index("closed_at", "id"),
)
