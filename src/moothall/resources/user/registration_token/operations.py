"""Operations: invite people to register, and use an invitation."""

from typing import Final

from msgspec import Struct

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.resources.mail.messages import MailKind, time_text
from moothall.resources.mail.operations import send_mail
from moothall.resources.operator_log.operations import record_act
from moothall.resources.user.registration_token import queries
from moothall.runtime.secrets import hash_token, new_token

_LENGTH: Final = 32
_DAY_MS: Final = 86_400_000


class Invitation(Struct, frozen=True):
    """An invitation that was just made: only now its token is known."""

    id: Snowflake
    token: str
    link: str
    expires_at: Timestamp
    mailed: bool


async def create_invitation(
    ctx: Context, *, uses: int, days: int, note: str | None, address: EmailAddress | None, locale: str
) -> Invitation:
    """Make a token with which so many accounts can be registered in so many days; mail its link to `address`."""
    token, token_id = new_token(_LENGTH), ctx.ids.next()
    expires_at = Timestamp(ctx.now + days * _DAY_MS)
    await queries.insert_token(
        ctx.tx,
        hash_token(token),
        token_id,
        note=note,
        address=None if address is None else str(address),
        uses=uses,
        now=ctx.now,
        expires_at=expires_at,
    )
    await record_act(ctx, "invitation.create", token_id, changes={"uses": (None, uses), "days": (None, days)})
    link = f"{ctx.services.limits.public_url}/register?token={token}"
    values = {"link": link, "time": time_text(expires_at)}
    mailed = address is not None and await send_mail(
        ctx, MailKind.INVITATION, address, values, locale=locale, expires_at=expires_at
    )
    return Invitation(id=token_id, token=token, link=link, expires_at=expires_at, mailed=mailed)


async def revoke_invitation(ctx: Context, token_id: Snowflake) -> None:
    """Delete an invitation. Raises Refusal 404/10012 if there is none."""
    if not await queries.delete_token(ctx.tx, token_id):
        raise Refusal(errors.UNKNOWN_TOKEN)
    await record_act(ctx, "invitation.revoke", token_id)
