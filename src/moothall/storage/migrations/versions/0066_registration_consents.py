"""What people have confirmed when they registered.

Revision ID: 0066
Revises: 0065
"""

from moothall.storage.migrations.notation import create_clustered_tables, drop_tables

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None

_TABLES = {
    "registration_consents (user_id)": "user_id whole, terms_version text?, min_age whole?, created_at whole",
}


def upgrade() -> None:
    create_clustered_tables(_TABLES)


def downgrade() -> None:
    drop_tables(_TABLES)
