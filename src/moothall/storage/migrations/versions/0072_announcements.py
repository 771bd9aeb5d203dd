"""Announcements, and applications that operators have disabled.

Revision ID: 0072
Revises: 0071
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_indexes, create_tables, drop_tables

revision = "0072"
down_revision = "0071"
branch_labels = None
depends_on = None

_TABLES = {
    "announcements (id)": """
        id whole, content text, urgent flag, created_at whole, created_by whole?, ends_at whole
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(["announcements (ends_at)"])
    add_columns({"applications": "disabled flag = false"})


def downgrade() -> None:
    op.drop_column("applications", "disabled")
    drop_tables(_TABLES)
