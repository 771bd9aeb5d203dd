"""How far users have read, and whom messages mention."""

from sqlalchemy import Column

from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.storage.columns import WholeColumn, id_column, moment_column, number_column
from moothall.storage.schema.metadata import clustered, index

read_states = clustered(
    "read_states",
    id_column("user_id", UserId, key=True),
    Column("type", WholeColumn(), primary_key=True, autoincrement=False),
    id_column("resource_id", Snowflake, key=True),  # of a channel, a guild, or the user
    id_column("last_acked_id", Snowflake),  # 0 where only pins were acknowledged
    number_column("mention_count"),  # as the client set it
    id_column("counted_after_id", MessageId),  # mentions in newer messages are added to `mention_count`
    moment_column("last_pin_timestamp", nullable=True),
    number_column("flags"),
    number_column("last_viewed", None),  # in days since 2015
    moment_column("version"),
)

message_mentions = clustered(
    "message_mentions",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    id_column("target_id", Snowflake, key=True),  # of a user, a role, or for @everyone the guild
    id_column("author_id", UserId),
    index("target_id", "message_id", "author_id"),
)
"""A row for each user or role that a message mentioned when it was sent; messages without mentions have none."""

dismissed_mentions = clustered(
    "dismissed_mentions",
    id_column("user_id", UserId, key=True),
    id_column("message_id", MessageId, key=True),
)
"""Messages of the last week that mentioned a user, and that the user removed from their list."""

saved_messages = clustered(
    "saved_messages",
    id_column("user_id", UserId, key=True),
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    moment_column("saved_at"),
    moment_column("due_at", nullable=True),
)
"""Messages that users have saved, which may be deleted or out of their reach by now."""
