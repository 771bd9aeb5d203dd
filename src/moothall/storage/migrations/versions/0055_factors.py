"""Two-factor authentication: secrets, backup codes, and the requests that wait for a factor.

Revision ID: 0055
Revises: 0054
"""

from moothall.storage.migrations.notation import create_clustered_tables, create_indexes, create_tables, drop_tables

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

_FACTORS = {
    "factors (user_id)": "user_id whole, totp_secret bytes?, totp_step whole, failures whole, failures_end_at whole"
}
_TABLES = {
    "backup_codes (user_id, hash)": "user_id whole, hash code, consumed flag",
    "factor_tickets (hash)": """
        hash bytes, user_id whole, purpose text, undelete flag, key_hash bytes?, failures whole, expires_at whole
    """,
}


def upgrade() -> None:
    create_clustered_tables(_FACTORS)
    create_tables(_TABLES)
    create_indexes(["factor_tickets (user_id)", "factor_tickets (expires_at)"])


def downgrade() -> None:
    drop_tables(_TABLES)
    drop_tables(_FACTORS)
