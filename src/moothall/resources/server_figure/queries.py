"""The SQL of figures over time."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import and_, bindparam, delete, or_, select
from moothall.storage.tables import server_figures

HOUR: Final = 1
DAY: Final = 24
"""The spans of rows, in hours."""
_KEY: Final = ("span", "start", "name")


class FigureRow(Struct, frozen=True):
    """A row of `server_figures` of one span."""

    start: int
    name: str
    value: int


_f = server_figures.c
_add = Query(
    lambda: upsert(server_figures, key=_KEY, update={"value": _f.value + bindparam("added", type_=_f.value.type)})
)
_set = Query(lambda: upsert(server_figures, key=_KEY, update=("value",)))
_select = Query(
    lambda: (
        select(_f.start, _f.name, _f.value)
        .where(_f.span == bindparam("span"), _f.start > bindparam("after"))
        .order_by(_f.start, _f.name)
    ),
    into=FigureRow,
)
_delete_old = Query(
    lambda: delete(server_figures).where(
        or_(
            and_(_f.span == HOUR, _f.start < bindparam("first_hour", type_=_f.start.type)),
            and_(_f.span == DAY, _f.start < bindparam("first_day", type_=_f.start.type)),
        )
    )
)


async def add_figures(tx: Transaction, hour: int, added: Mapping[str, int]) -> None:
    """Add to the figures of an hour, and of its day."""
    rows = [{**row, "added": row["value"]} for row in _rows(hour, added)]
    if rows:
        await tx.execute_many(_add, rows)


async def set_figures(tx: Transaction, hour: int, values: Mapping[str, int]) -> None:
    """Set figures of an hour, and of its day, in place of earlier ones."""
    await tx.execute_many(_set, _rows(hour, values))


def _rows(hour: int, figures: Mapping[str, int]) -> list[dict[str, object]]:
    # In one order, so that processes that write at the same moment seldom deadlock.
    return [
        {"span": span, "start": hour - hour % span, "name": name, "value": figures[name]}
        for span in (HOUR, DAY)
        for name in sorted(figures)
    ]


async def select_figures_after(reader: Reader, span: int, after: int) -> list[FigureRow]:
    """Read the figures of a span that begin after an hour, oldest first."""
    return await reader.all_long(_select, span=span, after=after)


async def delete_old_figures(tx: Transaction, *, first_hour: int, first_day: int) -> None:
    """Delete the figures by hour before an hour, and those by day before another."""
    await tx.execute(_delete_old, first_hour=first_hour, first_day=first_day)
