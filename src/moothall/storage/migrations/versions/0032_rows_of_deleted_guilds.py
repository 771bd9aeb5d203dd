"""Entitlements and settings of a deleted guild are looked up by guild, to be deleted.

Revision ID: 0032
Revises: 0031
"""

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_entitlements_guild_id", "entitlements", ["guild_id"])
    op.create_index("ix_user_guild_settings_guild_id", "user_guild_settings", ["guild_id"])


def downgrade() -> None:
    op.drop_index("ix_user_guild_settings_guild_id")
    op.drop_index("ix_entitlements_guild_id")
