"""Passkeys and security keys.

Revision ID: 0059
Revises: 0058
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None

_TABLES = {
    "authenticators (id)": """
        id whole, user_id whole, credential_id bytes, public_key bytes, sign_count whole, name text, created_at whole
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(["authenticators (user_id)", "unique authenticators (credential_id)"])


def downgrade() -> None:
    drop_tables(_TABLES)
