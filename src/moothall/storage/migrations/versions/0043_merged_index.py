"""Entries of the index of messages are merged at once on PostgreSQL, rather than read by each search until then.

Revision ID: 0043
Revises: 0042
"""

from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

_INDEX = "ix_message_index_document"
"""There is none while all messages are indexed anew."""


def upgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        op.execute(f"ALTER INDEX IF EXISTS {_INDEX} SET (fastupdate = off)")
        op.execute(f"SELECT gin_clean_pending_list(to_regclass('{_INDEX}'))")


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        op.execute(f"ALTER INDEX IF EXISTS {_INDEX} RESET (fastupdate)")
