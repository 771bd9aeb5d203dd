"""Previews of links in messages: the cache, and the messages that wait for theirs."""

from moothall.objects.ids import ChannelId, MessageId, Snowflake
from moothall.storage.columns import id_column, json_column, key_column, moment_column, number_column, text_column
from moothall.storage.schema.metadata import clustered, index, table

link_previews = clustered(
    "link_previews",
    key_column("link_hash", key=True),  # SHA-256 in hexadecimal
    text_column("embeds", nullable=False),  # a JSON array, empty for a link without preview
    moment_column("expires_at"),
    index("expires_at"),
)

preview_requests = table(
    "preview_requests",
    id_column("id", Snowflake, key=True),
    id_column("channel_id", ChannelId),
    id_column("message_id", MessageId),
    json_column("links", list[str], nullable=False),
    number_column("attempts"),
    moment_column("next_attempt_at"),
    id_column("claim_id", Snowflake, nullable=True),  # of the process that makes the attempt
    index("next_attempt_at"),
    index("claim_id"),
)
"""The links of messages whose previews are not attached yet."""
