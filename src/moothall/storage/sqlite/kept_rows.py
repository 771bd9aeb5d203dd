"""Rows that transactions have read, kept for the transactions that follow until something that was read changes.

Nearly every message reads the same rows of its author, its guild and its channel, which seldom change. All writes of
the file pass through one connection, so that what a statement changes is known when it runs; what other processes have
committed, such as an operator's command, is noticed when a batch begins.
"""

from collections.abc import Sequence
from typing import Any, Final

from moothall.storage.query import ColumnsRead, Plan, Row

_MAX_KEPT: Final = 10_000
"""Results that are kept, of all queries together: some 10 MB at the most."""


class KeptRows:
    """The rows of kept queries, by what stands for a query (`ColumnsRead`) and by parameters."""

    def __init__(self) -> None:
        self._rows: dict[ColumnsRead, dict[Row, Sequence[Any]]] = {}
        self._queries: set[ColumnsRead] = set()
        self._affected: dict[str, tuple[ColumnsRead, ...]] = {}
        """The queries that read what a statement changes, by its text."""
        self._has_written = False
        self._unsettled: set[ColumnsRead] = set()
        """The queries that read what the turn under way has changed: it may be rolled back."""
        self._count = 0
        self._version: object = None

    def find(self, query: ColumnsRead, bindings: Row) -> Sequence[Any] | None:
        """The rows of a query; None if they are not kept."""
        rows = self._rows.get(query)
        return None if rows is None else rows.get(bindings)

    def keep(self, query: ColumnsRead, bindings: Row, rows: Sequence[Any]) -> None:
        """Keep the rows that a query has returned."""
        if query in self._unsettled:
            return
        if query not in self._queries:
            if self._has_written:
                return
            self._queries.add(query)
            self._affected.clear()
        if self._count >= _MAX_KEPT:
            self.forget()
        self._rows.setdefault(query, {})[bindings] = rows
        self._count += 1

    def note_write(self, plan: Plan) -> None:
        """Forget what a statement of the turn under way may have changed."""
        self._has_written = True
        affected = self._affected.get(plan.text)
        if affected is None:
            affected = tuple(query for query in self._queries if _changes(plan, query))
            self._affected[plan.text] = affected
        for query in affected:
            self._unsettled.add(query)
            self._count -= len(self._rows.pop(query, ()))

    def end_turn(self) -> None:
        """Keep again what the turn has changed: it is over."""
        self._has_written = False
        if self._unsettled:
            self._unsettled.clear()

    def begin_batch(self, version: object) -> None:
        """Forget everything if another process has changed the file: `version` is the connection's data version."""
        if version != self._version:
            self._version = version
            self.forget()

    def forget(self) -> None:
        """Forget all rows."""
        self._rows.clear()
        self._count = 0


def _changes(plan: Plan, query: ColumnsRead) -> bool:
    if plan.changes is None:  # a statement that is only text
        return True
    columns = query.by_table.get(plan.changes)
    return columns is not None and (plan.sets is None or not columns.isdisjoint(plan.sets))
