"""Reports to the operators.

Revision ID: 0060
Revises: 0059
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None

_TABLES = {
    "reports (id)": """
        id whole, name text, reason text, reporter_id whole?, network code?, user_id whole, guild_id whole?,
        channel_id whole?, target_id whole, description text, evidence text, created_at whole, closed_at whole?,
        closed_by whole?, outcome text?, note text?
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(
        [
            "reports (reporter_id, created_at)",
            "reports (network, created_at)",
            "reports (user_id)",
            "reports (closed_at, id)",
        ]
    )


def downgrade() -> None:
    drop_tables(_TABLES)
