"""Guilds and what they own: roles, emojis, stickers, integrations, the audit log."""

from typing import Any

from sqlalchemy import Column, Text, literal_column

from moothall.objects.ids import (
    ApplicationId,
    AuditEntryId,
    ChannelId,
    EmojiId,
    GuildId,
    IntegrationId,
    RoleId,
    Snowflake,
    StickerId,
    UserId,
)
from moothall.objects.json_object import JsonObject
from moothall.storage.columns import (
    PermissionsColumn,
    flag_column,
    id_column,
    json_column,
    key_column,
    media_column,
    moment_column,
    number_column,
    text_column,
)
from moothall.storage.schema.metadata import clustered, index, partial_index, table


def tag_columns() -> tuple[Column[Any], ...]:
    """The columns of the tag that members wear. They are newer than the table of deleted guilds."""
    return (
        text_column("tag"),
        number_column("badge", None),  # a `BadgeType`
        text_column("badge_color_primary"),
        text_column("badge_color_secondary"),
    )


guilds = table(
    "guilds",
    id_column("id", GuildId, key=True),
    number_column("version", 1),  # rises with every change of what authority rests on
    text_column("name", nullable=False),
    media_column("icon"),
    media_column("splash"),
    media_column("discovery_splash"),
    media_column("banner"),
    text_column("description"),
    id_column("owner_id", UserId),
    id_column("application_id", ApplicationId, nullable=True),
    id_column("afk_channel_id", ChannelId, nullable=True),
    number_column("afk_timeout", 300),
    flag_column("widget_enabled"),
    id_column("widget_channel_id", ChannelId, nullable=True),
    number_column("verification_level"),
    number_column("default_message_notifications"),
    number_column("explicit_content_filter"),
    json_column("features", list[str], default=[]),
    number_column("mfa_level"),
    id_column("system_channel_id", ChannelId, nullable=True),
    number_column("system_channel_flags"),
    id_column("rules_channel_id", ChannelId, nullable=True),
    id_column("public_updates_channel_id", ChannelId, nullable=True),
    id_column("safety_alerts_channel_id", ChannelId, nullable=True),
    key_column("vanity_url_code", nullable=True),
    number_column("vanity_url_uses"),
    number_column("premium_tier"),
    number_column("premium_subscription_count"),
    flag_column("premium_progress_bar_enabled"),
    text_column("preferred_locale", "en-US", nullable=False),
    number_column("nsfw_level"),
    text_column("region"),
    number_column("max_members", 500_000),
    number_column("max_video_channel_users", 25),
    number_column("max_stage_video_channel_users", 50),
    json_column("incidents_data", JsonObject),
    json_column("welcome_screen", JsonObject),
    Column("recent_changes", Text(), nullable=False, default="", server_default=""),  # what the last versions changed
    *tag_columns(),
    index("vanity_url_code", unique=True),
    index("owner_id"),
)

_is_discoverable = literal_column("replace(features, '\"DISCOVERABLE\"', '')") != literal_column("features")
partial_index("ix_guilds_discoverable", guilds.c.id, where=_is_discoverable)

guild_discovery = table(
    "guild_discovery",
    id_column("guild_id", GuildId, key=True),
    number_column("primary_category_id"),
    json_column("keywords", list[str], default=[]),
)
"""What guilds are listed by; a guild that has chosen nothing has no row."""

guild_counters = table(
    "guild_counters",
    id_column("guild_id", GuildId, key=True),
    number_column("member_count"),
    number_column("state_version", added=True),  # counts the events so far that gateway nodes keep state by
)
"""Columns that change too often for the guild's row."""

roles = clustered(
    "roles",
    id_column("guild_id", GuildId, key=True),
    id_column("id", RoleId, key=True),
    text_column("name", nullable=False),
    number_column("color"),
    number_column("secondary_color", None),
    number_column("tertiary_color", None),
    flag_column("hoist"),
    media_column("icon"),
    text_column("unicode_emoji"),
    number_column("position"),
    Column("permissions", PermissionsColumn(), nullable=False, default=0),
    flag_column("managed"),
    flag_column("mentionable"),
    number_column("flags"),
    json_column("tags", JsonObject),
)

emojis = clustered(
    "emojis",
    id_column("guild_id", GuildId, key=True),
    id_column("id", EmojiId, key=True),
    text_column("name", nullable=False),
    json_column("roles", list[Snowflake], default=[]),
    id_column("user_id", UserId, nullable=True),
    flag_column("require_colons", default=True),
    flag_column("managed"),
    flag_column("animated"),
    flag_column("available", default=True),
    media_column("image"),  # the hash of what is shown
    index("id"),
)

stickers = clustered(
    "stickers",
    id_column("guild_id", GuildId, key=True),
    id_column("id", StickerId, key=True),
    text_column("name", nullable=False),
    text_column("description"),
    text_column("tags", "", nullable=False),
    number_column("type", 2),
    number_column("format_type", 1),
    flag_column("available", default=True),
    id_column("user_id", UserId, nullable=True),
    number_column("sort_value", None),
    media_column("file", "images", "lottie"),  # the hash of what is shown
    index("id"),
)

integrations = clustered(
    "integrations",
    id_column("guild_id", GuildId, key=True),
    id_column("id", IntegrationId, key=True),
    text_column("name", nullable=False),
    text_column("type", nullable=False),
    flag_column("enabled", default=True),
    id_column("application_id", ApplicationId, nullable=True),
    id_column("user_id", UserId, nullable=True),
    json_column("scopes", list[str], default=[]),
    json_column("account", JsonObject),
    index("application_id"),
)

onboardings = table(
    "onboardings",
    id_column("guild_id", GuildId, key=True),
    json_column("prompts", list[JsonObject], default=[]),
    json_column("default_channel_ids", list[Snowflake], default=[]),
    flag_column("enabled"),
    number_column("mode"),
)
"""Onboarding; a guild that never changed it has no row."""

screening_forms = table(
    "screening_forms",
    id_column("guild_id", GuildId, key=True),
    moment_column("version"),
    text_column("description"),
    json_column("form_fields", list[JsonObject], default=[]),
)
"""Membership screening; a guild that never changed it has no row."""

audit_entries = clustered(
    "audit_entries",
    id_column("guild_id", GuildId, key=True),
    id_column("id", AuditEntryId, key=True),
    id_column("user_id", UserId, nullable=True),
    id_column("target_id", Snowflake, nullable=True),
    number_column("action_type"),
    json_column("changes", list[JsonObject], default=[]),
    json_column("options", JsonObject),
    text_column("reason"),
)
