"""Scheduled events and stage instances.

Revision ID: 0003
Revises: 0002
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TABLES = {
    "scheduled_events (guild_id, id)": """
        guild_id whole, id whole, channel_id whole?, creator_id whole?, name text, description text?, image text?,
        scheduled_start_time whole, scheduled_end_time whole?, privacy_level whole, status whole, entity_type whole,
        entity_id whole?, location text?, recurrence_rule text?, exceptions text, user_count whole, tending whole?""",
    "scheduled_event_users (guild_id, event_id, exception_id, user_id)": """
        guild_id whole, event_id whole, exception_id whole, user_id whole, response whole""",
    "stage_instances (guild_id, channel_id)": """
        guild_id whole, channel_id whole, id whole, topic text, privacy_level whole, discoverable_disabled flag,
        guild_scheduled_event_id whole?, opened_by whole""",
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(["scheduled_events (guild_id, status)", "scheduled_events (channel_id)"])


def downgrade() -> None:
    drop_tables(_TABLES)
