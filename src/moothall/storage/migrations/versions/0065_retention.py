"""Rules of retention, legal holds, and triggers that keep copies of what is held.

Revision ID: 0065
Revises: 0064
"""

from alembic import op

from moothall.storage.migrations.notation import create_indexes, create_tables, drop_tables

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

_TABLES = {
    "retention_rules (scope, target_id)": """
        scope code, target_id whole, message_days whole?, large_file_mb whole?, large_file_days whole?,
        changed_at whole, changed_by whole?
    """,
    "legal_holds (id)": "id whole, scope code, target_id whole, name text, created_at whole, created_by whole?",
    "retained_files (channel_id, message_id, id)": """
        channel_id whole, message_id whole, id whole, content_type text, size whole, body bytes
    """,
}
_COUNTED = {
    "retained_messages (id)": """
        id whole, channel_id whole, message_id whole, guild_id whole?, author_id whole, deleted flag, body bytes,
        retained_at whole
    """
}

_COPY = "INSERT INTO retained_messages (channel_id, message_id, guild_id, author_id, deleted, body, retained_at)"
_RETAINED = (
    "EXISTS (SELECT 1 FROM legal_holds WHERE scope = 'user' AND target_id = {row}.author_id"
    " OR scope = 'guild' AND target_id = {row}.guild_id"
    " OR scope = 'channel' AND target_id IN ({row}.channel_id,"
    " (SELECT parent_id FROM channels WHERE channels.id = {row}.channel_id)))"
)
_OLD_RETAINED = _RETAINED.format(row="OLD")
# The message of a file is deleted before the file, or after it.
_FILE_KEPT = (
    "EXISTS (SELECT 1 FROM retained_messages WHERE message_id = OLD.message_id) OR EXISTS (SELECT 1 FROM messages"  # noqa: S608 our text
    f" WHERE messages.channel_id = OLD.channel_id AND messages.id = OLD.message_id"
    f" AND {_RETAINED.format(row='messages')})"
)
_COPY_FILE = "INSERT INTO retained_files (channel_id, message_id, id, content_type, size, body)"
_FILE = "OLD.channel_id, OLD.message_id, OLD.id, OLD.content_type, OLD.size, OLD.body"
_THREAD_RETAINED = "EXISTS (SELECT 1 FROM legal_holds WHERE scope = 'channel' AND target_id = OLD.parent_id)"
_HOLD_THREAD = "INSERT INTO legal_holds (id, scope, target_id, name, created_at)"
_WAS_DELETED = "TG_OP = 'DELETE'"
_SQLITE_NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
_POSTGRESQL_NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"


def _old(deleted: str, now: str) -> str:
    return f"OLD.channel_id, OLD.id, OLD.guild_id, OLD.author_id, {deleted}, OLD.body, {now}"


def _retained_thread(now: str) -> str:
    # The messages of a deleted thread are deleted later, when it cannot be told any more whose thread it was.
    return (
        f"{_HOLD_THREAD} SELECT OLD.id, 'channel', OLD.id, name, {now} FROM legal_holds"  # noqa: S608 our text
        " WHERE scope = 'channel' AND target_id = OLD.parent_id LIMIT 1 ON CONFLICT DO NOTHING"
    )


_STATEMENTS = {
    "sqlite": (
        (
            f"CREATE TRIGGER retained_message_went AFTER DELETE ON messages WHEN {_OLD_RETAINED}"
            f" BEGIN {_COPY} VALUES ({_old('1', _SQLITE_NOW)}); END"
        ),
        (
            f"CREATE TRIGGER retained_message_changed AFTER UPDATE OF body ON messages WHEN OLD.body <> NEW.body AND"
            f" {_OLD_RETAINED} BEGIN {_COPY} VALUES ({_old('0', _SQLITE_NOW)}); END"
        ),
        (
            f"CREATE TRIGGER retained_file_went AFTER DELETE ON attachments WHEN {_FILE_KEPT}"
            f" BEGIN {_COPY_FILE} VALUES ({_FILE}) ON CONFLICT DO NOTHING; END"
        ),
        (
            f"CREATE TRIGGER retained_thread_went AFTER DELETE ON channels WHEN {_THREAD_RETAINED}"
            f" BEGIN {_retained_thread(_SQLITE_NOW)}; END"
        ),
    ),
    "postgresql": (
        (
            "CREATE FUNCTION hold_message() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF (TG_OP = 'DELETE' OR OLD.body <> NEW.body) AND {_OLD_RETAINED} THEN"
            f" {_COPY} VALUES ({_old(_WAS_DELETED, _POSTGRESQL_NOW)}); END IF; RETURN NULL; END $$"
        ),
        (
            "CREATE TRIGGER retained_message_went AFTER DELETE OR UPDATE OF body ON messages FOR EACH ROW"
            " EXECUTE FUNCTION hold_message()"
        ),
        (
            "CREATE FUNCTION hold_file() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF {_FILE_KEPT} THEN {_COPY_FILE} VALUES ({_FILE}) ON CONFLICT DO NOTHING; END IF; RETURN NULL; END $$"
        ),
        "CREATE TRIGGER retained_file_went AFTER DELETE ON attachments FOR EACH ROW EXECUTE FUNCTION hold_file()",
        (
            "CREATE FUNCTION hold_thread() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" {_retained_thread(_POSTGRESQL_NOW)}; RETURN NULL; END $$"
        ),
        (
            "CREATE TRIGGER retained_thread_went AFTER DELETE ON channels FOR EACH ROW WHEN (OLD.parent_id IS NOT NULL)"
            " EXECUTE FUNCTION hold_thread()"
        ),
    ),
}


def upgrade() -> None:
    create_tables(_TABLES)
    create_tables(_COUNTED, counted=("retained_messages",))
    create_indexes(
        [
            "legal_holds (target_id)",
            "retained_messages (message_id)",
            "retained_messages (author_id, id)",
            "retained_messages (guild_id, id)",
            "retained_messages (channel_id, id)",
            "retained_files (id)",
        ]
    )
    for statement in _STATEMENTS[op.get_context().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    triggers = {
        "messages": ("retained_message_went", "retained_message_changed"),
        "attachments": ("retained_file_went",),
        "channels": ("retained_thread_went",),
    }
    on_postgresql = op.get_context().dialect.name != "sqlite"
    for table, names in triggers.items():
        for name in names:
            op.execute(f"DROP TRIGGER IF EXISTS {name}" + (f" ON {table}" if on_postgresql else ""))
    if on_postgresql:
        for name in ("hold_message", "hold_file", "hold_thread"):
            op.execute(f"DROP FUNCTION {name}()")
    drop_tables({**_TABLES, **_COUNTED})
