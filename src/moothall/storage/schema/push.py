"""Subscriptions of browsers to Web Push."""

from moothall.objects.ids import Snowflake, UserId
from moothall.storage.columns import bytes_column, id_column, key_column, moment_column, text_column
from moothall.storage.schema.metadata import clustered, index

push_subscriptions = clustered(
    "push_subscriptions",
    key_column("endpoint_hash", key=True),  # SHA-256 in hexadecimal
    id_column("id", Snowflake),
    id_column("user_id", UserId),
    bytes_column("token_hash"),  # of the login that subscribed; the subscription ends with it
    text_column("endpoint", nullable=False),
    text_column("p256dh", nullable=False),
    text_column("auth", nullable=False),
    moment_column("created_at"),
    index("user_id", "id"),
)
