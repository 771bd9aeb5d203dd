"""Applications have settings of their Activities, which run in channels.

Revision ID: 0034
Revises: 0033
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_indexes, create_tables, drop_tables

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

_TABLES = {
    "activity_instances (id)": """
        id whole, application_id whole, channel_id whole, guild_id whole?, created_at whole
    """,
    "activity_participants (instance_id, user_id)": """
        instance_id whole, user_id whole, session_id code, node text, joined_at whole
    """,
}
_COLUMNS = {
    "applications": "embedded_activity_config text?, proxy_url_map text = '[]', max_participants whole = -1",
    "interactions": "session_id text?",
}


def upgrade() -> None:
    create_tables(_TABLES)
    add_columns(_COLUMNS)
    create_indexes(
        (
            "unique activity_instances (application_id, channel_id)",
            "activity_instances (channel_id)",
            "activity_instances (guild_id)",
            "activity_participants (user_id, session_id)",
            "activity_participants (node)",
        )
    )


def downgrade() -> None:
    op.drop_column("interactions", "session_id")
    for name in ("max_participants", "proxy_url_map", "embedded_activity_config"):
        op.drop_column("applications", name)
    drop_tables(_TABLES)
