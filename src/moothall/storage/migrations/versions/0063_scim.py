"""Accounts and groups that identity providers manage by SCIM.

Revision ID: 0063
Revises: 0062
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None

_TABLES = {
    "scim_users (provider_id, user_id)": """
        provider_id whole, user_id whole, user_name_key code, external_id code?, attributes text, deactivated flag,
        removed flag, version whole, created_at whole, updated_at whole
    """,
    "scim_groups (provider_id, id)": """
        provider_id whole, id whole, display_name code, external_id code?, version whole, created_at whole,
        updated_at whole
    """,
    "scim_group_members (provider_id, group_id, user_id)": "provider_id whole, group_id whole, user_id whole",
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(
        [
            "unique scim_users (provider_id, user_name_key)",
            "scim_users (provider_id, external_id)",
            "scim_users (user_id)",
            "unique scim_groups (provider_id, display_name)",
            "scim_group_members (user_id, provider_id)",
        ]
    )


def downgrade() -> None:
    drop_tables(_TABLES)
