"""Channels of every type, threads and direct messages among them, and what invites and webhooks hang on them."""

from sqlalchemy import Index, func

from moothall.objects.ids import ApplicationId, ChannelId, GuildId, MessageId, Snowflake, TagId, UserId, WebhookId
from moothall.objects.json_object import JsonObject
from moothall.objects.user_settings import MuteConfig
from moothall.storage.columns import (
    bytes_column,
    flag_column,
    id_column,
    json_column,
    key_column,
    media_column,
    moment_column,
    number_column,
    text_column,
)
from moothall.storage.schema.metadata import clustered, index, table

channels = table(
    "channels",
    id_column("id", ChannelId, key=True),
    id_column("guild_id", GuildId, nullable=True),
    number_column("type"),
    id_column("parent_id", ChannelId, nullable=True),
    number_column("position"),
    text_column("name"),
    text_column("topic"),
    flag_column("nsfw"),
    number_column("bitrate", None),
    number_column("user_limit", None),
    number_column("rate_limit_per_user"),
    text_column("rtc_region"),
    number_column("video_quality_mode", None),
    number_column("default_auto_archive_duration", None),
    number_column("default_thread_rate_limit_per_user", None),
    number_column("default_sort_order", None),
    number_column("default_forum_layout", None),
    json_column("default_reaction_emoji", JsonObject),
    json_column("available_tags", list[JsonObject], default=[]),
    number_column("flags"),
    json_column("permission_overwrites", list[JsonObject], default=[]),  # of {id, type, allow, deny}
    media_column("icon"),
    id_column("owner_id", UserId, nullable=True),
    id_column("application_id", ApplicationId, nullable=True),
    json_column("thread_metadata", JsonObject),  # without `archived`, which is a column of its own
    flag_column("archived"),
    json_column("applied_tags", list[Snowflake], default=[]),
    number_column("member_count", None),
    number_column("message_count", None),
    number_column("total_message_sent", None),
    moment_column("archived_at", nullable=True),  # since when a thread is archived; NULL while it is not
    id_column("latest_message_id", MessageId, nullable=True),  # of a thread, by which a forum is sorted
    text_column("name_key"),  # of a thread, for searches
    index("guild_id", "type"),
    index("parent_id", "archived"),
    index("guild_id", "archived", "type"),
    index("parent_id", "type", "archived_at"),
    index("parent_id", "latest_message_id"),
)

channel_activity = table(
    "channel_activity",
    id_column("channel_id", ChannelId, key=True),
    id_column("last_message_id", MessageId, nullable=True),
    moment_column("last_pin_timestamp", nullable=True),
)
"""Columns that change with every message, apart from those that permissions depend on."""

thread_members = clustered(
    "thread_members",
    id_column("thread_id", ChannelId, key=True),
    id_column("user_id", UserId, key=True),
    moment_column("join_timestamp"),
    number_column("flags"),
    flag_column("muted", added=True),
    json_column("mute_config", MuteConfig),
    index("user_id"),
)

thread_tags = clustered(
    "thread_tags",
    id_column("thread_id", ChannelId, key=True),
    id_column("tag_id", TagId, key=True),
    index("tag_id"),
)
"""A copy of `applied_tags` for searching a forum's posts."""

channel_recipients = clustered(
    "channel_recipients",
    id_column("channel_id", ChannelId, key=True),
    id_column("user_id", UserId, key=True),
    flag_column("closed"),
    text_column("nick"),  # in a group
    number_column("consent", 2, added=True),  # a `ConsentStatus`
    moment_column("requested_at", nullable=True),  # of a message request, the time of its first message
    index("user_id"),
)
"""The recipients of a direct message; `closed` hides it from the user's list until the next message."""

dm_pairs = clustered(
    "dm_pairs",
    id_column("low_user_id", UserId, key=True),
    id_column("high_user_id", UserId, key=True),
    id_column("channel_id", ChannelId),
)
"""One direct message of two users, whichever of them opens it."""

invites = clustered(
    "invites",
    key_column("code", key=True),
    id_column("guild_id", GuildId, nullable=True),
    id_column("channel_id", ChannelId),
    id_column("inviter_id", UserId, nullable=True),
    number_column("type"),
    number_column("target_type", None),
    id_column("target_user_id", UserId, nullable=True),
    id_column("target_application_id", ApplicationId, nullable=True),
    number_column("max_age", 86_400),  # seconds; 0 never ends
    number_column("max_uses"),  # 0 has no limit
    number_column("uses"),
    flag_column("temporary"),
    moment_column("created_at"),
    moment_column("expires_at", nullable=True),
    number_column("flags"),
    json_column("role_ids", list[Snowflake], default=[]),  # given to those who accept
    index("guild_id"),
    index("channel_id"),
)
# A vanity code is compared with every invite's code regardless of case.
Index("ix_invites_lower_code", func.lower(invites.c.code))

invite_targets = clustered(
    "invite_targets",
    id_column("guild_id", GuildId, key=True),
    key_column("code", key=True),
    id_column("user_id", UserId, key=True),
)
"""The users who may accept an invite that has an `invite_target_jobs` row."""

invite_target_jobs = clustered(
    "invite_target_jobs",
    id_column("guild_id", GuildId, key=True),
    key_column("code", key=True),
    id_column("version"),  # of the uploaded file
    number_column("status"),
    number_column("total_users"),
    number_column("processed_users"),
    moment_column("created_at"),
    moment_column("completed_at", nullable=True),
    json_column("waiting_ids", list[Snowflake], default=[]),  # those of the file that are no targets yet
)
"""The processing of the newest file of an invite's target users."""

webhooks = table(
    "webhooks",
    id_column("id", WebhookId, key=True),
    id_column("guild_id", GuildId, nullable=True),
    id_column("channel_id", ChannelId, nullable=True),
    number_column("type", 1),
    text_column("name"),
    media_column("avatar"),
    bytes_column("token", nullable=True),  # encrypted with the server's key
    bytes_column("token_hash", nullable=True),  # SHA-256
    id_column("user_id", UserId, nullable=True),
    id_column("application_id", ApplicationId, nullable=True),
    id_column("source_guild_id", GuildId, nullable=True),
    id_column("source_channel_id", ChannelId, nullable=True),
    text_column("url"),
    index("guild_id"),
    index("channel_id"),
    index("application_id"),
    index("source_channel_id", "id"),
)

webhook_avatars = clustered("webhook_avatars", key_column("hash", key=True))
"""Every avatar that a webhook has had: messages keep the one under which they were sent."""
