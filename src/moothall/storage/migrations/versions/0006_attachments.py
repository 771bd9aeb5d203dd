"""Files of messages.

Revision ID: 0006
Revises: 0005
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TABLES = {
    "attachments (channel_id, message_id, id)": """
        channel_id whole, message_id whole, id whole, content_type text, size whole, body bytes
    """,
    "dropped_files (message_id, id)": "message_id whole, id whole",
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(["attachments (id)"])


def downgrade() -> None:
    drop_tables(_TABLES)
