"""Members complete new member actions.

Revision ID: 0021
Revises: 0020
"""

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_TABLES = {"home_progress (guild_id, user_id)": "guild_id whole, user_id whole, channel_ids text"}


def upgrade() -> None:
    create_tables(_TABLES)


def downgrade() -> None:
    drop_tables(_TABLES)
