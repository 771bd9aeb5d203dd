"""Saved messages, and mentions that users removed from their lists.

Revision ID: 0057
Revises: 0056
"""

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

_TABLES = {
    "dismissed_mentions (user_id, message_id)": "user_id whole, message_id whole",
    "saved_messages (user_id, channel_id, message_id)": """
        user_id whole, channel_id whole, message_id whole, saved_at whole, due_at whole?
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)


def downgrade() -> None:
    drop_tables(_TABLES)
