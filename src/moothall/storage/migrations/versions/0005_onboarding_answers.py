"""Onboarding responses, the guild home, and nicknames in group DMs.

Revision ID: 0005
Revises: 0004
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_tables, drop_tables

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TABLES = {
    "onboarding_answers (guild_id, user_id)": """
        guild_id whole, user_id whole, option_ids text, prompts_seen text, options_seen text, role_ids text
    """,
    "guild_homes (guild_id)": """
        guild_id whole, enabled flag, welcome_message text?, new_member_actions text, resource_channels text
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)
    add_columns({"channel_recipients": "nick text?"})


def downgrade() -> None:
    op.drop_column("channel_recipients", "nick")
    drop_tables(_TABLES)
