"""Auto moderation rules.

Revision ID: 0019
Revises: 0018
"""

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_TABLES = {
    "auto_moderation_rules (guild_id, id)": """
        guild_id whole, id whole, name text, creator_id whole, event_type whole, trigger_type whole,
        trigger_metadata text, actions text, enabled flag, exempt_roles text, exempt_channels text
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)


def downgrade() -> None:
    drop_tables(_TABLES)
