"""Mail operations: store a mail, which is sent after the commit."""

from typing import Final

from msgspec import json

from moothall.api.context import Context
from moothall.objects.email_address import EmailAddress
from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp
from moothall.resources.mail import queries
from moothall.resources.mail.messages import MailKind, language_of
from moothall.resources.mail.queries import MailRow, MailState
from moothall.resources.mail.sender import MailSender, sealed_about

_HOUR_MS: Final = 3_600_000
PER_ADDRESS: Final = 3
"""Mails of a kind to one address in an hour."""
PER_ACCOUNT: Final = 5
"""Mails of a kind about one account in an hour."""
PER_NETWORK: Final = 20
"""Mails of a kind in an hour that requests from one network cause."""


def sends_mail(ctx: Context) -> bool:
    """Whether the operator has set a mail server."""
    return ctx.services.resources[MailSender].config is not None


async def send_mail(
    ctx: Context,
    kind: MailKind,
    address: EmailAddress,
    values: dict[str, str],
    *,
    user_id: UserId | None = None,
    network: str = "",
    locale: str | None = None,
    expires_at: Timestamp | None = None,
) -> bool:
    """Store a mail in this transaction; it is sent after the commit, and not after `expires_at`.

    Returns False, and stores nothing, without a mail server and beyond the limits by address, account and network.
    The limits are for each kind, so that requests for one kind never use up those of another.
    """
    if not sends_mail(ctx):
        return False
    since = Timestamp(ctx.now - _HOUR_MS)
    if (
        await queries.count_to_address(ctx.tx, kind, address.key, since) >= PER_ADDRESS
        or (user_id is not None and await queries.count_of_user(ctx.tx, kind, user_id, since) >= PER_ACCOUNT)
        or (network and await queries.count_of_network(ctx.tx, kind, network, since) >= PER_NETWORK)
    ):
        return False
    mail_id = ctx.ids.next()
    row = MailRow(
        id=mail_id,
        kind=kind,
        user_id=user_id,
        address=str(address),
        address_key=address.key,
        network=network or None,
        language=language_of(locale),
        created_at=ctx.now,
        expires_at=expires_at,
        state=MailState.WAITING,
        attempts=0,
        next_attempt_at=ctx.now,
        sent_at=None,
        last_error=None,
        # Links are secrets: the row has them encrypted, and only until the mail is sent.
        sealed=ctx.services.box.encrypt(json.encode(values), about=sealed_about(mail_id)),
        claim_id=None,
    )
    await queries.insert_mail(ctx.tx, row)
    ctx.after_commit.append(ctx.services.resources[MailSender].wake)
    return True
