"""`moothall announcement`: tell everyone something in the client."""

import json
from typing import TYPE_CHECKING

import click

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, takes_settings
from moothall.objects.ids import Snowflake
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.resources.announcement.queries import AnnouncementRow

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
_REASON = click.option("--reason", metavar="TEXT", help="For the log of operators.")


@click.group(short_help="Tell everyone something in the client.")
def announcement() -> None:
    """Show words to everyone above the client's pages, for some hours."""


@announcement.command("list", short_help="List announcements.")
@takes_settings(*STORAGE)
@click.option("--limit", type=click.IntRange(1), default=50, metavar="N", help="How many to show [default 50].")
@_JSON
def list_command(settings: Settings, limit: int, *, as_json: bool) -> None:
    """List announcements, newest first, those that have ended too."""
    from moothall.cli.execution import query_database
    from moothall.resources.announcement.queries import select_newest
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list["AnnouncementRow"]:
        return await select_newest(reader, before=None, maximum=limit)

    for row in query_database(settings, read):
        _print(row, as_json=as_json)


@announcement.command("add", short_help="Tell everyone something.")
@takes_settings(*STORAGE)
@click.argument("content", metavar="TEXT")
@click.option("--hours", type=click.IntRange(1, 24 * 90), default=24, metavar="N", help="For so long [default 24].")
@click.option("--urgent", is_flag=True, help="As a warning.")
@_REASON
@_JSON
def add(settings: Settings, content: str, hours: int, reason: str | None, *, urgent: bool, as_json: bool) -> None:
    """Show TEXT to everyone; clients that are open show it within five minutes."""
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.announcement.operations import CONTENT_MAX, create_announcement

    if len(content) > CONTENT_MAX:
        raise click.UsageError(f"at most {CONTENT_MAX} characters")

    async def work(ctx: Context) -> "AnnouncementRow":
        return await create_announcement(ctx, content, urgent=urgent, hours=hours)

    _print(operate(settings, work, reason=reason), as_json=as_json)


@announcement.command("end", short_help="Take an announcement back.")
@takes_settings(*STORAGE)
@click.argument("announcement_id", metavar="ID", type=SNOWFLAKE)
@_REASON
@_JSON
def end(settings: Settings, announcement_id: Snowflake, reason: str | None, *, as_json: bool) -> None:
    """Show the announcement with the id ID no more."""
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.announcement.operations import end_announcement

    async def work(ctx: Context) -> "AnnouncementRow":
        return await end_announcement(ctx, announcement_id)

    _print(operate(settings, work, reason=reason), as_json=as_json)


def _print(row: "AnnouncementRow", *, as_json: bool) -> None:
    fields = {
        "id": str(int(row.id)),
        "content": row.content,
        "urgent": row.urgent,
        "created_at": row.created_at.wire(),
        "ends_at": row.ends_at.wire(),
    }
    line = f"{fields['id']}  until {row.ends_at.wire()[:16]}{'  urgent' if row.urgent else ''}  {row.content}"
    click.echo(json.dumps(fields) if as_json else line)
