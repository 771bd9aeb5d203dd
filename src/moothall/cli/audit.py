"""`moothall audit`: the log of what operators have done."""

import json
import re
from typing import TYPE_CHECKING, Any

import click

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.objects.ids import Snowflake
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.resources.operator_log.queries import LogRow

_KNOWN = re.compile(r"([1-9][0-9]{0,17}):([0-9a-f]{64})")


@click.group(short_help="Show and verify the log of what operators have done.")
def audit() -> None:
    """Show and verify the log of what operators have done: from the pages, by the API and by commands.

    The database refuses to change or delete its rows, and each has a hash over all rows before it.
    """


@audit.command("list", short_help="Show the newest rows of the log.")
@takes_settings(*STORAGE)
@click.option("--act", metavar="ACT", help="Only this act, like user.suspend, or this kind of acts, like user.")
@click.option("--target", type=SNOWFLAKE, metavar="ID", help="Only what was done to this account, guild or token.")
@click.option("--before", type=click.IntRange(1), metavar="N", help="Only rows with smaller numbers.")
@click.option("--limit", type=click.IntRange(1), default=100, metavar="N", help="How many to show [default 100].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(
    settings: Settings, act: str | None, target: Snowflake | None, before: int | None, limit: int, *, as_json: bool
) -> None:
    """Show rows of the log, newest first: who did what to what, when, with old and new values and the reason."""
    from moothall.cli.execution import query_database
    from moothall.resources.operator_log.queries import select_rows
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list["LogRow"]:
        return await select_rows(reader, before=before, act=act, target_id=target, maximum=limit + 1)

    rows = query_database(settings, read)
    for row in rows[:limit]:
        fields = _describe(row)
        changes = ", ".join(f"{name}: {old} -> {new}" for name, (old, new) in fields["changes"].items())
        cells = (
            fields["number"],
            fields["created_at"][:19],
            f"{row.actor} ({row.origin})",
            row.act,
            fields["target_id"],
            changes,
            row.reason,
        )
        click.echo(json.dumps(fields) if as_json else "  ".join(str(cell) for cell in cells if cell))
    if len(rows) > limit:
        click.echo(f"moothall: there are more; continue with --before {int(rows[limit - 1].number)}", err=True)


@audit.command(short_help="Verify that no row was changed or removed.")
@takes_settings(*STORAGE)
@click.option(
    "--known", multiple=True, metavar="N:HASH", help="A row whose hash was noted before must be as it was; repeatable."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(settings: Settings, known: tuple[str, ...], *, as_json: bool) -> None:
    """Compute the hashes of all rows; exit with 1 and name the first row that is not as it was written.

    Prints how many rows there are and the hash of the last one. Note both outside of this machine: rows that
    the owner of the database removes at the end are missed only by who knows that they were there. The
    server's log names them too, at each act.
    """
    from moothall.cli.execution import query_database
    from moothall.resources.operator_log.chain import LogBroken, VerifiedLog
    from moothall.resources.operator_log.chain import verify as verify_log
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    noted: list[tuple[int, str]] = []
    for text in known:
        match = _KNOWN.fullmatch(text)
        if match is None:
            fail(f"--known: {text!r} is not like 17:HASH")
        noted.append((int(match[1]), match[2]))

    async def read(reader: Reader, _box: SecretBox) -> VerifiedLog:
        return await verify_log(reader, noted)

    try:
        verified = query_database(settings, read)
    except LogBroken as problem:
        fail(str(problem))
    fields = {"rows": verified.rows, "head": f"{verified.rows}:{verified.head}"}
    click.echo(json.dumps(fields) if as_json else f"rows: {verified.rows}\nhead: {fields['head']}")


def _describe(row: "LogRow") -> dict[str, Any]:
    return {
        "number": str(int(row.number)),
        "created_at": row.created_at.wire(),
        "user_id": None if row.user_id is None else str(int(row.user_id)),
        "actor": row.actor,
        "origin": row.origin,
        "act": row.act,
        "target_id": None if row.target_id is None else str(int(row.target_id)),
        "changes": json.loads(row.changes),
        "reason": row.reason,
        "hash": row.hash.hex(),
    }
