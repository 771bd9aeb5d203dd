"""Webhook events of applications.

Revision ID: 0026
Revises: 0025
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

_TABLES = {
    "webhook_events (id)": """
        id whole, application_id whole, body text, created_at whole, attempts whole, next_attempt_at whole,
        claim_id whole?
    """,
    "webhook_event_failures (application_id)": "application_id whole, failures whole",
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(("webhook_events (next_attempt_at)", "webhook_events (application_id)", "webhook_events (claim_id)"))


def downgrade() -> None:
    drop_tables(_TABLES)
