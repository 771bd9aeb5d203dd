"""Members of threads mute them.

Revision ID: 0042
Revises: 0041
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_columns({"thread_members": "muted flag = false, mute_config text?"})


def downgrade() -> None:
    op.drop_column("thread_members", "mute_config")
    op.drop_column("thread_members", "muted")
