"""Figures over time.

Revision ID: 0071
Revises: 0070
"""

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0071"
down_revision = "0070"
branch_labels = None
depends_on = None

_TABLES = {"server_figures (span, start, name)": "span whole, start whole, name code, value whole"}


def upgrade() -> None:
    create_tables(_TABLES)


def downgrade() -> None:
    drop_tables(_TABLES)
