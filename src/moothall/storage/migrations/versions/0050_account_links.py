"""Links that verify addresses and reset passwords; accounts that the operator suspends, and pending ones.

Revision ID: 0050
Revises: 0049
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_indexes, create_tables, drop_tables

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

_TABLES = {
    "account_links (hash)": """
        hash bytes, user_id whole, purpose text, address text?, created_at whole, expires_at whole
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(["account_links (user_id)", "account_links (expires_at)"])
    add_columns({"users": "suspended flag = false, pending whole = 0"})


def downgrade() -> None:
    op.drop_column("users", "pending")
    op.drop_column("users", "suspended")
    drop_tables(_TABLES)
