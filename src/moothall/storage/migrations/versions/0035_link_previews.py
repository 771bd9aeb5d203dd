"""Links in messages have previews.

Revision ID: 0035
Revises: 0034
"""

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

_TABLES = {
    "link_previews (link_hash)": "link_hash code, embeds text, expires_at whole",
    "preview_requests (id)": """
        id whole, channel_id whole, message_id whole, links text, attempts whole, next_attempt_at whole,
        claim_id whole?
    """,
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_indexes(("link_previews (expires_at)", "preview_requests (next_attempt_at)", "preview_requests (claim_id)"))


def downgrade() -> None:
    drop_tables(_TABLES)
