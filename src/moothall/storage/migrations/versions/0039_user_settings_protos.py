"""Users have settings as protocol buffers.

Revision ID: 0039
Revises: 0038
"""

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

_TABLES = {
    "user_settings_protos (user_id, type)": "user_id whole, type whole, proto bytes, data_version whole",
}


def upgrade() -> None:
    create_tables(_TABLES)


def downgrade() -> None:
    drop_tables(_TABLES)
