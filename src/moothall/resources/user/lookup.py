"""Finding an account by what its user logs in with."""

from moothall.api.context import Context
from moothall.objects.email_address import EmailAddress
from moothall.objects.text import search_key
from moothall.resources.user import queries
from moothall.storage.rows import UserRow


async def find_by_login(ctx: Context, login: str) -> UserRow | None:
    """Find a user by username or email address; None if there is none."""
    try:
        email = EmailAddress.from_wire(login)
    except ValueError:
        return await queries.select_by_username(ctx.tx, search_key(login))
    return await queries.select_by_email(ctx.tx, email.key)
