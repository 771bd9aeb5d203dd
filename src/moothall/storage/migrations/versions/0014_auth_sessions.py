"""Logins that can be listed and expire when they are not used.

Revision ID: 0014
Revises: 0013
"""

from alembic import op

from moothall.objects.clock import CLOCK
from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_TABLES = {
    "auth_sessions (token_hash)": """
        token_hash bytes, user_id whole, last_used_at whole, network text?, os text?, platform text?
    """,
    "known_networks (user_id, network)": "user_id whole, network code, last_login_at whole",
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(
        (
            "auth_sessions (user_id)",
            "auth_sessions (last_used_at)",
            "known_networks (last_login_at)",
            "tokens (expires_at)",
        )
    )
    # Their last use is unknown, so they count as used now.
    now = CLOCK.now_ms()
    op.execute(
        "INSERT INTO auth_sessions (token_hash, user_id, last_used_at)"  # noqa: S608 a number
        f" SELECT hash, user_id, {now} FROM tokens WHERE kind = 1"
    )


def downgrade() -> None:
    op.drop_index("ix_tokens_expires_at", "tokens")
    drop_tables(_TABLES)
