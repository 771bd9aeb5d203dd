"""Pending members request to join, and moderators review it.

Revision ID: 0028
Revises: 0027
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_TABLES = {
    "join_requests (guild_id, id)": """
        guild_id whole, id whole, user_id whole, status text, created_at whole, reviewed_at whole?,
        reviewer_id whole?, rejection_reason text?, form_responses text
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(["join_requests (guild_id, user_id)", "join_requests (guild_id, status, id)"])


def downgrade() -> None:
    drop_tables(_TABLES)
