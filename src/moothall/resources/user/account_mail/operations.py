"""Operations: create and use links, and tell the owner of an account what has happened to it."""

from typing import Final, NoReturn

from moothall.api.context import Context
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp
from moothall.resources.mail.messages import MailKind, time_text
from moothall.resources.mail.operations import send_mail
from moothall.resources.user.account_mail import queries
from moothall.resources.user.account_mail.queries import LinkPurpose, LinkRow
from moothall.runtime.secrets import hash_token, new_token
from moothall.storage.rows import UserRow

RESET_MINUTES: Final = 60
"""Minutes for which the link of a password reset is valid."""
VERIFY_HOURS: Final = 24
"""Hours for which the link that verifies an address is valid."""
_TOKEN_LENGTH: Final = 43
_MINUTE_MS: Final = 60_000
_PATHS: Final = {LinkPurpose.VERIFY: "/verify", LinkPurpose.RESET: "/reset", LinkPurpose.RECOVERY: "/recovery"}


async def create_link(
    ctx: Context, user_id: UserId, purpose: LinkPurpose, address: str | None = None, *, minutes: int
) -> tuple[str, Timestamp]:
    """Create a link for a user; return its URL and when it expires.

    It begins with the public URL of the settings. With `address` it is good only while that is the account's address.
    """
    token = new_token(_TOKEN_LENGTH)
    expires_at = Timestamp(ctx.now + minutes * _MINUTE_MS)
    await queries.insert_link(ctx.tx, hash_token(token), user_id, purpose, address, now=ctx.now, expires_at=expires_at)
    return f"{ctx.services.limits.public_url}{_PATHS[purpose]}?token={token}", expires_at


async def get_link(ctx: Context, token: str, purpose: LinkPurpose) -> LinkRow:
    """Read a link without using it. Raises Refusal: 50035 at `token` for one that is used, expired or unknown."""
    row = await queries.select_link(ctx.tx, hash_token(token), purpose, ctx.now)
    if row is None:
        refuse_link()
    return row


async def use_link(ctx: Context, token: str, purpose: LinkPurpose) -> LinkRow:
    """Use a link, which is then gone, with all others of the user for the same purpose. Raises as `get_link`."""
    row = await get_link(ctx, token, purpose)
    if not await queries.delete_link(ctx.tx, row.hash):
        refuse_link()
    await queries.delete_links(ctx.tx, row.user_id, purpose)
    return row


def refuse_link() -> NoReturn:
    """Raise the Refusal of a link that is not good: 50035 at `token`, the same for every reason."""
    refuse_field("token", FormCode.INVALID_TOKEN, "This link has been used, or it is not valid any more.")


async def notify_owner(ctx: Context, row: UserRow, kind: MailKind, **values: str) -> None:
    """Mail a notice to the verified address of an account; without one, to no address."""
    if row.email is not None and row.verified:
        await notify_address(ctx, row, row.email, kind, **values)


async def notify_address(ctx: Context, row: UserRow, address: str, kind: MailKind, **values: str) -> None:
    """Mail a notice about an account to an address."""
    values = {"name": row.username, "time": time_text(ctx.now), **values}
    await send_mail(ctx, kind, EmailAddress(address), values, user_id=row.id, locale=row.locale)
