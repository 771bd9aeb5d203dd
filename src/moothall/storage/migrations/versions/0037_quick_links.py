"""Links into Activities.

Revision ID: 0037
Revises: 0036
"""

import sqlalchemy as sa
from alembic import op

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

_TABLES = {
    "quick_links (id)": """
        id whole, application_id whole, title text, description text, image text, custom_id text?
    """
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(("quick_links (application_id)",))
    named = sa.column("image").is_not(None)
    op.create_index("ix_quick_links_image", "quick_links", ["image"], sqlite_where=named, postgresql_where=named)


def downgrade() -> None:
    drop_tables(_TABLES)
