"""The number of the last transaction of each connection, by which the outcome of an unanswered COMMIT is found out.

Revision ID: 0045
Revises: 0044
"""

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

_TABLES = {"commit_marks (slot)": "slot whole, number whole"}


def upgrade() -> None:
    create_tables(_TABLES)


def downgrade() -> None:
    drop_tables(_TABLES)
