"""Users accept or reject the direct messages of strangers, and timeouts outlast leaving a guild.

Revision ID: 0044
Revises: 0043
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns, create_indexes

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # 2 is accepted: direct messages that exist already are no message requests.
    add_columns(
        {
            "channel_recipients": "consent whole = 2, requested_at whole?",
            "former_members": "deaf flag = false, mute flag = false, communication_disabled_until whole?",
        }
    )
    create_indexes(["former_members (user_id)"])


def downgrade() -> None:
    op.drop_index("ix_former_members_user_id", "former_members")
    for name in ("communication_disabled_until", "mute", "deaf"):
        op.drop_column("former_members", name)
    op.drop_column("channel_recipients", "requested_at")
    op.drop_column("channel_recipients", "consent")
