"""The groups of those who log in with an identity provider and a second factor.

Revision ID: 0062
Revises: 0061
"""

from alembic import op

from moothall.storage.migrations.notation import add_columns

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_columns({"factor_tickets": "provider_groups text?"})


def downgrade() -> None:
    op.drop_column("factor_tickets", "provider_groups")
