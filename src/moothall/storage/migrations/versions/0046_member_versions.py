"""A number of each change of a guild's members, by which the gateway knows what a snapshot of the guild has.

Revision ID: 0046
Revises: 0045
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_columns({"guild_counters": "member_version whole = 0"})


def downgrade() -> None:
    op.drop_column("guild_counters", "member_version")
