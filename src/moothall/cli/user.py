"""`moothall user`: accounts."""

import asyncio
import json
import sys

import click

from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.settings import Settings


@click.group(short_help="Make accounts.")
def user() -> None:
    """Make accounts."""


@user.command(short_help="Make a person's account.")
@takes_settings(*STORAGE)
@click.argument("name")
@click.option("--email", metavar="ADDRESS", help="An address to log in by, too; nobody writes to it.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input, up to the line's end.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def create(settings: Settings, name: str, email: str | None, *, password_stdin: bool, as_json: bool) -> None:
    """Make the account of a person with the username NAME; print its id and a session token.

    Without --password-stdin a password is made up and printed; it is kept as a hash only and cannot be shown again.
    Works whether the server runs or not, and where the registration of strangers is switched off.
    """
    from moothall.cli.operating import operate
    from moothall.kernel.context import Context
    from moothall.kernel.secrets import Passwords, new_password
    from moothall.objects import limits
    from moothall.resources.account.operations import Login, create_account, log_in
    from moothall.resources.password.strength import weakness

    if email is not None and (len(email) > limits.EMAIL_MAX or email.count("@") != 1 or email.strip("@") != email):
        fail(f"email: {email!r} is no address")
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
        user_id = await create_account(ctx, username=name, password_hash=password_hash, email=email)
        return await log_in(ctx, user_id)

    login = operate(settings, work)
    made = {"id": str(int(login.user_id)), "username": name, "token": login.token}
    if not password_stdin:
        made["password"] = password
    click.echo(json.dumps(made) if as_json else "\n".join(f"{key}: {value}" for key, value in made.items()))
