"""Images and sounds that no row names are removed: an index of each column that names some.

Revision ID: 0023
Revises: 0022
"""

import sqlalchemy as sa
from alembic import op

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_TABLES = {"unnamed_media (key)": "key code, since whole", "webhook_avatars (hash)": "hash code"}
_INDEXED = {
    "application_emojis": ["image"],
    "applications": ["icon", "cover_image"],
    "channels": ["icon"],
    "emojis": ["image"],
    "guilds": ["icon", "splash", "discovery_splash", "banner"],
    "members": ["avatar", "banner"],
    "roles": ["icon"],
    "scheduled_events": ["image"],
    "sounds": ["file"],
    "stickers": ["file"],
    "teams": ["icon"],
    "users": ["avatar", "banner"],
    "webhooks": ["avatar"],
}


def upgrade() -> None:
    create_tables(_TABLES)
    for table, columns in _INDEXED.items():
        for column in columns:
            named = sa.column(column).is_not(None)
            op.create_index(f"ix_{table}_{column}", table, [column], sqlite_where=named, postgresql_where=named)
    op.execute("INSERT INTO webhook_avatars (hash) SELECT DISTINCT avatar FROM webhooks WHERE avatar IS NOT NULL")


def downgrade() -> None:
    for table, columns in _INDEXED.items():
        for column in columns:
            op.drop_index(f"ix_{table}_{column}")
    drop_tables(_TABLES)
