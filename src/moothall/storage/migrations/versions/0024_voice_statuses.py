"""Voice channels have a status.

Revision ID: 0024
Revises: 0023
"""

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

_TABLES = {"voice_statuses (guild_id, channel_id)": "guild_id whole, channel_id whole, status text"}


def upgrade() -> None:
    create_tables(_TABLES)


def downgrade() -> None:
    drop_tables(_TABLES)
