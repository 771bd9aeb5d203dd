"""How long messages stay, and copies of those that are held for the law."""

from typing import Final

from sqlalchemy import Column

from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.storage.columns import (
    WholeColumn,
    bytes_column,
    flag_column,
    id_column,
    key_column,
    moment_column,
    number_column,
    text_column,
)
from moothall.storage.schema.metadata import clustered, index, table

retention_rules = clustered(
    "retention_rules",
    key_column("scope", key=True),  # instance, guild or channel
    id_column("target_id", Snowflake, key=True),  # 0 for the instance
    number_column("message_days", None),  # NULL: no rule about it
    number_column("large_file_mb", None),
    number_column("large_file_days", None),
    moment_column("changed_at"),
    id_column("changed_by", UserId, nullable=True),  # NULL for a command
)
"""After how many days messages are deleted, and those with large files."""

legal_holds = table(
    "legal_holds",
    id_column("id", Snowflake, key=True),
    key_column("scope"),  # user, guild or channel
    id_column("target_id", Snowflake),
    text_column("name", nullable=False),  # what it is for, like the number of a case
    moment_column("created_at"),
    id_column("created_by", UserId, nullable=True),  # NULL for a command
    index("target_id"),
)
"""What is kept when it is deleted: the messages of a user, a guild or a channel."""

retained_messages = table(
    "retained_messages",
    Column("id", WholeColumn(), primary_key=True, autoincrement=True),
    id_column("channel_id", ChannelId),
    id_column("message_id", MessageId),
    id_column("guild_id", GuildId, nullable=True),
    id_column("author_id", UserId),
    flag_column("deleted"),  # else it was edited
    bytes_column("body"),  # as in `messages`
    moment_column("retained_at"),
    index("message_id"),
    index("author_id", "id"),
    index("guild_id", "id"),
    index("channel_id", "id"),
)
"""Copies of messages under a hold, as they were before each edit and before they were deleted; triggers write them."""

retained_files = clustered(
    "retained_files",
    id_column("channel_id", ChannelId, key=True),
    id_column("message_id", MessageId, key=True),
    id_column("id", Snowflake, key=True),
    text_column("content_type", nullable=False),
    number_column("size"),
    bytes_column("body"),  # as in `attachments`
    index("id"),
)
"""Files of held messages, which stay in the store."""

_COPY: Final = "INSERT INTO retained_messages (channel_id, message_id, guild_id, author_id, deleted, body, retained_at)"
_RETAINED: Final = (
    "EXISTS (SELECT 1 FROM legal_holds WHERE scope = 'user' AND target_id = {row}.author_id"
    " OR scope = 'guild' AND target_id = {row}.guild_id"
    " OR scope = 'channel' AND target_id IN ({row}.channel_id,"
    " (SELECT parent_id FROM channels WHERE channels.id = {row}.channel_id)))"
)
_OLD_RETAINED: Final = _RETAINED.format(row="OLD")
# The message of a file is deleted before the file, or after it.
_FILE_KEPT: Final = (
    "EXISTS (SELECT 1 FROM retained_messages WHERE message_id = OLD.message_id) OR EXISTS (SELECT 1 FROM messages"  # noqa: S608 our text
    f" WHERE messages.channel_id = OLD.channel_id AND messages.id = OLD.message_id"
    f" AND {_RETAINED.format(row='messages')})"
)
_COPY_FILE: Final = "INSERT INTO retained_files (channel_id, message_id, id, content_type, size, body)"
_FILE: Final = "OLD.channel_id, OLD.message_id, OLD.id, OLD.content_type, OLD.size, OLD.body"
_THREAD_RETAINED: Final = "EXISTS (SELECT 1 FROM legal_holds WHERE scope = 'channel' AND target_id = OLD.parent_id)"
_HOLD_THREAD: Final = "INSERT INTO legal_holds (id, scope, target_id, name, created_at)"
_WAS_DELETED: Final = "TG_OP = 'DELETE'"
_SQLITE_NOW: Final = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
_POSTGRESQL_NOW: Final = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"


def _old(deleted: str, now: str) -> str:
    return f"OLD.channel_id, OLD.id, OLD.guild_id, OLD.author_id, {deleted}, OLD.body, {now}"


def _retained_thread(now: str) -> str:
    # The messages of a deleted thread are deleted later, when it cannot be told any more whose thread it was.
    return (
        f"{_HOLD_THREAD} SELECT OLD.id, 'channel', OLD.id, name, {now} FROM legal_holds"  # noqa: S608 our text
        " WHERE scope = 'channel' AND target_id = OLD.parent_id LIMIT 1 ON CONFLICT DO NOTHING"
    )


HOLD_STATEMENTS: Final[dict[str, tuple[str, ...]]] = {
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
"""Statements that follow those of the tables, by dialect: triggers, so that what deletes need not think of holds."""
