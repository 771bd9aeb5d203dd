"""Mails that wait to be sent, and the log of those that were.

Revision ID: 0049
Revises: 0048
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

_TABLES = {
    "mails (id)": """
        id whole, kind text, user_id whole?, address text, address_key code, network code?, language text,
        created_at whole, expires_at whole?, state whole, attempts whole, next_attempt_at whole?, sent_at whole?,
        last_error text?, sealed bytes?, claim_id whole?
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(
        [
            "mails (next_attempt_at)",
            "mails (created_at)",
            "mails (address_key)",
            "mails (user_id)",
            "mails (network)",
            "mails (claim_id)",
        ]
    )


def downgrade() -> None:
    drop_tables(_TABLES)
