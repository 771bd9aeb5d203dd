"""`moothall application`: list, disable and enable applications."""

import json
from typing import TYPE_CHECKING

import click

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, takes_settings
from moothall.objects.ids import ApplicationId, Snowflake, UserId
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.resources.application_administration.queries import ApplicationSummaryRow

_APPLICATION = click.argument("application_id", metavar="ID", type=SNOWFLAKE)
_REASON = click.option("--reason", metavar="TEXT", help="For the log of operators.")


@click.group(short_help="List, disable and enable applications.")
def application() -> None:
    """List, disable and enable applications with their bots."""


@application.command("list", short_help="List applications.")
@takes_settings(*STORAGE)
@click.option("--search", default="", metavar="TEXT", help="Only those with TEXT in their names.")
@click.option("--owner", type=SNOWFLAKE, metavar="USER", help="Those of the user with this id.")
@click.option("--before", type=SNOWFLAKE, metavar="ID", help="Only those with smaller ids: the last one shown before.")
@click.option("--limit", type=click.IntRange(1), default=100, metavar="N", help="How many to show [default 100].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(
    settings: Settings, search: str, owner: Snowflake | None, before: Snowflake | None, limit: int, *, as_json: bool
) -> None:
    """List applications, newest first, with their owners and the numbers of their guilds."""
    from moothall.cli.execution import query_database
    from moothall.resources.application_administration.queries import select_matching
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list["ApplicationSummaryRow"]:
        last = None if before is None else ApplicationId(before)
        owner_id = None if owner is None else UserId(owner)
        return await select_matching(reader, search=search, owner_id=owner_id, before=last, maximum=limit)

    for row in query_database(settings, read):
        fields = {
            "id": str(int(row.id)),
            "name": row.name,
            "owner_id": str(int(row.owner_id)),
            "owner_name": row.owner_name,
            "disabled": row.disabled,
            "guild_count": row.guild_count,
        }
        state = "  disabled" if row.disabled else ""
        line = f"{fields['id']}  {row.guild_count} guilds  {row.owner_name or '-'}  {row.name}{state}"
        click.echo(json.dumps(fields) if as_json else line)


@application.command(short_help="Disable an application.")
@takes_settings(*STORAGE)
@_APPLICATION
@_REASON
def disable(settings: Settings, application_id: Snowflake, reason: str | None) -> None:
    """Disable the application with the id ID: its tokens are refused, and no one can use or authorize it."""
    _set_disabled(settings, application_id, reason, disabled=True)


@application.command(short_help="Enable an application again.")
@takes_settings(*STORAGE)
@_APPLICATION
@_REASON
def enable(settings: Settings, application_id: Snowflake, reason: str | None) -> None:
    """Let the application with the id ID be used again, with all its tokens."""
    _set_disabled(settings, application_id, reason, disabled=False)


def _set_disabled(settings: Settings, application_id: Snowflake, reason: str | None, *, disabled: bool) -> None:
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.application_administration.operations import set_disabled

    async def work(ctx: Context) -> None:
        await set_disabled(ctx, ApplicationId(application_id), disabled=disabled)

    operate(settings, work, reason=reason)
    click.echo(f"{int(application_id)} is {'disabled' if disabled else 'enabled'}")
