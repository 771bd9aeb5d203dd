"""Deleted guilds that an operator can restore.

Revision ID: 0064
Revises: 0063
"""

import sqlalchemy as sa
from alembic import op

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None

_TABLES = {
    "deleted_guilds (id)": """
        id whole, version whole, name text, icon text?, splash text?, discovery_splash text?, banner text?,
        description text?, owner_id whole, application_id whole?, afk_channel_id whole?, afk_timeout whole,
        widget_enabled flag, widget_channel_id whole?, verification_level whole, default_message_notifications
        whole, explicit_content_filter whole, features text, mfa_level whole, system_channel_id whole?,
        system_channel_flags whole, rules_channel_id whole?, public_updates_channel_id whole?,
        safety_alerts_channel_id whole?, vanity_url_code code?, vanity_url_uses whole, premium_tier whole,
        premium_subscription_count whole, premium_progress_bar_enabled flag, preferred_locale text, nsfw_level
        whole, region text?, max_members whole, max_video_channel_users whole, max_stage_video_channel_users
        whole, incidents_data text?, welcome_screen text?, recent_changes text, deleted_at whole, deletes_at
        whole, deleted_by whole?, restoring flag
    """,
    "deleted_guild_counters (guild_id)": """
        guild_id whole, member_count whole, state_version whole
    """,
    "deleted_guild_templates (guild_id)": """
        guild_id whole, code code, name text, description text?, usage_count whole, creator_id whole, created_at
        whole, updated_at whole, guild_version whole, snapshot text
    """,
    "deleted_invites (code)": """
        code code, guild_id whole?, channel_id whole, inviter_id whole?, type whole, target_type whole?,
        target_user_id whole?, target_application_id whole?, max_age whole, max_uses whole, uses whole,
        temporary flag, created_at whole, expires_at whole?, flags whole, role_ids text
    """,
    "deleted_linked_role_applications (application_id, guild_id, role_id)": """
        application_id whole, guild_id whole, role_id whole
    """,
    "deleted_webhooks (id)": """
        id whole, guild_id whole?, channel_id whole?, type whole, name text?, avatar text?, token bytes?,
        token_hash bytes?, user_id whole?, application_id whole?, source_guild_id whole?, source_channel_id
        whole?, url text?
    """,
    "deleted_commands (application_id, guild_id, id)": """
        application_id whole, guild_id whole, id whole, type whole, name code, definition text, version whole
    """,
    "deleted_command_creations (application_id, guild_id)": """
        application_id whole, guild_id whole, day whole, count whole
    """,
    "deleted_members (guild_id, user_id)": """
        guild_id whole, user_id whole, nick text?, nick_key code?, username_key code, avatar text?, banner
        text?, bio text?, roles text, joined_at whole, premium_since whole?, deaf flag, mute flag, flags whole,
        pending flag, communication_disabled_until whole?, temporary flag, guest_channel_id whole?
    """,
}
_MEDIA = (
    ("deleted_guilds", "icon"),
    ("deleted_guilds", "splash"),
    ("deleted_guilds", "discovery_splash"),
    ("deleted_guilds", "banner"),
    ("deleted_webhooks", "avatar"),
    ("deleted_members", "avatar"),
    ("deleted_members", "banner"),
)


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(
        [
            "deleted_invites (guild_id)",
            "deleted_linked_role_applications (guild_id)",
            "deleted_webhooks (guild_id)",
            "deleted_commands (guild_id)",
            "deleted_command_creations (guild_id)",
        ]
    )
    for table, column in _MEDIA:
        named = sa.column(column).is_not(None)
        op.create_index(f"ix_{table}_{column}", table, [column], sqlite_where=named, postgresql_where=named)


def downgrade() -> None:
    drop_tables(_TABLES)
