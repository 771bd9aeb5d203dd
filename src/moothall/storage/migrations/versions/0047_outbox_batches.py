"""The number of the last batch of events that was published, by which processes notice that NATS lost one.

Revision ID: 0047
Revises: 0046
"""

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

_TABLES = {"outbox_batches (id)": "id whole, published_at whole"}


def upgrade() -> None:
    create_tables(_TABLES, counted=["outbox_batches"])


def downgrade() -> None:
    drop_tables(_TABLES)
