"""Role connections and linked roles.

Revision ID: 0020
Revises: 0019
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_TABLES = {
    "role_connection_metadata (application_id)": "application_id whole, records text",
    "role_connections (application_id, user_id)": """
        application_id whole, user_id whole, platform_name text?, platform_username text?, metadata text
    """,
    "linked_roles (guild_id, role_id)": "guild_id whole, role_id whole, rules text",
    "linked_role_applications (application_id, guild_id, role_id)": """
        application_id whole, guild_id whole, role_id whole
    """,
    "linked_role_members (guild_id, role_id, user_id)": """
        guild_id whole, role_id whole, user_id whole, expires_at whole?
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(
        (
            "role_connections (user_id)",
            "linked_role_applications (guild_id, role_id)",
            "linked_role_members (user_id, guild_id)",
        )
    )


def downgrade() -> None:
    drop_tables(_TABLES)
