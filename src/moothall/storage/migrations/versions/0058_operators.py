"""Operators, their tokens, their settings, and their log, which triggers keep as it is.

Revision ID: 0058
Revises: 0057
"""

from alembic import op

from moothall.storage.migrations.notation import create_clustered_tables, create_indexes, create_tables, drop_tables

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None

_CLUSTERED = {
    "operator_tokens (hash)": """
        hash bytes, id whole, user_id whole, name text, permissions text, created_at whole, expires_at whole
    """,
    "server_settings (name)": "name code, value text, changed_at whole, changed_by whole?",
}
_BY_NUMBER = {
    "operator_log (number)": """
        number whole, created_at whole, user_id whole?, actor text, origin text, act text, target_id whole?,
        changes text, reason text?, hash bytes
    """
}
_OPERATORS = {"operators (user_id)": "user_id whole, permissions text, created_at whole"}

_REFUSED = "rows of the log of operators are neither changed nor deleted"
_SQLITE = (
    (f"CREATE TRIGGER operator_log_changed BEFORE UPDATE ON operator_log BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END"),
    (f"CREATE TRIGGER operator_log_deleted BEFORE DELETE ON operator_log BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END"),
    (
        "CREATE TRIGGER operator_log_replaced BEFORE INSERT ON operator_log"  # noqa: S608 our text
        " WHEN EXISTS (SELECT 1 FROM operator_log WHERE number = NEW.number)"
        f" BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END"
    ),
)
_POSTGRESQL = (
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
)


def upgrade() -> None:
    create_clustered_tables(_OPERATORS)
    create_tables({**_CLUSTERED, **_BY_NUMBER})
    create_indexes(
        [
            "operator_tokens (id)",
            "operator_tokens (user_id)",
            "operator_log (user_id, number)",
            "operator_log (target_id, number)",
        ]
    )
    for statement in _SQLITE if op.get_context().dialect.name == "sqlite" else _POSTGRESQL:
        op.execute(statement)


def downgrade() -> None:
    drop_tables({**_OPERATORS, **_CLUSTERED, **_BY_NUMBER})
    if op.get_context().dialect.name != "sqlite":
        op.execute("DROP FUNCTION refuse_operator_log_change()")
