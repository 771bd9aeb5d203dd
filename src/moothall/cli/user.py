"""`moothall user`: list, create, suspend and delete accounts, and get people back into theirs."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.objects.ids import Snowflake
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import Timestamp
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.api.context import Context
    from moothall.objects.email_address import EmailAddress
    from moothall.storage.rows import UserRow


@click.group(short_help="List, create, suspend and delete accounts; links for new passwords.")
def user() -> None:
    """List, create, suspend and delete people's accounts, vouch for email addresses, make links for new passwords.

    The commands work whether the server runs or not; a running one applies the change at once.
    """


@user.command(short_help="Create an account.")
@takes_settings(*STORAGE)
@click.argument("name")
@click.option("--email", metavar="ADDRESS", help="An email address to log in with too; no mail is sent to it.")
@click.option("--verified", is_flag=True, help="Vouch for that address, as `moothall user verify` does.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input, up to the line's end.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def create(
    settings: Settings, name: str, email: str | None, *, verified: bool, password_stdin: bool, as_json: bool
) -> None:
    """Create an account with the username NAME; print its id and a session token.

    Without --password-stdin a password is generated and printed; only its hash is stored, so it cannot be shown again.
    Works whether the server runs or not, and also where registration is switched off.
    """
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.objects import limits
    from moothall.resources.operator_log.operations import record_act
    from moothall.resources.user.account.operations import Login, create_account, log_in
    from moothall.resources.user.password.strength import weakness
    from moothall.runtime.secrets import Passwords, new_password

    if verified and email is None:
        fail("give the address to vouch for with --email")
    address = _parse_address(email)
    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else new_password()
    if not limits.PASSWORD_MIN <= len(password) <= limits.PASSWORD_MAX:
        fail(f"password: Must be between {limits.PASSWORD_MIN} and {limits.PASSWORD_MAX} in length.")
    names = [text for text in (name, email) if text is not None]
    if password_stdin and (problem := weakness(password, names, settings.password_min_score)) is not None:
        fail(f"password: {problem}")
    passwords = Passwords()
    password_hash = asyncio.run(passwords.hash(password))
    passwords.close()

    async def work(ctx: Context) -> Login:
        user_id = await create_account(ctx, username=name, password_hash=password_hash, email=address, vouched=verified)
        await record_act(ctx, "user.create", user_id)
        return await log_in(ctx, user_id)

    login = operate(settings, work)
    result = {"id": str(int(login.user_id)), "username": name, "token": login.token}
    if not password_stdin:
        result["password"] = password
    click.echo(json.dumps(result) if as_json else "\n".join(f"{key}: {value}" for key, value in result.items()))


@user.command(short_help="Vouch for a user's email address.")
@takes_settings(*STORAGE)
@click.argument("name", metavar="USERNAME")
@click.option("--email", metavar="ADDRESS", help="The address that you know to be theirs; it becomes their address.")
@click.option("--revoke", is_flag=True, help="Withdraw the verification.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(settings: Settings, name: str, email: str | None, *, revoke: bool, as_json: bool) -> None:
    """Vouch for the email address of the user USERNAME, and print it.

    An address is unverified until its user has used the link in a mail, or the operator vouches for it, and again once
    it is changed.
    Without --email the account's present address becomes verified. With it, the account gets the address, and another
    account that has it unverified loses it. Works whether the server runs or not.
    """
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.user.account.operations import get_user_by_username
    from moothall.resources.user_administration.operations import revoke_address, verify_address
    from moothall.storage.rows import UserRow

    if revoke and email is not None:
        fail("give either --email or --revoke")
    address = _parse_address(email)

    async def work(ctx: Context) -> tuple[UserRow, UserRow | None]:
        row = await get_user_by_username(ctx, name)
        return (await revoke_address(ctx, row), None) if revoke else await verify_address(ctx, row, address)

    row, loser = operate(settings, work)
    result: dict[str, str | bool | None] = {
        "id": str(int(row.id)),
        "username": row.username,
        "email": row.email,
        "verified": row.verified,
    }
    if loser is not None:
        result["taken_from"] = loser.username
    if as_json:
        click.echo(json.dumps(result))
        return
    lines = {**result, "email": row.email or "none", "verified": "yes" if row.verified else "no"}
    click.echo("\n".join(f"{key}: {value}" for key, value in lines.items()))


_NAME = click.argument("name", metavar="NAME|ADDRESS|ID")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
_REASON = click.option("--reason", metavar="TEXT", help="For the log of operators.")
_STATES = ("active", "suspended", "closed", "pending", "unverified")


@user.command("list", short_help="List people's accounts.")
@takes_settings(*STORAGE)
@click.option("--search", metavar="TEXT", help="Only those with TEXT in username, display name or email address.")
@click.option("--state", "states", type=click.Choice(_STATES), multiple=True, help="Only in this state; repeatable.")
@click.option("--after", type=SNOWFLAKE, metavar="ID", help="Only those with greater ids: the last one shown before.")
@click.option("--limit", type=click.IntRange(1), default=100, metavar="N", help="How many to show [default 100].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(
    settings: Settings,
    search: str | None,
    states: tuple[str, ...],
    after: Snowflake | None,
    limit: int,
    *,
    as_json: bool,
) -> None:
    """List people's accounts by id, which is the order in which they were made.

    A closed account was disabled or deleted by its user, a suspended one by the operator.
    """
    from moothall.cli.execution import query_database
    from moothall.objects.ids import UserId
    from moothall.resources.user.queries import AccountState, list_users
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    chosen = [AccountState(state) for state in states]

    async def read(reader: Reader, _box: SecretBox) -> list["UserRow"]:
        last = None if after is None else UserId(after)
        return await list_users(reader, search=search, states=chosen, after=last, maximum=limit + 1)

    rows = query_database(settings, read)
    for row in rows[:limit]:
        fields = _describe(row)
        cells = (fields["id"], fields["created_at"][:10], fields["state"], row.username, row.email or "-")
        click.echo(json.dumps(fields) if as_json else "  ".join(cells))
    if len(rows) > limit:
        click.echo(f"moothall: there are more; continue with --after {int(rows[limit - 1].id)}", err=True)


@user.command(short_help="Show an account.")
@takes_settings(*STORAGE)
@_NAME
@_JSON
def show(settings: Settings, name: str, *, as_json: bool) -> None:
    """Show an account with what it has: guilds, applications, logins, the last use."""
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.application.queries import select_applications_of_owner
    from moothall.resources.guild.queries import count_guilds
    from moothall.resources.user.auth_session.queries import select_live
    from moothall.resources.user.lookup import get_by_login_or_id

    async def work(ctx: Context) -> JsonObject:
        row = await get_by_login_or_id(ctx, name)
        sessions = await select_live(ctx.tx, row.id, ctx.now)
        return {
            **_describe(row),
            "guilds": await count_guilds(ctx.tx, row.id),
            "applications": len(await select_applications_of_owner(ctx.tx, row.id)),
            "logins": len(sessions),
            "last_used_at": sessions[0].last_used_at.wire() if sessions else None,
        }

    _print(operate(settings, work), as_json=as_json)


@user.command("reset-password", short_help="Make a link for a new password.")
@takes_settings(*STORAGE, "public_url")
@_NAME
@click.option(
    "--minutes", type=click.IntRange(1, 7 * 24 * 60), default=60, metavar="N", help="How long it is valid [default 60]."
)
@_JSON
def reset_password(settings: Settings, name: str, minutes: int, *, as_json: bool) -> None:
    """Make a link by which a person chooses a new password, and print it, to pass it on to them.

    It is the link that a forgotten password brings by mail: good once, and it ends all logins of the account. Make sure
    that you give it to the owner of the account. It begins with public_url, else with the URL of the server that was
    started last.
    """
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.demo.record import load_base_url
    from moothall.resources.user.lookup import get_by_login_or_id
    from moothall.resources.user_administration.operations import create_reset_link

    async def work(ctx: Context) -> JsonObject:
        row = await get_by_login_or_id(ctx, name)
        if row.suspended:
            fail(f"{row.username} is disabled: see `moothall user enable`")
        url = settings.public_url or await load_base_url(ctx.tx)
        if url is not None:
            ctx.services.limits = structs.replace(ctx.services.limits, public_url=url.rstrip("/"))
        link, expires_at = await create_reset_link(ctx, row, minutes=minutes)
        return {"id": str(int(row.id)), "username": row.username, "link": link, "expires_at": expires_at.wire()}

    _print(operate(settings, work), as_json=as_json)


@user.command("reset-mfa", short_help="Remove the second factors of an account.")
@takes_settings(*STORAGE)
@_NAME
@_JSON
def reset_mfa(settings: Settings, name: str, *, as_json: bool) -> None:
    """Remove the second factors of an account whose owner has lost them, with the backup codes.

    The password alone logs in then; all logins end, and the owner gets a mail. Make sure that it is the owner
    who asks you for it. The log has a line about it.
    """
    from moothall.resources.user.mfa.operations import reset_factors

    async def reset(ctx: "Context", row: "UserRow") -> None:
        if not await reset_factors(ctx, row):
            fail(f"{row.username} has no second factor")

    _change(settings, name, reset, as_json=as_json)


@user.command(short_help="Suspend an account, and end its logins.")
@takes_settings(*STORAGE)
@_NAME
@_REASON
@_JSON
def disable(settings: Settings, name: str, reason: str | None, *, as_json: bool) -> None:
    """Suspend an account: all its logins, authorizations and links end at once, and no new login is possible.

    Only `moothall user enable` ends that. Its messages and memberships stay.
    """
    from moothall.resources.user_administration.operations import suspend_user

    _change(settings, name, suspend_user, as_json=as_json, reason=reason)


@user.command(short_help="End a suspension, or call off a deletion.")
@takes_settings(*STORAGE)
@_NAME
@_REASON
@_JSON
def enable(settings: Settings, name: str, reason: str | None, *, as_json: bool) -> None:
    """Let the user log in again to an account that was suspended, closed by its user, or is waiting to be deleted."""
    from moothall.resources.user_administration.operations import restore_user

    _change(settings, name, restore_user, as_json=as_json, reason=reason)


@user.command(short_help="Approve a new account.")
@takes_settings(*STORAGE, "public_url")
@_NAME
@_JSON
def approve(settings: Settings, name: str, *, as_json: bool) -> None:
    """Let the user of a new account log in, where the setting `registration` is `approval`.

    `moothall user list --state pending` shows those that wait; `moothall user delete NAME --days 0` turns one down.
    """
    from moothall.resources.user_administration.operations import approve_user

    _change(settings, name, approve_user, as_json=as_json)


@user.command(short_help="Delete an account, after some days.")
@takes_settings(*STORAGE)
@_NAME
@click.option(
    "--days",
    type=click.IntRange(0, 365),
    metavar="N",
    help="Days until then [default: the setting account_deletion_days]; 0 deletes it at once, for good.",
)
@_REASON
@_JSON
def delete(settings: Settings, name: str, days: int | None, reason: str | None, *, as_json: bool) -> None:
    """Suspend an account at once, and delete it after some days; until then `moothall user enable` restores it.

    Its guilds pass to their oldest members, its messages remain without its name.
    """
    from functools import partial

    from moothall.resources.user_administration.operations import delete_user

    waiting = settings.account_deletion_days if days is None else days
    _change(settings, name, partial(delete_user, days=waiting), as_json=as_json, reason=reason)


def _change(
    settings: Settings,
    name: str,
    change: "Callable[[Context, UserRow], Awaitable[None]]",
    *,
    as_json: bool,
    reason: str | None = None,
) -> None:
    """Change an account, and print it."""
    from moothall.cli.execution import operate
    from moothall.resources.user.lookup import get_by_login_or_id

    async def work(ctx: "Context") -> "UserRow":
        row = await get_by_login_or_id(ctx, name)
        await change(ctx, row)
        return row

    _print(_describe(operate(settings, work, reason=reason)), as_json=as_json)


def _describe(row: "UserRow") -> dict[str, Any]:
    """The fields of an account that operators see."""
    from moothall.resources.user_administration.operations import state_of

    return {
        "id": str(int(row.id)),
        "username": row.username,
        "global_name": row.global_name,
        "email": row.email,
        "verified": row.verified,
        "locale": row.locale,
        "state": state_of(row),
        "deletes_at": None if row.deletes_at is None else row.deletes_at.wire(),
        "created_at": Timestamp(row.id.created_ms).wire(),
    }


def _print(fields: JsonObject, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(fields))
        return
    words = {True: "yes", False: "no", None: "none"}
    click.echo(
        "\n".join(
            f"{key}: {words[value] if isinstance(value, bool | None) else value}" for key, value in fields.items()
        )
    )


def _parse_address(text: str | None) -> "EmailAddress | None":
    from moothall.objects.email_address import EmailAddress

    if text is None:
        return None
    try:
        return EmailAddress.from_wire(text)
    except ValueError:
        fail(f"email: {text!r} is no address")
