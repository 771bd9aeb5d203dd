"""Finding an account by what its user logs in with."""

from contextlib import suppress

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.text import search_key
from moothall.resources.user import queries
from moothall.storage.rows import UserRow


async def get_by_login_or_id(ctx: Context, text: str) -> UserRow:
    """Find a person's account by username, email address or id, for operators. Raises Refusal 404/10013."""
    row = await find_by_login(ctx, text)
    if row is None:
        with suppress(ValueError):
            row = await queries.select_user(ctx.tx, UserId(Snowflake.from_wire(text)))
    if row is None or row.deleted or row.bot:
        raise Refusal(errors.UNKNOWN_USER)
    return row


async def find_by_login(ctx: Context, login: str) -> UserRow | None:
    """Find a user by username or email address; None if there is none."""
    try:
        email = EmailAddress.from_wire(login)
    except ValueError:
        return await queries.select_by_username(ctx.tx, search_key(login))
    return await queries.select_by_email(ctx.tx, email.key)
