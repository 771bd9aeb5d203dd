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
    "interactions (id)": """
        id whole, application_id whole, user_id whole, guild_id whole?, channel_id whole, type whole,
        token_hash bytes, state whole, callback whole?, nonce text?, name text?, owners text, metadata text,
        source_id whole?, source_room_id whole?, response_id whole?, response_room_id whole?, modal text?,
        followups whole, created_at whole
    """,
    "ephemeral_messages (id)": """
        id whole, interaction_id whole, channel_id whole, application_id whole, user_id whole
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
            "command_creations (guild_id)",
            "interactions (application_id, token_hash)",
            "interactions (created_at)",
            "ephemeral_messages (interaction_id)",
        )
    )


def downgrade() -> None:
    drop_tables(_TABLES)
