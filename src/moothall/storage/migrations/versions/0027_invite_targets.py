"""Invites that only certain users may accept.

Revision ID: 0027
Revises: 0026
"""

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_TABLES = {
    "invite_targets (guild_id, code, user_id)": "guild_id whole, code code, user_id whole",
    "invite_target_jobs (guild_id, code)": """
        guild_id whole, code code, version whole, status whole, total_users whole, processed_users whole,
        created_at whole, completed_at whole?, waiting_ids text
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)


def downgrade() -> None:
    drop_tables(_TABLES)
