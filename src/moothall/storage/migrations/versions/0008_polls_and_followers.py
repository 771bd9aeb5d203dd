"""Polls and channel followers.

Revision ID: 0008
Revises: 0007
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_indexes, create_tables, drop_tables

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TABLES = {
    "polls (channel_id, message_id)": """
        channel_id whole, message_id whole, body text, answers whole, multiselect flag, expires_at whole, ended flag""",
    "poll_counts (channel_id, message_id, answer_id)": """
        channel_id whole, message_id whole, answer_id whole, count whole""",
    "poll_votes (channel_id, message_id, answer_id, user_id)": """
        channel_id whole, message_id whole, answer_id whole, user_id whole""",
    "publications (channel_id, message_id)": "channel_id whole, message_id whole, published_at whole",
    "crossposts (channel_id, message_id, webhook_id)": """
        channel_id whole, message_id whole, webhook_id whole, copy_channel_id whole, copy_id whole""",
}


def upgrade() -> None:
    create_tables(_TABLES)
    add_columns({"jobs": "not_before whole = 0"})
    create_indexes(
        ["publications (channel_id, published_at)", "webhooks (source_channel_id, id)", "jobs (not_before, id)"]
    )


def downgrade() -> None:
    for name in ("ix_jobs_not_before_id", "ix_webhooks_source_channel_id_id"):
        op.drop_index(name)
    op.drop_column("jobs", "not_before")
    drop_tables(_TABLES)
