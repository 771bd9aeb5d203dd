"""Fields of messages beside the body.

Revision ID: 0002
Revises: 0001
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_columns({"messages": "parts whole = 0"})


def downgrade() -> None:
    op.drop_column("messages", "parts")
