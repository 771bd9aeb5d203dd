"""`moothall user`: create accounts and verify email addresses."""

import asyncio
import json
import sys
from typing import TYPE_CHECKING

import click

from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.objects.email_address import EmailAddress


@click.group(short_help="Create accounts, and vouch for email addresses.")
def user() -> None:
    """Create accounts, and vouch for email addresses."""


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

    The server sends no mail: an address is unverified until its operator vouches for it, and again once it is changed.
    Without --email the account's present address becomes verified. With it, the account gets the address, and another
    account that has it unverified loses it. Works whether the server runs or not.
    """
    from moothall.api.context import Context
    from moothall.cli.execution import operate
    from moothall.resources.user.account.operations import get_user_by_username, revoke_email, verify_email
    from moothall.storage.rows import UserRow

    if revoke and email is not None:
        fail("give either --email or --revoke")
    address = _parse_address(email)

    async def work(ctx: Context) -> tuple[UserRow, UserRow | None]:
        row = await get_user_by_username(ctx, name)
        return (await revoke_email(ctx, row), None) if revoke else await verify_email(ctx, row, address)

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


def _parse_address(text: str | None) -> "EmailAddress | None":
    from moothall.objects.email_address import EmailAddress

    if text is None:
        return None
    try:
        return EmailAddress.from_wire(text)
    except ValueError:
        fail(f"email: {text!r} is no address")
