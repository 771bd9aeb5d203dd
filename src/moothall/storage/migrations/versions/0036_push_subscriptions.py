"""Browsers subscribe to Web Push.

Revision ID: 0036
Revises: 0035
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

_TABLES = {
    "push_subscriptions (endpoint_hash)": """
        endpoint_hash code, id whole, user_id whole, token_hash bytes, endpoint text, p256dh text, auth text,
        created_at whole
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(("push_subscriptions (user_id, id)",))


def downgrade() -> None:
    drop_tables(_TABLES)
