"""Messages, clustered by channel, with reactions, pins and attachments."""

from moothall.objects.ids import AttachmentId, ChannelId, EmojiId, GuildId, MessageId, Snowflake, UserId, WebhookId
from moothall.storage.columns import (
    bytes_column,
    flag_column,
    id_column,
    json_column,
    key_column,
    moment_column,
    number_column,
    text_column,
)
from moothall.storage.schema.metadata import clustered, index, table

messages = clustered(
    "messages",
    id_column("channel_id", ChannelId, key=True),
    id_column("id", MessageId, key=True),
    id_column("guild_id", GuildId, nullable=True),
    id_column("author_id", UserId),
    id_column("webhook_id", WebhookId, nullable=True),
    number_column("type"),
    number_column("flags"),
    flag_column("pinned"),
    flag_column("reacted"),  # whether anybody ever reacted: else there is nothing to look up
    id_column("replied_id", MessageId, nullable=True),  # the message that is shown with this one
    json_column("mentions", list[UserId]),
    bytes_column("body"),
    text_column("hidden_embeds"),  # JSON: kept while the flags suppress them
    number_column("parts", added=True),  # MessagePart bits: what is completed whenever it is shown
    index("author_id", "id"),
)
"""`body` is the message object as JSON without what others can change: the author's and the mentioned users'
names, whether it is pinned, reactions, the message replied to. A webhook's author stands in it, as its first key.
"""

reactions = clustered(
    "reactions",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    key_column("emoji", key=True),  # the custom emoji's id, or the emoji itself
    id_column("user_id", UserId, key=True),
    moment_column("reacted_at"),
    flag_column("burst"),
)

reaction_counts = clustered(
    "reaction_counts",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    key_column("emoji", key=True),
    id_column("emoji_id", EmojiId, nullable=True),
    text_column("emoji_name"),
    flag_column("animated"),
    number_column("count"),
    moment_column("first_at"),
)

pins = clustered(
    "pins",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    moment_column("pinned_at"),
)

message_nonces = clustered(
    "message_nonces",
    id_column("channel_id", ChannelId, key=True),
    id_column("author_id", UserId, key=True),
    key_column("nonce", key=True),
    id_column("message_id", MessageId),
    moment_column("created_at"),
    index("created_at"),
)

message_avatars = clustered(
    "message_avatars",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    id_column("webhook_id", WebhookId),
    key_column("hash"),
    text_column("url", nullable=False),
    index("webhook_id", "hash"),
)
"""The pictures that webhooks named as the avatars of single messages: the author's `avatar` is `hash`."""

attachments = clustered(
    "attachments",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    id_column("id", AttachmentId, key=True),
    text_column("content_type", nullable=False),
    number_column("size"),
    bytes_column("body"),  # the attachment object as JSON, with a mark for its URLs
    id_column("payer_id", UserId, nullable=True),  # the account that is charged for it; NULL for none
    id_column("guild_id", GuildId, nullable=True),  # of the channel, which may be gone before its files
    index("id"),
)
"""The files of messages. A forwarded message has the same file as its source."""

storage_usage = table(
    "storage_usage",
    id_column("payer_id", UserId, key=True),
    number_column("bytes"),
)
"""Bytes of the files of attachments and uploads that accounts are charged for, each file once for each account.

A row outlasts its account, whose messages stay.
"""

guild_storage = table(
    "guild_storage",
    id_column("guild_id", GuildId, key=True),
    number_column("bytes"),  # of the files of attachments in its channels, each file once
    number_column("quota_mb", None),  # what an operator lets it have; NULL for the setting
)
"""What guilds have stored, and may."""

dropped_files = clustered(
    "dropped_files",
    id_column("message_id", MessageId, key=True),
    id_column("id", AttachmentId, key=True),
)
"""Files of deleted messages; those that no other message has are deleted from the store later."""

pending_uploads = table(
    "pending_uploads",
    id_column("id", Snowflake, key=True),
    id_column("user_id", UserId),
    id_column("channel_id", ChannelId),
    text_column("filename", nullable=False),
    number_column("max_size"),
    moment_column("created_at"),
    id_column("file_id", AttachmentId, nullable=True),  # NULL until the file is stored
    number_column("size"),
    text_column("content_type"),
    number_column("width", None),
    number_column("height", None),
    flag_column("animated"),
    index("user_id", "id"),
    index("file_id"),
)
"""Files that are uploaded before the message that has them."""

unnamed_media = clustered(
    "unnamed_media",
    key_column("key", key=True),
    moment_column("since"),
)
"""Blobs of images and sounds that no row names, and when that was first seen."""
