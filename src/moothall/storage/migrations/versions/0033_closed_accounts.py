"""Users disable and delete their accounts, and request archives of their data.

Revision ID: 0033
Revises: 0032
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_clustered_tables, create_tables, drop_tables

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_CLUSTERED = {
    "harvests (user_id)": """
        user_id whole, id whole, status whole, backends text, created_at whole, updated_at whole,
        completed_at whole?, polled_at whole?, size whole
    """
}
_TABLES = {
    "harvest_files (harvest_id, number)": """
        harvest_id whole, number whole, name text, checksum whole, size whole, compressed_size whole, length whole
    """
}


def upgrade() -> None:
    add_columns({"users": "disabled flag = false, deletes_at whole?"})
    create_clustered_tables(_CLUSTERED)
    create_tables(_TABLES)


def downgrade() -> None:
    drop_tables({**_CLUSTERED, **_TABLES})
    op.drop_column("users", "deletes_at")
    op.drop_column("users", "disabled")
