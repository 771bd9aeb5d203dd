"""The statements that create a new database, made from the schema. `make tables` writes them into files.

A server reads those files: to make the statements takes longer than all else that a new database needs.
"""

from sqlalchemy.schema import CreateIndex, CreateTable

from moothall.storage.schema import metadata
from moothall.storage.schema.operators import OPERATOR_LOG_STATEMENTS
from moothall.storage.schema.retention import HOLD_STATEMENTS
from moothall.storage.schema.search import SEARCH_STATEMENTS
from moothall.storage.statements.compilation import sql_dialect


def create_statements(dialect: str) -> list[str]:
    """The statements that create every table and index, those of message search, and those that keep the log."""
    compiler = sql_dialect(dialect)
    statements = []
    for table in metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=compiler)))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        for index in indexes:
            condition = index.dialect_options["sqlite"]["where"]
            if dialect == "postgresql" and condition is not None:
                index.dialect_options["postgresql"]["where"] = condition
            statements.append(str(CreateIndex(index).compile(dialect=compiler)))
    return [*statements, *SEARCH_STATEMENTS[dialect], *OPERATOR_LOG_STATEMENTS[dialect], *HOLD_STATEMENTS[dialect]]


def render_script(dialect: str) -> str:
    """All of the statements as the text of a file, without spaces at the ends of lines."""
    lines = ";\n\n".join(each.strip() for each in create_statements(dialect)).splitlines()
    return "-- Written by `make tables` from moothall/storage/schema.\n\n" + "\n".join(map(str.rstrip, lines)) + ";\n"
