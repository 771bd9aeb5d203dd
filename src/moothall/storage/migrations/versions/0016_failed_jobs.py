"""Jobs count failed attempts, and fail after too many.

Revision ID: 0016
Revises: 0015
"""

import sqlalchemy as sa
from alembic import op

from moothall.storage.migrations.notation import add_columns, create_indexes

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_columns({"jobs": "attempts whole = 0, failed_at whole?, last_error text?"})
    op.drop_index("ix_jobs_not_before_id")
    not_failed = sa.column("failed_at").is_(None)
    op.create_index(
        "ix_jobs_kind_not_before_id",
        "jobs",
        ["kind", "not_before", "id"],
        sqlite_where=not_failed,
        postgresql_where=not_failed,
    )


def downgrade() -> None:
    op.drop_index("ix_jobs_kind_not_before_id")
    for name in ("last_error", "failed_at", "attempts"):
        op.drop_column("jobs", name)
    create_indexes(["jobs (not_before, id)"])
