"""The tables, as queries name them: those of `storage.schema`, whose use is recorded (`storage.deferred`)."""

from typing import TYPE_CHECKING, Any, cast

from moothall.storage.sql import Table
from moothall.storage.statements.deferred import DeferredTable, deferred_name
from moothall.storage.statements.statement import TableFacts
from moothall.storage.statements.store import table_facts

if TYPE_CHECKING:
    from moothall.storage.schema import *  # noqa: F403 every table, by its name
    from moothall.storage.schema.search import TextQuery, message_index_fts, message_index_gin

    __all__ = ["TextQuery", "facts_of", "message_index_fts", "message_index_gin", "table_named"]
else:
    TextQuery = deferred_name("moothall.storage.schema.search", "TextQuery")
    message_index_fts = DeferredTable("moothall.storage.schema.search", "message_index_fts", "message_index")
    message_index_gin = DeferredTable("moothall.storage.schema.search", "message_index_gin", "message_index")

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return table_named(name)


def table_named(name: str) -> Table:
    """The table of a name."""
    return cast("Table", DeferredTable("moothall.storage.schema", name, name))


def facts_of(table: Table) -> TableFacts:
    """The facts of a table, recorded or not."""
    if isinstance(table, DeferredTable):
        return table_facts()[table.name]
    from moothall.storage.statements.compilation import facts_of_table  # noqa: PLC0415 it is loaded where there are real tables

    return facts_of_table(table)
