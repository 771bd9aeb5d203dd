"""Refresh token families, to detect that a used token is used again.

Revision ID: 0015
Revises: 0014
"""

from moothall.storage.migrations.notation import add_columns

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_columns({"tokens": "current_hash bytes?"})


def downgrade() -> None:
    """Do nothing: older versions ignore the column."""
