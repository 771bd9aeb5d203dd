"""A guild's row lists what its last versions changed.

Revision ID: 0038
Revises: 0037
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_columns({"guilds": "recent_changes text = ''"})


def downgrade() -> None:
    op.drop_column("guilds", "recent_changes")
