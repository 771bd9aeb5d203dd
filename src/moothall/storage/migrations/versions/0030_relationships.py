"""Users have friends, block others and write notes about them.

Revision ID: 0030
Revises: 0029
"""

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_TABLES = {
    "relationships (user_id, other_id)": """
        user_id whole, other_id whole, type whole, nickname text?, ignored flag, stranger flag, note text?, since whole
    """,
    "user_notes (user_id, about_id)": "user_id whole, about_id whole, note text",
}


def upgrade() -> None:
    create_tables(_TABLES)


def downgrade() -> None:
    drop_tables(_TABLES)
