"""The SQL of the operators' log."""

from typing import Any, Final

from msgspec import Struct

from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import ColumnElement, Select, bindparam, insert, or_, select
from moothall.storage.tables import meta, operator_log, users


class LogRow(Struct, frozen=True):
    """A row of `operator_log`."""

    number: Snowflake
    created_at: Timestamp
    user_id: UserId | None
    actor: str
    origin: str
    act: str
    target_id: Snowflake | None
    changes: str
    reason: str | None
    hash: bytes


_l = operator_log.c
_insert = Query(lambda: insert(operator_log))
_select_last = Query(lambda: select(operator_log).order_by(_l.number.desc()).limit(1), into=LogRow)
_select_after = Query(
    lambda: select(operator_log).where(_l.number > bindparam("number")).order_by(_l.number).limit(bindparam("maximum")),
    into=LogRow,
)
_LAST: Final = (1 << 62) - 1
"""A number that no row has."""


def _newest(*conditions: ColumnElement[bool]) -> Select[Any]:
    chosen = or_(_l.act == bindparam("act"), _l.act.like(bindparam("kind"), escape="\\"))
    return (
        select(operator_log)
        .where(_l.number < bindparam("before"), chosen, *conditions)
        .order_by(_l.number.desc())
        .limit(bindparam("maximum"))
    )


_select_newest = Query(_newest, into=LogRow)
_select_of_target = Query(lambda: _newest(_l.target_id == bindparam("target_id")), into=LogRow)
_select_of_user = Query(lambda: _newest(_l.user_id == bindparam("user_id")), into=LogRow)
_lock = Query(lambda: upsert(meta, key=("key",), update=("value",)))
_select_username = Query(lambda: select(users.c.username).where(users.c.id == bindparam("user_id")))


def escape_like(text: str) -> str:
    """Escape what LIKE takes for wildcards."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


async def lock_log(tx: Transaction, now: Timestamp) -> None:
    """Let other transactions that add rows wait until this one ends."""
    await tx.execute(_lock, key="operator_log", value=now.wire())


async def select_last(reader: Reader) -> LogRow | None:
    """Read the newest row; None for an empty log."""
    return await reader.one(_select_last)


async def select_after(reader: Reader, number: int, maximum: int) -> list[LogRow]:
    """Read rows with greater numbers, oldest first."""
    return await reader.all_long(_select_after, number=number, maximum=maximum)


async def select_rows(
    reader: Reader,
    *,
    before: int | None = None,
    act: str | None = None,
    user_id: UserId | None = None,
    target_id: Snowflake | None = None,
    maximum: int,
) -> list[LogRow]:
    """Read rows with smaller numbers than `before`, newest first; `act` is an act, or the kind before its dot.

    Of `target_id` and `user_id` one counts, the former.
    """
    values: dict[str, object] = {
        "before": _LAST if before is None else before,
        "act": act or "",
        "kind": "%" if act is None else f"{escape_like(act)}.%",
        "maximum": maximum,
    }
    if target_id is not None:
        return await reader.all_long(_select_of_target, target_id=target_id, **values)
    if user_id is not None:
        return await reader.all_long(_select_of_user, user_id=user_id, **values)
    return await reader.all_long(_select_newest, **values)


async def insert_row(tx: Transaction, **columns: object) -> None:
    """Add a row."""
    await tx.execute(_insert, **columns)


async def select_username(reader: Reader, user_id: UserId) -> str | None:
    """Read the username of an account."""
    name: str | None = await reader.scalar(_select_username, user_id=user_id)
    return name
