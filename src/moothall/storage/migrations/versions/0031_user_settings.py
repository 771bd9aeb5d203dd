"""Users have settings, and notification settings in each guild.

Revision ID: 0031
Revises: 0030
"""

from moothall.storage.migrations.notation import create_clustered_tables, create_tables, drop_tables

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_CLUSTERED = {"user_settings (user_id)": "user_id whole, settings text"}
_TABLES = {
    "user_guild_settings (user_id, guild_id)": "user_id whole, guild_id whole, settings text, version whole",
}


def upgrade() -> None:
    create_clustered_tables(_CLUSTERED)
    create_tables(_TABLES)


def downgrade() -> None:
    drop_tables({**_CLUSTERED, **_TABLES})
