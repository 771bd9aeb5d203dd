"""Voice states have the start of their channel's session.

Revision ID: 0053
Revises: 0052
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_columns({"voice_states": "started_at whole?"})


def downgrade() -> None:
    op.drop_column("voice_states", "started_at")
