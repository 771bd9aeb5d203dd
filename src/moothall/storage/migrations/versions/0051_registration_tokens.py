"""Invitations to register an account.

Revision ID: 0051
Revises: 0050
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

_TABLES = {
    "registration_tokens (hash)": """
        hash bytes, id whole, note text?, address text?, uses_left whole, created_at whole, expires_at whole
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(["registration_tokens (id)"])


def downgrade() -> None:
    drop_tables(_TABLES)
