"""Users have read states, and mentions of messages are looked up by the user or role.

Revision ID: 0029
Revises: 0028
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_TABLES = {
    "read_states (user_id, type, resource_id)": """
        user_id whole, type whole, resource_id whole, last_acked_id whole, mention_count whole, counted_after_id whole,
        last_pin_timestamp whole?, flags whole, last_viewed whole?, version whole
    """,
    "message_mentions (channel_id, message_id, target_id)": """
        channel_id whole, message_id whole, target_id whole, author_id whole
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(("message_mentions (target_id, message_id, author_id)",))


def downgrade() -> None:
    drop_tables(_TABLES)
