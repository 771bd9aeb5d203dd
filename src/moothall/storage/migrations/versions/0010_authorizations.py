"""OAuth2.

Revision ID: 0010
Revises: 0009
"""

from moothall.storage.migrations.notation import add_columns, create_indexes, create_tables, drop_tables

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_TABLES = {
    "connections (user_id, type, id)": """
        user_id whole, type code, id code, name text, verified flag, show_activity flag, visibility whole,
        created_at whole
    """,
    "authorizations (user_id, application_id)": """
        user_id whole, application_id whole, id whole, scopes text, user_install flag, created_at whole
    """,
    "authorization_codes (hash)": """
        hash bytes, application_id whole, user_id whole, grant_id whole, scopes text, redirect_uri text?,
        challenge text?, nonce text?, guild_id whole?, webhook_id whole?, created_at whole, expires_at whole,
        used flag
    """,
    "teams (id)": "id whole, name text, icon text?, owner_user_id whole, created_at whole",
    "team_members (team_id, user_id)": """
        team_id whole, user_id whole, membership_state whole, role text, created_at whole
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)
    add_columns({"tokens": "grant_id whole?", "applications": "public_client flag = false, team_id whole?"})
    create_indexes(
        (
            "applications (team_id)",
            "authorizations (application_id)",
            "authorization_codes (application_id)",
            "authorization_codes (expires_at)",
            "authorization_codes (user_id)",
            "team_members (user_id)",
        )
    )


def downgrade() -> None:
    drop_tables(_TABLES)
