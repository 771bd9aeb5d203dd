"""Rows of the operators' log as the API and commands show them."""

from typing import Any

import msgspec
from msgspec import Struct

from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.operator_log.queries import LogRow


class LogEntry(Struct, frozen=True):
    """What an operator has done."""

    number: Snowflake
    created_at: Timestamp
    user_id: UserId | None
    """The operator; null for a command."""
    actor: str
    """Their name at that time; for a command the system's user."""
    origin: str
    """`session`, `token`, `command`, `setup`, or `account` for what a user does to their own account."""
    act: str
    target_id: Snowflake | None
    changes: dict[str, list[Any]]
    """The old and the new value of each thing that has changed."""
    reason: str | None
    hash: str
    """The hash of this row and all before it, in hexadecimal."""


def log_entry(row: LogRow) -> LogEntry:
    """The entry of a row."""
    return LogEntry(
        number=row.number,
        created_at=row.created_at,
        user_id=row.user_id,
        actor=row.actor,
        origin=row.origin,
        act=row.act,
        target_id=row.target_id,
        changes=msgspec.json.decode(row.changes),
        reason=row.reason,
        hash=row.hash.hex(),
    )
