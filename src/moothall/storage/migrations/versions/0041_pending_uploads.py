"""Files that are uploaded before the message that has them.

Revision ID: 0041
Revises: 0040
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

_TABLES = {
    "pending_uploads (id)": """
        id whole, user_id whole, channel_id whole, filename text, max_size whole, created_at whole, file_id whole?,
        size whole, content_type text?, width whole?, height whole?, animated flag
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(("pending_uploads (user_id, id)", "pending_uploads (file_id)"))


def downgrade() -> None:
    drop_tables(_TABLES)
