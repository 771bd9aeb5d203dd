"""The SQL of reports."""

from typing import Any

from msgspec import Struct

from moothall.objects.ids import MAX_ID, ChannelId, GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import ColumnElement, Select, bindparam, delete, func, insert, select, update
from moothall.storage.tables import reports


class ReportRow(Struct, frozen=True):
    """A row of `reports`."""

    id: Snowflake
    name: str
    reason: str
    reporter_id: UserId | None
    network: str | None
    user_id: UserId
    guild_id: GuildId | None
    channel_id: ChannelId | None
    target_id: Snowflake
    description: str
    evidence: str
    created_at: Timestamp
    closed_at: Timestamp | None
    closed_by: UserId | None
    outcome: str | None
    note: str | None


_r = reports.c
_insert = Query(lambda: insert(reports))
_select_one = Query(lambda: select(reports).where(_r.id == bindparam("report_id")), into=ReportRow)


def _newest(*conditions: ColumnElement[bool]) -> Select[Any]:
    return (
        select(reports)
        .where(_r.id < bindparam("before"), _r.user_id != bindparam("not_about"), *conditions)
        .order_by(_r.id.desc())
        .limit(bindparam("maximum"))
    )


_select_open = Query(lambda: _newest(_r.closed_at.is_(None)), into=ReportRow)
_select_closed = Query(lambda: _newest(_r.closed_at.is_not(None)), into=ReportRow)
_select_same = Query(
    lambda: select(_r.id).where(
        _r.reporter_id == bindparam("reporter_id"),
        _r.name == bindparam("name"),
        _r.target_id == bindparam("target_id"),
        _r.closed_at.is_(None),
    )
)
_select_of_reporter = Query(
    lambda: select(reports).where(_r.reporter_id == bindparam("reporter_id")).order_by(_r.id), into=ReportRow
)
_count_of_reporter = Query(
    lambda: (
        select(func.count())
        .select_from(reports)
        .where(_r.reporter_id == bindparam("reporter_id"), _r.created_at > bindparam("since"))
    )
)
_count_of_network = Query(
    lambda: (
        select(func.count())
        .select_from(reports)
        .where(_r.network == bindparam("network"), _r.created_at > bindparam("since"))
    )
)
_close = Query(
    lambda: (
        update(reports)
        .where(_r.id == bindparam("report_id"), _r.closed_at.is_(None))
        .values(
            closed_at=bindparam("now"),
            closed_by=bindparam("operator_id"),
            outcome=bindparam("result"),
            note=bindparam("words"),
        )
    )
)
_delete = Query(lambda: delete(reports).where(_r.id == bindparam("report_id")))
_forget_reporter = Query(
    lambda: (
        update(reports)
        .where(_r.reporter_id == bindparam("of_reporter"))
        .values(reporter_id=None, network=None, description="")
    )
)
_delete_closed_about = Query(
    lambda: delete(reports).where(_r.user_id == bindparam("user_id"), _r.closed_at.is_not(None))
)


async def insert_report(tx: Transaction, row: ReportRow) -> None:
    """Store a report."""
    await tx.execute(_insert, **{name: getattr(row, name) for name in ReportRow.__struct_fields__})


async def select_report(reader: Reader, report_id: Snowflake) -> ReportRow | None:
    """Read a report; None for an unknown one."""
    return await reader.one(_select_one, report_id=report_id)


async def select_reports(
    reader: Reader, *, closed: bool, not_about: UserId | None, before: Snowflake | None, maximum: int
) -> list[ReportRow]:
    """Read reports with smaller ids than `before`, newest first, but those about the user `not_about`."""
    query = _select_closed if closed else _select_open
    return await reader.all_long(query, before=before or MAX_ID, not_about=not_about or 0, maximum=maximum)


async def select_same(reader: Reader, reporter_id: UserId, name: str, target_id: Snowflake) -> Snowflake | None:
    """The id of the open report that a user has made of the same thing before."""
    row = await reader.one(_select_same, reporter_id=reporter_id, name=name, target_id=target_id)
    return None if row is None else Snowflake(row[0])


async def select_of_reporter(reader: Reader, reporter_id: UserId) -> list[ReportRow]:
    """Read the reports that a user has made, oldest first."""
    return await reader.all(_select_of_reporter, reporter_id=reporter_id)


async def count_of_reporter(reader: Reader, reporter_id: UserId, since: Timestamp) -> int:
    """Count the reports of a user after a moment."""
    return int(await reader.scalar(_count_of_reporter, reporter_id=reporter_id, since=since))


async def count_of_network(reader: Reader, network: str, since: Timestamp) -> int:
    """Count the reports from a network after a moment."""
    return int(await reader.scalar(_count_of_network, network=network, since=since))


async def close_open_report(
    tx: Transaction, report_id: Snowflake, now: Timestamp, operator_id: UserId | None, outcome: str, note: str | None
) -> bool:
    """Close a report that is open; return whether it was."""
    return bool(
        await tx.execute(_close, report_id=report_id, now=now, operator_id=operator_id, result=outcome, words=note)
    )


async def delete_report(tx: Transaction, report_id: Snowflake) -> None:
    """Delete a report with its evidence, if it is still there."""
    await tx.execute(_delete, report_id=report_id)


async def forget_user(tx: Transaction, user_id: UserId) -> None:
    """Take a user and their words out of the reports that they made, and delete closed reports about them."""
    await tx.execute(_forget_reporter, of_reporter=user_id)
    await tx.execute(_delete_closed_about, user_id=user_id)
