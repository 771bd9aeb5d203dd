"""Members whom auto moderation has quarantined are looked up by guild.

Revision ID: 0025
Revises: 0024
"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    is_quarantined = sa.text("flags & 1152 != 0")
    op.create_index(
        "ix_members_quarantined",
        "members",
        ["guild_id", "user_id"],
        sqlite_where=is_quarantined,
        postgresql_where=is_quarantined,
    )


def downgrade() -> None:
    op.drop_index("ix_members_quarantined")
