"""`moothall retention` and `moothall hold`: after how many days messages are deleted, and what is kept all the same."""

import json
from typing import TYPE_CHECKING, Any

import click

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, takes_settings
from moothall.objects.ids import Snowflake
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.resources.legal_hold.queries import HoldRow
    from moothall.resources.retention.queries import RuleRow

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
_REASON = click.option("--reason", metavar="TEXT", help="For the log of operators.")
_DAYS = click.IntRange(1, 36_500)


@click.group(short_help="Say after how many days messages are deleted.")
def retention() -> None:
    """Say after how many days messages are deleted, in the whole instance, in a guild or in a channel.

    The rule of a channel counts before that of its guild, and that before the one of the instance.
    """


@retention.command("list", short_help="List the rules.")
@takes_settings(*STORAGE)
@_JSON
def list_rules(settings: Settings, *, as_json: bool) -> None:
    """List the rules after how many days messages are deleted."""
    from moothall.cli.execution import query_database
    from moothall.resources.retention.queries import select_rules
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list["RuleRow"]:
        return await select_rules(reader)

    for row in query_database(settings, read):
        _print_line(_describe_rule(row), as_json=as_json)


@retention.command("set", short_help="Set a rule.")
@takes_settings(*STORAGE)
@click.argument("scope", type=click.Choice(["instance", "guild", "channel"]))
@click.argument("target_id", metavar="[ID]", type=SNOWFLAKE, required=False)
@click.option("--days", type=_DAYS, metavar="N", help="Delete messages after so many days.")
@click.option("--large-mb", type=click.IntRange(1, 1_000_000), metavar="N", help="What a large file is, in megabytes.")
@click.option("--large-days", type=_DAYS, metavar="N", help="Delete messages with large files after so many days.")
@_REASON
@_JSON
def set_command(
    settings: Settings,
    scope: str,
    target_id: Snowflake | None,
    days: int | None,
    large_mb: int | None,
    large_days: int | None,
    reason: str | None,
    *,
    as_json: bool,
) -> None:
    """Set the rule of the instance, or of the guild or channel with the id ID; without any days there is none.

    What is over its time is deleted soon after, for good, unless it is held.
    """
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.retention.operations import set_rule
    from moothall.resources.retention.queries import select_rules

    async def work(ctx: Context) -> list["RuleRow"]:
        target = Snowflake(0) if scope == "instance" or target_id is None else target_id
        await set_rule(ctx, scope, target, message_days=days, large_file_mb=large_mb, large_file_days=large_days)
        return await select_rules(ctx.tx)

    for row in operate(settings, work, reason=reason):
        _print_line(_describe_rule(row), as_json=as_json)


@click.group(short_help="Keep what is deleted, for the law.")
def hold() -> None:
    """Keep copies of the messages of a user, a guild or a channel when they are edited or deleted."""


@hold.command("list", short_help="List the holds.")
@takes_settings(*STORAGE)
@_JSON
def list_holds(settings: Settings, *, as_json: bool) -> None:
    """List the holds, oldest first."""
    from moothall.cli.execution import query_database
    from moothall.resources.legal_hold.queries import select_holds
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list["HoldRow"]:
        return await select_holds(reader)

    for row in query_database(settings, read):
        _print_line(_describe_hold(row), as_json=as_json)


@hold.command("add", short_help="Hold what a user, a guild or a channel writes.")
@takes_settings(*STORAGE)
@click.argument("scope", type=click.Choice(["user", "guild", "channel"]))
@click.argument("target_id", metavar="ID", type=SNOWFLAKE)
@click.option("--name", required=True, metavar="TEXT", help="What it is for, like the number of a case.")
@_REASON
@_JSON
def add(settings: Settings, scope: str, target_id: Snowflake, name: str, reason: str | None, *, as_json: bool) -> None:
    """Keep each message of the user, guild or channel with the id ID that is edited or deleted from now on."""
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.legal_hold.operations import create_hold

    async def work(ctx: Context) -> "HoldRow":
        return await create_hold(ctx, scope, target_id, name)

    _print_line(_describe_hold(operate(settings, work, reason=reason)), as_json=as_json)


@hold.command("release", short_help="End a hold.")
@takes_settings(*STORAGE)
@click.argument("hold_id", metavar="HOLD", type=SNOWFLAKE)
@_REASON
def release(settings: Settings, hold_id: Snowflake, reason: str | None) -> None:
    """End the hold with the id HOLD; the copies that are under no other one are deleted."""
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.legal_hold.operations import release_hold

    async def work(ctx: Context) -> None:
        await release_hold(ctx, hold_id)

    operate(settings, work, reason=reason)
    click.echo(f"{int(hold_id)} is released")


def _describe_rule(row: "RuleRow") -> dict[str, Any]:
    return {
        "scope": row.scope,
        "target_id": str(int(row.target_id)) if row.target_id else None,
        "message_days": row.message_days,
        "large_file_mb": row.large_file_mb,
        "large_file_days": row.large_file_days,
    }


def _describe_hold(row: "HoldRow") -> dict[str, Any]:
    return {
        "id": str(int(row.id)),
        "scope": row.scope,
        "target_id": str(int(row.target_id)),
        "name": row.name,
        "created_at": row.created_at.wire(),
    }


def _print_line(fields: dict[str, Any], *, as_json: bool) -> None:
    shown = "  ".join(f"{key}: {value}" for key, value in fields.items() if value is not None)
    click.echo(json.dumps(fields) if as_json else shown)
