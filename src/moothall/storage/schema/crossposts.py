"""Published messages of announcement channels, and their copies."""

from moothall.objects.ids import ChannelId, MessageId, WebhookId
from moothall.storage.columns import id_column, moment_column
from moothall.storage.schema.metadata import clustered, index

publications = clustered(
    "publications",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    moment_column("published_at"),
    index("channel_id", "published_at"),
)

crossposts = clustered(
    "crossposts",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    id_column("webhook_id", WebhookId, key=True),  # whose copy it is
    id_column("copy_channel_id", ChannelId),
    id_column("copy_id", MessageId),
)
"""One row for each copy: `channel_id` and `message_id` are the source's."""
