"""Invites that make friends.

Revision ID: 0054
Revises: 0053
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

_TABLES = {
    "friend_invites (user_id, code)": """
        user_id whole, code code, max_age whole, max_uses whole, uses whole, created_at whole, expires_at whole
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(["unique friend_invites (code)"])


def downgrade() -> None:
    drop_tables(_TABLES)
