"""Identity providers, and the accounts of those who log in with them.

Revision ID: 0061
Revises: 0060
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_indexes, create_tables, drop_tables

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

_TABLES = {
    "identity_providers (id)": """
        id whole, name code, label text, issuer text, client_id text, client_secret bytes?, scopes text,
        username_claim text, groups_claim text, creates_accounts flag, enabled flag, created_at whole
    """,
    "provider_groups (guild_id, id)": """
        guild_id whole, id whole, provider_id whole, name text, role_id whole?
    """,
    "provider_memberships (guild_id, user_id)": "guild_id whole, user_id whole, provider_id whole",
    "identities (provider_id, subject)": """
        provider_id whole, subject code, user_id whole, name text?, created_at whole, last_login_at whole?, ended flag
    """,
}
_LOGINS = ("auth_sessions", "factor_tickets")


def upgrade() -> None:
    create_tables(_TABLES)
    add_columns(dict.fromkeys(_LOGINS, "provider_id whole?, provider_session text?"))
    create_indexes(
        [
            "unique identity_providers (name)",
            "provider_groups (provider_id)",
            "provider_memberships (user_id)",
            "identities (user_id)",
            "auth_sessions (provider_id, provider_session)",
        ]
    )


def downgrade() -> None:
    op.drop_index("ix_auth_sessions_provider_id_provider_session", "auth_sessions")
    for table in _LOGINS:
        op.drop_column(table, "provider_session")
        op.drop_column(table, "provider_id")
    drop_tables(_TABLES)
