"""Guild templates.

Revision ID: 0017
Revises: 0016
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_TABLES = {
    "guild_templates (guild_id)": """
        guild_id whole, code code, name text, description text?, usage_count whole, creator_id whole, created_at whole,
        updated_at whole, guild_version whole, snapshot text
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(["unique guild_templates (code)"])


def downgrade() -> None:
    drop_tables(_TABLES)
