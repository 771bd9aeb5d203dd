"""`moothall operator`: who may run the server from the pages of operators and by their API."""

import json
from typing import TYPE_CHECKING, Any

import click

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.objects.ids import Snowflake
from moothall.objects.json_object import JsonObject
from moothall.objects.operator import ALL, OperatorPermission, format_permissions
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.api.context import Context
    from moothall.api.operators import OperatorRow

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
_NAME = click.argument("name", metavar="NAME|ADDRESS|ID")


@click.group(short_help="Make accounts operators of the server, and list them.")
def operator() -> None:
    """Make accounts operators, who may run the server from its pages and by the API below /api/admin/v1.

    The kinds of acts are users, guilds, reports, settings, log and operators. The commands work whether the server runs
    or not, and are in the log of operators: see `moothall audit`.
    """


@operator.command(short_help="Make an account an operator, or change what an operator may do.")
@takes_settings(*STORAGE)
@_NAME
@click.option(
    "--may",
    type=click.Choice([permission.value for permission in OperatorPermission]),
    multiple=True,
    help="A kind of acts; repeatable. Without it, every kind.",
)
@click.option("--create", is_flag=True, help="Make an account with the username NAME, and print its password.")
@click.option("--reason", metavar="TEXT", help="For the log.")
@_JSON
def add(
    settings: Settings, name: str, may: tuple[str, ...], reason: str | None, *, create: bool, as_json: bool
) -> None:
    """Make the account NAME an operator, or let an operator do just what is named here."""
    import asyncio

    from moothall.cli.execution import operate
    from moothall.resources.operator.operations import set_operator
    from moothall.resources.user.account.operations import create_account
    from moothall.resources.user.lookup import get_by_login_or_id
    from moothall.resources.user.queries import select_user
    from moothall.runtime.secrets import Passwords, new_password

    permissions = frozenset(OperatorPermission(kind) for kind in may) or ALL
    password, password_hash = new_password(), ""
    if create:
        passwords = Passwords()
        password_hash = asyncio.run(passwords.hash(password))
        passwords.close()

    async def work(ctx: "Context") -> "OperatorRow":
        if create:
            row = await select_user(ctx.tx, await create_account(ctx, username=name, password_hash=password_hash))
            if row is None:
                raise RuntimeError("the account that was just made is not there")
        else:
            row = await get_by_login_or_id(ctx, name)
        return await set_operator(ctx, row, permissions)

    fields = _describe(operate(settings, work, reason=reason))
    if create:
        fields["password"] = password
    _print(fields, as_json=as_json)


@operator.command(short_help="Make an operator an ordinary user.")
@takes_settings(*STORAGE)
@_NAME
@click.option("--reason", metavar="TEXT", help="For the log.")
@_JSON
def remove(settings: Settings, name: str, reason: str | None, *, as_json: bool) -> None:
    """Make the operator NAME an ordinary user; the account stays, the operator's tokens end."""
    from moothall.cli.execution import operate
    from moothall.resources.operator.operations import remove_operator
    from moothall.resources.user.lookup import get_by_login_or_id

    async def work(ctx: "Context") -> "OperatorRow":
        row = await get_by_login_or_id(ctx, name)
        return await remove_operator(ctx, row.id)

    _print(_describe(operate(settings, work, reason=reason)), as_json=as_json)


@operator.command("list", short_help="Show the operators.")
@takes_settings(*STORAGE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(settings: Settings, *, as_json: bool) -> None:
    """Show the operators, and the kinds of acts that each may do."""
    from moothall.api.operators import select_operators
    from moothall.cli.execution import query_database
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list["OperatorRow"]:
        return await select_operators(reader)

    rows = query_database(settings, read)
    for row in rows:
        fields = _describe(row)
        cells = (fields["user_id"], row.username, "closed" if row.closed else "active", " ".join(fields["permissions"]))
        click.echo(json.dumps(fields) if as_json else "  ".join(cells))
    if not rows:
        click.echo("moothall: there is no operator; see `moothall operator add`", err=True)


def _describe(row: "OperatorRow") -> dict[str, Any]:
    return {
        "user_id": str(int(row.user_id)),
        "username": row.username,
        "permissions": format_permissions(row.permissions).split(),
        "closed": row.closed,
    }


def _print(fields: JsonObject, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(fields))
        return
    shown = {**fields, "permissions": " ".join(fields["permissions"]), "closed": "yes" if fields["closed"] else "no"}
    click.echo("\n".join(f"{key}: {value}" for key, value in shown.items()))


@click.group(short_help="Make and revoke tokens of operators for programs.")
def token() -> None:
    """Make and revoke tokens with which programs of an operator use the API below /api/admin/v1.

    A request has the header `Authorization: Operator TOKEN`. No other endpoint accepts such a token.
    """


@token.command(short_help="Make a token, and print it once.")
@takes_settings(*STORAGE)
@_NAME
@click.option(
    "--may",
    type=click.Choice([permission.value for permission in OperatorPermission]),
    multiple=True,
    required=True,
    help="A kind of acts; repeatable.",
)
@click.option("--days", type=click.IntRange(1, 365), default=90, metavar="N", help="How long it is valid [default 90].")
@click.option("--label", required=True, metavar="TEXT", help="What it is for.")
@_JSON
def create(settings: Settings, name: str, may: tuple[str, ...], days: int, label: str, *, as_json: bool) -> None:
    """Make a token of the operator NAME and print it; only its hash is stored."""
    from moothall.cli.execution import operate
    from moothall.resources.operator.operations import NewToken, create_token
    from moothall.resources.user.lookup import get_by_login_or_id

    if not label.strip() or len(label) > 100:
        fail("label: Must be between 1 and 100 in length.")

    async def work(ctx: "Context") -> NewToken:
        row = await get_by_login_or_id(ctx, name)
        return await create_token(ctx, row.id, label, [OperatorPermission(kind) for kind in may], days=days)

    made = operate(settings, work)
    fields = {"id": str(int(made.id)), "token": made.token, "expires_at": made.expires_at.wire()}
    click.echo(json.dumps(fields) if as_json else "\n".join(f"{key}: {value}" for key, value in fields.items()))


@token.command("list", short_help="Show the tokens that are valid.")
@takes_settings(*STORAGE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_tokens(settings: Settings, *, as_json: bool) -> None:
    """Show the tokens that are valid, without their secrets, which are not stored."""
    from moothall.cli.execution import query_database
    from moothall.objects.wire import Timestamp
    from moothall.resources.operator.queries import TokenRow, select_tokens
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> list[TokenRow]:
        return await select_tokens(reader, Timestamp.now())

    for row in query_database(settings, read):
        fields = {
            "id": str(int(row.id)),
            "user_id": str(int(row.user_id)),
            "name": row.name,
            "permissions": row.permissions.split(),
            "created_at": row.created_at.wire(),
            "expires_at": row.expires_at.wire(),
        }
        cells = (
            str(fields["id"]),
            str(fields["user_id"]),
            f"until {row.expires_at.wire()[:10]}",
            row.permissions,
            row.name,
        )
        click.echo(json.dumps(fields) if as_json else "  ".join(cells))


@token.command(short_help="Revoke a token.")
@takes_settings(*STORAGE)
@click.argument("token_id", metavar="ID", type=SNOWFLAKE)
@click.option("--reason", metavar="TEXT", help="For the log.")
def revoke(settings: Settings, token_id: Snowflake, reason: str | None) -> None:
    """Revoke the token ID, which `moothall token list` shows; the next request with it is refused."""
    from moothall.cli.execution import operate
    from moothall.resources.operator.operations import revoke_token

    async def work(ctx: "Context") -> None:
        await revoke_token(ctx, token_id)

    operate(settings, work, reason=reason)
    click.echo(f"revoked: {int(token_id)}")
