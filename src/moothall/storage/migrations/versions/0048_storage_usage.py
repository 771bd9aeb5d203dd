"""Each file of a message is charged to an account, and what each account has stored is counted.

Revision ID: 0048
Revises: 0047
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_tables, drop_tables

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

_TABLES = {"storage_usage (payer_id)": "payer_id whole, bytes whole"}

# The author; of a webhook's message its creator, its application's bot or the guild's owner; of what a user submits
# with an interaction that user. Copies in channels that follow others (type 2) and images of Activities, which end
# within a day, are charged to no account.
_PAYERS = """
    UPDATE attachments SET payer_id = coalesce(
        (SELECT CASE
            WHEN messages.webhook_id IS NULL THEN messages.author_id
            WHEN webhooks.id IS NULL THEN messages.author_id
            WHEN webhooks.type = 2 THEN NULL
            ELSE coalesce(webhooks.user_id, webhooks.application_id, guilds.owner_id) END
        FROM messages
        LEFT JOIN webhooks ON webhooks.id = messages.webhook_id
        LEFT JOIN guilds ON guilds.id = webhooks.guild_id
        WHERE messages.channel_id = attachments.channel_id AND messages.id = attachments.message_id),
        (SELECT ephemeral_messages.user_id FROM ephemeral_messages
        WHERE ephemeral_messages.id = attachments.message_id AND attachments.channel_id = attachments.message_id)
    )
"""
_USAGE = """
    INSERT INTO storage_usage (payer_id, bytes)
    SELECT files.payer_id, sum(CASE WHEN files.size < 4096 THEN 4096 ELSE files.size END)
    FROM (
        SELECT DISTINCT payer_id, id, size FROM attachments WHERE payer_id IS NOT NULL
        UNION ALL
        SELECT user_id AS payer_id, file_id AS id, size FROM pending_uploads WHERE file_id IS NOT NULL
    ) AS files
    GROUP BY files.payer_id
"""


def upgrade() -> None:
    add_columns({"attachments": "payer_id whole?"})
    create_tables(_TABLES)
    op.execute(_PAYERS)
    op.execute(_USAGE)


def downgrade() -> None:
    drop_tables(_TABLES)
    op.drop_column("attachments", "payer_id")
