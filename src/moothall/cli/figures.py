"""`moothall figures` and `moothall storage`: how much there is on the server, over time and by guild and user."""

import json
from typing import TYPE_CHECKING

import click

from moothall.cli.options import STORAGE, takes_settings
from moothall.objects.wire import Timestamp, encode
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.resources.guild_administration.queries import GuildStorageRow
    from moothall.resources.server_figure.rules import FigureSample
    from moothall.resources.user_administration.queries import UserStorageRow

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
_MEGABYTE = 1_000_000


@click.command(short_help="Show figures of the last hours or days.")
@takes_settings(*STORAGE)
@click.option("--days", is_flag=True, help="By day, for two years; else by hour, for 14 days.")
@click.option("--limit", type=click.IntRange(1, 732), default=48, metavar="N", help="How many to show [default 48].")
@_JSON
def figures(settings: Settings, limit: int, *, days: bool, as_json: bool) -> None:
    """Show accounts, guilds, messages, requests, errors and latencies of the last hours or days, oldest first."""
    from moothall.cli.execution import query_database
    from moothall.resources.server_figure.queries import select_figures_after
    from moothall.resources.server_figure.rules import HOUR_MS, SPANS, samples_of
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    length = SPANS["day" if days else "hour"]
    hour = int(Timestamp.now()) // HOUR_MS

    async def read(reader: Reader, _box: SecretBox) -> list["FigureSample"]:
        return samples_of(await select_figures_after(reader, length, hour - hour % length - limit * length))

    for sample in query_database(settings, read):
        if as_json:
            click.echo(encode(sample))
            continue
        median = "-" if sample.median_ms is None else f"{sample.median_ms:.1f} ms"
        p99 = "-" if sample.p99_ms is None else f"{sample.p99_ms:.1f} ms"
        click.echo(
            f"{sample.start.wire()[:16]}  users {_number(sample.users)}  guilds {_number(sample.guilds)}"
            f"  messages {sample.messages}  requests {sample.requests}  errors {sample.errors}"
            f"  median {median}  p99 {p99}"
        )


@click.group(short_help="Show which guilds and users have stored most.")
def storage() -> None:
    """Show which guilds and users have stored most."""


@storage.command("guilds", short_help="List guilds by the bytes of their files.")
@takes_settings(*STORAGE)
@click.option("--limit", type=click.IntRange(1), default=50, metavar="N", help="How many to show [default 50].")
@_JSON
def list_guilds(settings: Settings, limit: int, *, as_json: bool) -> None:
    """List the guilds whose messages' files have most bytes, the largest first, with quotas of their own."""
    from moothall.cli.execution import query_database
    from moothall.resources.guild_administration.queries import select_largest
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list["GuildStorageRow"]:
        return await select_largest(reader, limit)

    for row in query_database(settings, read):
        fields = {
            "id": str(int(row.guild_id)),
            "name": row.name,
            "file_bytes": row.bytes,
            "storage_quota_mb": row.quota_mb,
        }
        quota = "" if row.quota_mb is None else f" of {row.quota_mb}"
        line = f"{fields['id']}  {row.bytes / _MEGABYTE:.1f}{quota} MB  {row.name or '-'}"
        click.echo(json.dumps(fields) if as_json else line)


@storage.command("users", short_help="List users by the bytes of their files.")
@takes_settings(*STORAGE)
@click.option("--limit", type=click.IntRange(1), default=50, metavar="N", help="How many to show [default 50].")
@_JSON
def list_users(settings: Settings, limit: int, *, as_json: bool) -> None:
    """List the users and bots whose files have most bytes, the largest first."""
    from moothall.cli.execution import query_database
    from moothall.resources.user_administration.queries import select_largest
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list["UserStorageRow"]:
        return await select_largest(reader, limit)

    for row in query_database(settings, read):
        fields = {
            "id": str(int(row.user_id)),
            "username": row.username,
            "bot": bool(row.bot),
            "file_bytes": row.bytes,
        }
        line = f"{fields['id']}  {row.bytes / _MEGABYTE:.1f} MB  {row.username or '-'}"
        click.echo(json.dumps(fields) if as_json else line)


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)
