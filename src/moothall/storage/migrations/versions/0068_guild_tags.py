"""Tags of guilds, pronouns, codes of devices, and since when users are in voice.

Revision ID: 0068
Revises: 0067
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_indexes, create_tables, drop_tables

revision = "0068"
down_revision = "0067"
branch_labels = None
depends_on = None

_TABLES = {
    "device_codes (hash)": """
        hash bytes, user_code_hash bytes, application_id whole, scopes text, status whole, user_id whole?,
        interval whole, polled_at whole?, created_at whole, expires_at whole
    """
}
_GUILD = "tag text?, badge whole?, badge_color_primary text?, badge_color_secondary text?"
_COLUMNS = {
    "users": "pronouns text?, primary_guild_id whole?, primary_guild_tag text?, primary_guild_badge text?",
    "guilds": _GUILD,
    "deleted_guilds": _GUILD,
    "voice_states": "connected_at whole?",
}


def upgrade() -> None:
    create_tables(_TABLES)
    add_columns(_COLUMNS)
    create_indexes(
        [
            "unique device_codes (user_code_hash)",
            "device_codes (expires_at)",
            "device_codes (application_id)",
            "device_codes (user_id)",
            "users (primary_guild_id)",
        ]
    )


def downgrade() -> None:
    op.drop_index("ix_users_primary_guild_id", "users")
    for table, listed in _COLUMNS.items():
        for column in reversed(listed.split(", ")):
            op.drop_column(table, column.split()[0])
    drop_tables(_TABLES)
