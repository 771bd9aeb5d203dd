"""Bytes of the files of each guild.

Revision ID: 0073
Revises: 0072
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_tables, drop_tables

revision = "0073"
down_revision = "0072"
branch_labels = None
depends_on = None

_TABLES = {"guild_storage (guild_id)": "guild_id whole, bytes whole, quota_mb whole?"}
_LEAST = 4096
"""The bytes that each file counts for at least."""


def upgrade() -> None:
    create_tables(_TABLES)
    add_columns({"attachments": "guild_id whole?"})
    op.execute(
        "UPDATE attachments SET guild_id = (SELECT guild_id FROM channels WHERE channels.id = attachments.channel_id)"
    )
    op.execute(
        "INSERT INTO guild_storage (guild_id, bytes)"  # noqa: S608 our number
        f" SELECT guild_id, SUM(CASE WHEN size > {_LEAST} THEN size ELSE {_LEAST} END)"
        " FROM (SELECT DISTINCT guild_id, id, size FROM attachments WHERE guild_id IS NOT NULL) AS files"
        " GROUP BY guild_id"
    )


def downgrade() -> None:
    op.drop_column("attachments", "guild_id")
    drop_tables(_TABLES)
