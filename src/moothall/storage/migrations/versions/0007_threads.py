"""Columns for listing and searching threads: archival time, newest message, tags.

Revision ID: 0007
Revises: 0006
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_indexes, create_tables, drop_tables

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TABLES = {"thread_tags (thread_id, tag_id)": "thread_id whole, tag_id whole"}
_INDEXES = (
    "thread_tags (tag_id)",
    "channels (guild_id, archived, type)",
    "channels (parent_id, type, archived_at)",
    "channels (parent_id, latest_message_id)",
)


def upgrade() -> None:
    create_tables(_TABLES)
    add_columns({"channels": "archived_at whole?, latest_message_id whole?, name_key text?"})
    create_indexes(_INDEXES)


def downgrade() -> None:
    for columns in ("guild_id_archived_type", "parent_id_type_archived_at", "parent_id_latest_message_id"):
        op.drop_index(f"ix_channels_{columns}", "channels")
    for column in ("archived_at", "latest_message_id", "name_key"):
        op.drop_column("channels", column)
    drop_tables(_TABLES)
