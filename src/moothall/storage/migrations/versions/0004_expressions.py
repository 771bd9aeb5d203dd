"""Emojis, stickers and sounds.

Revision ID: 0004
Revises: 0003
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_indexes, create_tables, drop_tables

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TABLES = {
    "sounds (guild_id, id)": """
        guild_id whole, id whole, name text, volume text, emoji_id whole?, emoji_name text?, user_id whole?, file text,
        format text
    """,
    "application_emojis (application_id, id)": """
        application_id whole, id whole, name text, user_id whole?, animated flag, image text
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(("sounds (id)", "application_emojis (id)"))
    add_columns({"emojis": "image text?", "stickers": "file text?"})


def downgrade() -> None:
    op.drop_column("stickers", "file")
    op.drop_column("emojis", "image")
    drop_tables(_TABLES)
