"""Message search: a full-text index, and triggers that record messages to index.

A job, which this revision enqueues, indexes the existing messages. Its id is the lock of all writers of the index.

Revision ID: 0009
Revises: 0008
"""

from alembic import op

from moothall.storage.migrations.notation import create_tables, drop_tables

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_TABLES = {"message_changes (id)": "id whole, channel_id whole, message_id whole"}

_NOTE = "INSERT INTO message_changes (channel_id, message_id) VALUES"

_SQLITE = (
    (
        "CREATE VIRTUAL TABLE message_index USING fts5(facets, words, channel_id UNINDEXED, content='',"
        " contentless_delete=1, contentless_unindexed=1, tokenize='ascii')"
    ),
    (
        "CREATE TRIGGER message_came AFTER INSERT ON messages WHEN NEW.guild_id IS NOT NULL"
        f" BEGIN {_NOTE} (NEW.channel_id, NEW.id); END"
    ),
    (
        "CREATE TRIGGER message_changed AFTER UPDATE OF body, pinned, parts ON messages"
        f" WHEN NEW.guild_id IS NOT NULL BEGIN {_NOTE} (NEW.channel_id, NEW.id); END"
    ),
    (
        "CREATE TRIGGER message_went AFTER DELETE ON messages WHEN OLD.guild_id IS NOT NULL"
        f" BEGIN {_NOTE} (OLD.channel_id, OLD.id); END"
    ),
)
_POSTGRESQL = (
    (
        "CREATE TABLE message_index (message_id BIGINT NOT NULL, channel_id BIGINT NOT NULL,"
        " document TSVECTOR NOT NULL, CONSTRAINT pk_message_index PRIMARY KEY (message_id))"
    ),
    "CREATE INDEX ix_message_index_document ON message_index USING gin (document)",
    (
        "CREATE FUNCTION note_message() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF TG_OP = 'DELETE' THEN"
        f" {_NOTE} (OLD.channel_id, OLD.id); ELSE {_NOTE} (NEW.channel_id, NEW.id); END IF; RETURN NULL; END $$"
    ),
    (
        "CREATE TRIGGER message_came AFTER INSERT ON messages FOR EACH ROW"
        " WHEN (NEW.guild_id IS NOT NULL) EXECUTE FUNCTION note_message()"
    ),
    (
        "CREATE TRIGGER message_changed AFTER UPDATE OF body, pinned, parts ON messages FOR EACH ROW"
        " WHEN (NEW.guild_id IS NOT NULL) EXECUTE FUNCTION note_message()"
    ),
    (
        "CREATE TRIGGER message_went AFTER DELETE ON messages FOR EACH ROW"
        " WHEN (OLD.guild_id IS NOT NULL) EXECUTE FUNCTION note_message()"
    ),
)
_ENQUEUE = (
    "INSERT INTO jobs (id, kind, state, created_at, not_before)"
    " SELECT 4, 'index_messages', '{}', 0, 0 WHERE EXISTS (SELECT 1 FROM messages)"
)


def upgrade() -> None:
    create_tables(_TABLES, counted=["message_changes"])
    sqlite = op.get_context().dialect.name == "sqlite"
    for statement in (*(_SQLITE if sqlite else _POSTGRESQL), _ENQUEUE):
        op.execute(statement)


def downgrade() -> None:
    sqlite = op.get_context().dialect.name == "sqlite"
    for trigger in ("message_came", "message_changed", "message_went"):
        op.execute(f"DROP TRIGGER {trigger}{'' if sqlite else ' ON messages'}")
    if not sqlite:
        op.execute("DROP FUNCTION note_message()")
    op.execute("DROP TABLE message_index")
    op.execute("DELETE FROM jobs WHERE kind = 'index_messages'")
    drop_tables(_TABLES)
