"""SKUs and entitlements.

Revision ID: 0022
Revises: 0021
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_TABLES = {
    "skus (id)": "id whole, application_id whole, type whole, name text, flags whole",
    "entitlements (application_id, id)": """
        application_id whole, id whole, sku_id whole, owner_id whole, guild_id whole?, user_id whole,
        subscription_id whole?, created_at whole, starts_at whole?, ends_at whole?, consumed flag, deleted flag
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(
        ("skus (application_id)", "entitlements (application_id, owner_id)", "entitlements (sku_id, subscription_id)")
    )


def downgrade() -> None:
    drop_tables(_TABLES)
