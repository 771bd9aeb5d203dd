"""The avatars of single messages of webhooks.

Revision ID: 0052
Revises: 0051
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

_TABLES = {
    "message_avatars (channel_id, message_id)": """
        channel_id whole, message_id whole, webhook_id whole, hash code, url text
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(["message_avatars (webhook_id, hash)"])


def downgrade() -> None:
    drop_tables(_TABLES)
