"""Calls in direct messages and groups.

Revision ID: 0069
Revises: 0068
"""

from moothall.storage.migrations.notation import create_clustered_tables, create_indexes, drop_tables

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None

_TABLES = {
    "calls (channel_id)": "channel_id whole, message_id whole, region text, ringing text",
    "call_voice_states (user_id)": """
        user_id whole, channel_id whole, session_id text, self_deaf flag, self_mute flag, self_video flag, node text""",
    "message_calls (channel_id, message_id)": """
        channel_id whole, message_id whole, participants text?, ended_at whole?""",
}


def upgrade() -> None:
    create_clustered_tables(_TABLES)
    create_indexes(["call_voice_states (channel_id)"])


def downgrade() -> None:
    drop_tables(_TABLES)
