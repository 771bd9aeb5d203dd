"""Application commands and interactions.

Revision ID: 0011
Revises: 0010
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_TABLES = {
    "commands (application_id, guild_id, id)": """
        application_id whole, guild_id whole, id whole, type whole, name code, definition text, version whole
    """,
    "command_permissions (guild_id, application_id, command_id)": """
        guild_id whole, application_id whole, command_id whole, permissions text
    """,
    "command_creations (application_id, guild_id)": """
        application_id whole, guild_id whole, day whole, count whole
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(
        (
            "unique commands (application_id, guild_id, type, name)",
            "commands (guild_id)",
            "commands (id)",
            "command_permissions (application_id)",
        )
    )


def downgrade() -> None:
    drop_tables(_TABLES)
