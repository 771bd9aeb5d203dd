"""The full-text index of messages. Each engine has a full-text index of its own kind, which MetaData cannot describe.

Triggers write down which messages have changed, so that whatever changes them need not think of it;
the index follows behind (resources: message_search).
"""

from typing import Final

from sqlalchemy import BigInteger, Column, MetaData, Table, Text
from sqlalchemy.types import UserDefinedType

from moothall.objects.ids import ChannelId, MessageId
from moothall.storage.columns import WholeColumn, id_column
from moothall.storage.schema.metadata import table


class TextVector(UserDefinedType[str]):
    """PostgreSQL's tsvector."""

    cache_ok = True

    def get_col_spec(self, **_options: object) -> str:
        """Its name."""
        return "TSVECTOR"


class TextQuery(UserDefinedType[str]):
    """PostgreSQL's tsquery."""

    cache_ok = True

    def get_col_spec(self, **_options: object) -> str:
        """Its name."""
        return "TSQUERY"


message_changes = table(
    "message_changes",
    Column("id", WholeColumn(), primary_key=True, autoincrement=True),
    id_column("channel_id", ChannelId),
    id_column("message_id", MessageId),
)
"""Messages that were created, changed or deleted since the last indexing; filled by triggers."""

message_index_fts = Table(
    "message_index",
    MetaData(),
    Column("rowid", BigInteger(), nullable=False),
    Column("facets", Text(), nullable=False),
    Column("words", Text(), nullable=False),
    Column("channel_id", BigInteger(), nullable=False),
)
"""The index on SQLite: FTS5 without the texts. `rowid` is the message's id; terms are separated by spaces."""

message_index_gin = Table(
    "message_index",
    MetaData(),
    Column("message_id", BigInteger(), primary_key=True, autoincrement=False),
    Column("channel_id", BigInteger(), nullable=False),
    Column("document", TextVector(), nullable=False),
)
"""The index on PostgreSQL: words with their positions, and facets, which begin with `=`."""

_NOTE: Final = "INSERT INTO message_changes (channel_id, message_id) VALUES"

SEARCH_STATEMENTS: Final[dict[str, tuple[str, ...]]] = {
    "sqlite": (
        (
            "CREATE VIRTUAL TABLE message_index USING fts5(facets, words, channel_id UNINDEXED, content='',"
            " contentless_delete=1, contentless_unindexed=1, tokenize='ascii')"
        ),
        f"CREATE TRIGGER message_came AFTER INSERT ON messages BEGIN {_NOTE} (NEW.channel_id, NEW.id); END",
        (
            "CREATE TRIGGER message_changed AFTER UPDATE OF body, pinned, parts ON messages"
            f" BEGIN {_NOTE} (NEW.channel_id, NEW.id); END"
        ),
        f"CREATE TRIGGER message_went AFTER DELETE ON messages BEGIN {_NOTE} (OLD.channel_id, OLD.id); END",
    ),
    "postgresql": (
        (
            "CREATE TABLE message_index (message_id BIGINT NOT NULL, channel_id BIGINT NOT NULL,"
            " document TSVECTOR NOT NULL, CONSTRAINT pk_message_index PRIMARY KEY (message_id))"
        ),
        # Without a list of entries to be merged later: each search reads all of it, and a long one makes the planner
        # read the whole table instead of the index.
        "CREATE INDEX ix_message_index_document ON message_index USING gin (document) WITH (fastupdate = off)",
        (
            "CREATE FUNCTION note_message() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF TG_OP = 'DELETE' THEN"
            f" {_NOTE} (OLD.channel_id, OLD.id); ELSE {_NOTE} (NEW.channel_id, NEW.id); END IF; RETURN NULL; END $$"
        ),
        "CREATE TRIGGER message_came AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION note_message()",
        (
            "CREATE TRIGGER message_changed AFTER UPDATE OF body, pinned, parts ON messages FOR EACH ROW"
            " EXECUTE FUNCTION note_message()"
        ),
        "CREATE TRIGGER message_went AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION note_message()",
    ),
}
"""Statements that follow those of the tables, by dialect."""
