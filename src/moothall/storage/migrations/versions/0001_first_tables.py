"""The first tables.

Revision ID: 0001
Revises: nothing

A revision is frozen: it does not depend on the present schema.
"""

import sqlalchemy as sa
from alembic import op

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TABLES = {
    "meta (key)": """
        key code, value text
    """,
    "channels (id)": """
        id whole, guild_id whole?, type whole, parent_id whole?, position whole, name text?, topic text?,
        nsfw flag, bitrate whole?, user_limit whole?, rate_limit_per_user whole, rtc_region text?,
        video_quality_mode whole?, default_auto_archive_duration whole?,
        default_thread_rate_limit_per_user whole?, default_sort_order whole?, default_forum_layout whole?,
        default_reaction_emoji text?, available_tags text, flags whole, permission_overwrites text, icon text?,
        owner_id whole?, application_id whole?, thread_metadata text?, archived flag, applied_tags text,
        member_count whole?, message_count whole?, total_message_sent whole?
    """,
    "channel_activity (channel_id)": """
        channel_id whole, last_message_id whole?, last_pin_timestamp whole?
    """,
    "thread_members (thread_id, user_id)": """
        thread_id whole, user_id whole, join_timestamp whole, flags whole
    """,
    "channel_recipients (channel_id, user_id)": """
        channel_id whole, user_id whole, closed flag
    """,
    "dm_pairs (low_user_id, high_user_id)": """
        low_user_id whole, high_user_id whole, channel_id whole
    """,
    "invites (code)": """
        code code, guild_id whole?, channel_id whole, inviter_id whole?, type whole, target_type whole?,
        target_user_id whole?, target_application_id whole?, max_age whole, max_uses whole, uses whole,
        temporary flag, created_at whole, expires_at whole?, flags whole, role_ids text
    """,
    "webhooks (id)": """
        id whole, guild_id whole?, channel_id whole?, type whole, name text?, avatar text?, token bytes?,
        token_hash bytes?, user_id whole?, application_id whole?, source_guild_id whole?,
        source_channel_id whole?, url text?
    """,
    "guilds (id)": """
        id whole, version whole, name text, icon text?, splash text?, discovery_splash text?, banner text?,
        description text?, owner_id whole, application_id whole?, afk_channel_id whole?, afk_timeout whole,
        widget_enabled flag, widget_channel_id whole?, verification_level whole,
        default_message_notifications whole, explicit_content_filter whole, features text, mfa_level whole,
        system_channel_id whole?, system_channel_flags whole, rules_channel_id whole?,
        public_updates_channel_id whole?, safety_alerts_channel_id whole?, vanity_url_code code?,
        vanity_url_uses whole, premium_tier whole, premium_subscription_count whole,
        premium_progress_bar_enabled flag, preferred_locale text, nsfw_level whole, region text?,
        max_members whole, max_video_channel_users whole, max_stage_video_channel_users whole,
        incidents_data text?, welcome_screen text?
    """,
    "guild_counters (guild_id)": """
        guild_id whole, member_count whole
    """,
    "roles (guild_id, id)": """
        guild_id whole, id whole, name text, color whole, secondary_color whole?, tertiary_color whole?,
        hoist flag, icon text?, unicode_emoji text?, position whole, permissions whole, managed flag,
        mentionable flag, flags whole, tags text?
    """,
    "emojis (guild_id, id)": """
        guild_id whole, id whole, name text, roles text, user_id whole?, require_colons flag, managed flag,
        animated flag, available flag
    """,
    "stickers (guild_id, id)": """
        guild_id whole, id whole, name text, description text?, tags text, type whole, format_type whole,
        available flag, user_id whole?, sort_value whole?
    """,
    "integrations (guild_id, id)": """
        guild_id whole, id whole, name text, type text, enabled flag, application_id whole?, user_id whole?,
        scopes text, account text?
    """,
    "onboardings (guild_id)": """
        guild_id whole, prompts text, default_channel_ids text, enabled flag, mode whole
    """,
    "screening_forms (guild_id)": """
        guild_id whole, version whole, description text?, form_fields text
    """,
    "audit_entries (guild_id, id)": """
        guild_id whole, id whole, user_id whole?, target_id whole?, action_type whole, changes text,
        options text?, reason text?
    """,
    "members (guild_id, user_id)": """
        guild_id whole, user_id whole, nick text?, nick_key code?, username_key code, avatar text?, banner text?,
        bio text?, roles text, joined_at whole, premium_since whole?, deaf flag, mute flag, flags whole,
        pending flag, communication_disabled_until whole?, temporary flag, guest_channel_id whole?
    """,
    "member_activity (guild_id, user_id)": """
        guild_id whole, user_id whole, last_seen_at whole
    """,
    "former_members (guild_id, user_id)": """
        guild_id whole, user_id whole, left_at whole
    """,
    "bans (guild_id, user_id)": """
        guild_id whole, user_id whole, reason text?, created_at whole
    """,
    "voice_states (guild_id, user_id)": """
        guild_id whole, user_id whole, channel_id whole, session_id text, self_deaf flag, self_mute flag,
        self_stream flag, self_video flag, suppress flag, request_to_speak_timestamp whole?, node text
    """,
    "messages (channel_id, id)": """
        channel_id whole, id whole, guild_id whole?, author_id whole, webhook_id whole?, type whole, flags whole,
        pinned flag, reacted flag, replied_id whole?, mentions text?, body bytes, hidden_embeds text?
    """,
    "reactions (channel_id, message_id, emoji, user_id)": """
        channel_id whole, message_id whole, emoji code, user_id whole, reacted_at whole, burst flag
    """,
    "reaction_counts (channel_id, message_id, emoji)": """
        channel_id whole, message_id whole, emoji code, emoji_id whole?, emoji_name text?, animated flag,
        count whole, first_at whole
    """,
    "pins (channel_id, message_id)": """
        channel_id whole, message_id whole, pinned_at whole
    """,
    "message_nonces (channel_id, author_id, nonce)": """
        channel_id whole, author_id whole, nonce code, message_id whole, created_at whole
    """,
    "jobs (id)": """
        id whole, kind text, state text, created_at whole
    """,
    "nodes (number)": """
        number whole, name text, seen_at whole
    """,
    "outbox (id)": """
        id whole, node text, envelope bytes, created_at whole
    """,
    "users (id)": """
        id whole, username text, username_key code, discriminator text, global_name text?, avatar text?,
        banner text?, accent_color whole?, bio text, email text?, email_key code?, password_hash text?,
        verified flag, mfa_enabled flag, bot flag, system flag, flags whole, public_flags whole, locale text,
        premium_type whole, application_id whole?, deleted flag
    """,
    "tokens (hash)": """
        hash bytes, kind whole, user_id whole, application_id whole?, scopes text, created_at whole,
        expires_at whole?
    """,
    "applications (id)": """
        id whole, owner_id whole, bot_user_id whole?, name text, description text, icon text?, cover_image text?,
        bot_public flag, bot_require_code_grant flag, flags whole, verify_key text, private_key bytes,
        secret_hash bytes?, redirect_uris text, interactions_endpoint_url text?,
        role_connections_verification_url text?, tags text, install_params text?, integration_types_config text?,
        custom_install_url text?, terms_of_service_url text?, privacy_policy_url text?, event_webhooks_url text?,
        event_webhooks_status whole, event_webhooks_types text, created_at whole
    """,
}

_COUNTED = {"outbox"}
"""The tables with an automatic row number as primary key."""

_INDEXES = (
    "channels (guild_id, type)",
    "channels (parent_id, archived)",
    "thread_members (user_id)",
    "channel_recipients (user_id)",
    "invites (channel_id)",
    "invites (guild_id)",
    "webhooks (application_id)",
    "webhooks (channel_id)",
    "webhooks (guild_id)",
    "guilds (owner_id)",
    "unique guilds (vanity_url_code)",
    "emojis (id)",
    "stickers (id)",
    "integrations (application_id)",
    "members (guild_id, nick_key)",
    "members (guild_id, username_key)",
    "members (user_id, guild_id)",
    "voice_states (channel_id)",
    "voice_states (user_id)",
    "messages (author_id, id)",
    "message_nonces (created_at)",
    "users (application_id)",
    "unique users (email_key)",
    "tokens (user_id)",
    "tokens (application_id)",
    "applications (owner_id)",
)


def upgrade() -> None:
    create_tables(_TABLES, counted=_COUNTED)
    create_indexes(_INDEXES)
    people = sa.not_(sa.column("bot", sa.Boolean()))
    op.create_index(
        "uq_users_username_key", "users", ["username_key"], unique=True, sqlite_where=people, postgresql_where=people
    )
    guests = sa.column("guest_channel_id").is_not(None)
    op.create_index(
        "ix_members_guest_channel_id",
        "members",
        ["guest_channel_id"],
        sqlite_where=guests,
        postgresql_where=guests,
    )


def downgrade() -> None:
    drop_tables(_TABLES)
