"""What guilds are listed by, and an index over those that are discoverable.

Revision ID: 0070
Revises: 0069
"""

import sqlalchemy as sa
from alembic import op

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None

_TABLES = {"guild_discovery (guild_id)": "guild_id whole, primary_category_id whole, keywords text"}
_INDEX = "ix_guilds_discoverable"


def upgrade() -> None:
    create_tables(_TABLES)
    named = sa.text("replace(features, '\"DISCOVERABLE\"', '') != features")
    op.create_index(_INDEX, "guilds", ["id"], sqlite_where=named, postgresql_where=named)


def downgrade() -> None:
    op.drop_index(_INDEX, "guilds")
    drop_tables(_TABLES)
