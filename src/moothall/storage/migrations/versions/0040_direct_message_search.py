"""Direct messages are searched too: their changes are recorded, and those that exist are recorded as changed.

Revision ID: 0040
Revises: 0039
"""

from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

_NOTE = "INSERT INTO message_changes (channel_id, message_id)"
_DIRECT = "SELECT channel_id, id FROM messages WHERE guild_id IS NULL"


def _replace_triggers(*, guilds_only: bool) -> None:
    sqlite = op.get_context().dialect.name == "sqlite"
    for name, change, row in (
        ("message_came", "INSERT", "NEW"),
        ("message_changed", "UPDATE OF body, pinned, parts", "NEW"),
        ("message_went", "DELETE", "OLD"),
    ):
        condition = f"{row}.guild_id IS NOT NULL"
        if sqlite:
            when = f" WHEN {condition}" if guilds_only else ""
            action = f"BEGIN {_NOTE} VALUES ({row}.channel_id, {row}.id); END"
            op.execute(f"DROP TRIGGER {name}")
            op.execute(f"CREATE TRIGGER {name} AFTER {change} ON messages{when} {action}")
        else:
            when = f" WHEN ({condition})" if guilds_only else ""
            op.execute(f"DROP TRIGGER {name} ON messages")
            op.execute(
                f"CREATE TRIGGER {name} AFTER {change} ON messages FOR EACH ROW{when} EXECUTE FUNCTION note_message()"
            )


def upgrade() -> None:
    _replace_triggers(guilds_only=False)
    op.execute(f"{_NOTE} {_DIRECT}")


def downgrade() -> None:
    _replace_triggers(guilds_only=True)
    key = "rowid" if op.get_context().dialect.name == "sqlite" else "message_id"
    op.execute(f"DELETE FROM message_index WHERE {key} IN (SELECT id FROM messages WHERE guild_id IS NULL)")  # noqa: S608 a constant
