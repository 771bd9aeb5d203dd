"""Operators, their tokens, the log of what they have done, and the settings that they have changed."""

from typing import Final

from moothall.objects.ids import Snowflake, UserId
from moothall.storage.columns import bytes_column, id_column, key_column, moment_column, text_column
from moothall.storage.schema.metadata import clustered, index, table

operators = clustered(
    "operators",
    id_column("user_id", UserId, key=True),
    text_column("permissions", nullable=False),  # kinds of acts, separated by spaces
    moment_column("created_at"),
)
"""Accounts that may run the server."""

operator_tokens = clustered(
    "operator_tokens",
    bytes_column("hash", key=True),  # SHA-256
    id_column("id", Snowflake),
    id_column("user_id", UserId),
    text_column("name", nullable=False),
    text_column("permissions", nullable=False),  # of which those count that the operator still has
    moment_column("created_at"),
    moment_column("expires_at"),
    index("id"),
    index("user_id"),
)
"""Tokens of operators for programs. They are accepted by the endpoints of operators only."""

operator_log = table(
    "operator_log",
    id_column("number", Snowflake, key=True),  # 1, 2, 3 and so on
    moment_column("created_at"),
    id_column("user_id", UserId, nullable=True),  # NULL for a command
    text_column("actor", nullable=False),  # the name at that time: a username, or the system's user of a command
    text_column("origin", nullable=False),  # session, token, command or setup
    text_column("act", nullable=False),  # like user.suspend
    id_column("target_id", Snowflake, nullable=True),
    text_column("changes", nullable=False),  # JSON: {name: [old, new]}
    text_column("reason"),
    bytes_column("hash"),  # SHA-256 of the row before's hash and of this row
    index("user_id", "number"),
    index("target_id", "number"),
)
"""What operators have done: triggers refuse to change and to delete rows."""

server_settings = clustered(
    "server_settings",
    key_column("name", key=True),
    text_column("value", nullable=False),  # JSON
    moment_column("changed_at"),
    id_column("changed_by", UserId, nullable=True),  # NULL for a command
)
"""Settings that operators have changed while the server runs, in place of those of its configuration."""

_REFUSED: Final = "rows of the log of operators are neither changed nor deleted"

OPERATOR_LOG_STATEMENTS: Final[dict[str, tuple[str, ...]]] = {
    "sqlite": (
        *(
            f"CREATE TRIGGER operator_log_{name} BEFORE {event} ON operator_log"
            f" BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END"
            for name, event in (("changed", "UPDATE"), ("deleted", "DELETE"))
        ),
        # INSERT OR REPLACE deletes a row without its trigger.
        (
            "CREATE TRIGGER operator_log_replaced BEFORE INSERT ON operator_log"  # noqa: S608 our text
            " WHEN EXISTS (SELECT 1 FROM operator_log WHERE number = NEW.number)"
            f" BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END"
        ),
    ),
    "postgresql": (
        (
            "CREATE FUNCTION refuse_operator_log_change() RETURNS trigger LANGUAGE plpgsql AS $$"
            f" BEGIN RAISE EXCEPTION '{_REFUSED}'; END $$"
        ),
        (
            "CREATE TRIGGER operator_log_changed BEFORE UPDATE OR DELETE ON operator_log FOR EACH ROW"
            " EXECUTE FUNCTION refuse_operator_log_change()"
        ),
        (
            "CREATE TRIGGER operator_log_truncated BEFORE TRUNCATE ON operator_log FOR EACH STATEMENT"
            " EXECUTE FUNCTION refuse_operator_log_change()"
        ),
    ),
}
"""Statements that follow those of the tables, by dialect."""
