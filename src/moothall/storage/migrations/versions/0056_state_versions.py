"""A number of each event by which gateway nodes keep the state of a guild, so that none is applied to a newer state.

Revision ID: 0056
Revises: 0055
"""

from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # With its values: no event that waits in the outbox has a greater one.
    op.execute("ALTER TABLE guild_counters RENAME COLUMN member_version TO state_version")


def downgrade() -> None:
    op.execute("ALTER TABLE guild_counters RENAME COLUMN state_version TO member_version")
