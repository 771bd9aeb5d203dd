"""Second factors that are removed at a time, as their users have lost them.

Revision ID: 0067
Revises: 0066
"""

from moothall.storage.migrations.notation import create_clustered_tables, drop_tables

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None

_TABLES = {"factor_recoveries (user_id)": "user_id whole, requested_at whole, due_at whole"}


def upgrade() -> None:
    create_clustered_tables(_TABLES)


def downgrade() -> None:
    drop_tables(_TABLES)
