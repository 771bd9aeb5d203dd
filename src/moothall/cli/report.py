"""`moothall report`: what people have reported to the operators."""

import json
from typing import TYPE_CHECKING, Any

import click

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.objects.ids import Snowflake
from moothall.objects.json_object import JsonObject
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.resources.report.queries import ReportRow

_REPORT = click.argument("report_id", metavar="REPORT", type=SNOWFLAKE)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
_OUTCOMES = ("no_violation", "warned", "content_removed", "account_closed", "guild_changed", "other")


@click.group(short_help="List, show and close what people have reported.")
def report() -> None:
    """List, show and close what people have reported to the operators."""


@report.command("list", short_help="List reports.")
@takes_settings(*STORAGE)
@click.option("--closed", is_flag=True, help="Closed ones, instead of open ones.")
@click.option("--before", type=SNOWFLAKE, metavar="ID", help="Only those with smaller ids: the last one shown before.")
@click.option("--limit", type=click.IntRange(1), default=100, metavar="N", help="How many to show [default 100].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(settings: Settings, before: Snowflake | None, limit: int, *, closed: bool, as_json: bool) -> None:
    """List open reports, newest first."""
    from moothall.cli.execution import query_database
    from moothall.resources.report.queries import select_reports
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list["ReportRow"]:
        return await select_reports(reader, closed=closed, not_about=None, before=before, maximum=limit + 1)

    rows = query_database(settings, read)
    for row in rows[:limit]:
        fields = _describe(row)
        cells = (fields["id"], fields["created_at"], row.name, row.reason, fields["user_id"], row.outcome or "-")
        click.echo(json.dumps(fields) if as_json else "  ".join(str(cell) for cell in cells))
    if len(rows) > limit:
        click.echo(f"moothall: there are more; continue with --before {int(rows[limit - 1].id)}", err=True)


@report.command(short_help="Show a report with its evidence.")
@takes_settings(*STORAGE)
@_REPORT
@_JSON
def show(settings: Settings, report_id: Snowflake, *, as_json: bool) -> None:
    """Show the report with the id REPORT, and what was reported as it was at that moment."""
    from moothall.cli.execution import query_database
    from moothall.resources.report.queries import select_report
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> "ReportRow | None":
        return await select_report(reader, report_id)

    row = query_database(settings, read)
    if row is None:
        fail(f"{int(report_id)}: no such report")
    _print({**_describe(row), "evidence": json.loads(row.evidence)}, as_json=as_json)


@report.command(short_help="Close a report with what was done.")
@takes_settings(*STORAGE)
@_REPORT
@click.option("--outcome", type=click.Choice(_OUTCOMES), required=True, help="What was done.")
@click.option("--note", metavar="TEXT", help="For operators; it is deleted with the report.")
@click.option("--reason", metavar="TEXT", help="For the log.")
@_JSON
def close(
    settings: Settings, report_id: Snowflake, outcome: str, note: str | None, reason: str | None, *, as_json: bool
) -> None:
    """Close the report with the id REPORT; its reporter is notified by mail. It is deleted 90 days later."""
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.report.operations import Outcome, close_report, get_report

    if note is not None and len(note) > 1000:
        fail("note: Must be 1000 or fewer in length.")

    async def work(ctx: Context) -> tuple["ReportRow", bool]:
        notified = await close_report(ctx, report_id, Outcome(outcome), note)
        return await get_report(ctx, report_id), notified

    row, notified = operate(settings, work, reason=reason)
    _print({**_describe(row), "reporter_notified": notified}, as_json=as_json)


def _describe(row: "ReportRow") -> dict[str, Any]:
    """A report as the API has it."""
    ids = ("id", "reporter_id", "user_id", "guild_id", "channel_id", "target_id", "closed_by")
    return {
        **{name: None if getattr(row, name) is None else str(int(getattr(row, name))) for name in ids},
        "name": row.name,
        "reason": row.reason,
        "description": row.description,
        "state": "open" if row.closed_at is None else "closed",
        "created_at": row.created_at.wire(),
        "closed_at": None if row.closed_at is None else row.closed_at.wire(),
        "outcome": row.outcome,
        "note": row.note,
    }


def _print(fields: JsonObject, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(fields))
        return
    for key, value in fields.items():
        shown = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | bool) else value
        click.echo(f"{key}: {'-' if shown is None else shown}")
