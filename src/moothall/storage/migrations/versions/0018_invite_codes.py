"""Invites are looked up by their code regardless of case.

Revision ID: 0018
Revises: 0017
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_invites_lower_code", "invites", [sa.text("lower(code)")])


def downgrade() -> None:
    op.drop_index("ix_invites_lower_code")
