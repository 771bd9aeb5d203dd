"""Recovery operations: request links, and use them."""

from msgspec import Struct

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.objects import errors
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import UserId
from moothall.resources.user import queries
from moothall.resources.user.account.operations import (
    Login,
    change_password,
    check_can_log_in,
    log_in_or_restore,
    verify_email,
)
from moothall.resources.user.account.policy import Pending
from moothall.resources.user.account_mail.jobs import MailPasswordReset, MailVerification
from moothall.resources.user.account_mail.operations import get_link, refuse_link, use_link
from moothall.resources.user.account_mail.queries import LinkPurpose
from moothall.resources.user.auth_session.client import LoginClient
from moothall.resources.user.factor.operations import (
    Evidence,
    FactorRequired,
    check_evidence,
    get_ticket,
    require_factor,
)
from moothall.resources.user.factor.queries import TicketPurpose
from moothall.storage.rows import UserRow


class FactorProof(Struct, frozen=True):
    """Evidence of a second factor, with the ticket that it is for, if there is one."""

    evidence: Evidence
    ticket: str | None = None


async def request_reset(ctx: Context, login: str, *, network: str) -> None:
    """Enqueue the mail with a link for a new password. Whether there is an account, only the job looks up."""
    await enqueue(ctx, MailPasswordReset(login=login, network=network))


async def request_verification(ctx: Context) -> None:
    """Enqueue the mail with a link that verifies the caller's address. Raises Refusal: 50035 without an address."""
    row = await queries.select_user(ctx.tx, ctx.actor.user_id)
    if row is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    if row.email is None:
        refuse_field("email", FormCode.BASE_TYPE_REQUIRED, "This account has no email address.")
    await enqueue(ctx, MailVerification(user_id=row.id, address=row.email, network=ctx.ip))


async def reset_by_link(
    ctx: Context,
    token: str,
    password_hash: str,
    *,
    undelete: bool,
    seconds: int | None,
    client: LoginClient,
    factor: FactorProof | None,
) -> Login | FactorRequired | None:
    """Store a new password by a link, end every login of the account, and log in.

    A user with a second factor gets a ticket for it if `factor` is None; for a wrong code the result is None. Nothing
    is changed then, and the link stays good. Raises Refusal: 50035 at `token` for a link that is not good, 400/60006
    for a ticket that is not good, 403/20011 and 403/20013 for a closed account.
    """
    link = await get_link(ctx, token, LinkPurpose.RESET)
    row = await _owner(ctx, link.user_id, link.address)
    check_can_log_in(ctx, row, undelete=undelete)
    if row.mfa_enabled:
        if factor is None:
            return await require_factor(ctx, row, TicketPurpose.RESET)
        if factor.ticket is not None:
            ticket = await get_ticket(ctx, factor.ticket, TicketPurpose.RESET)
            if ticket.user_id != row.id:
                raise Refusal(errors.INVALID_MFA_TICKET)
        if not await check_evidence(ctx, row.id, factor.evidence):
            return None
    await use_link(ctx, token, LinkPurpose.RESET)
    await change_password(ctx, row, password_hash)
    # The mail about the new password is enough: the link proves more than a known place does.
    return await log_in_or_restore(
        ctx, row.id, undelete=undelete, seconds=seconds, client=client, known_device=True, proved=True
    )


async def verify_by_link(ctx: Context, token: str) -> UserRow:
    """Verify the address of an account by a link; return the account. Raises Refusal: 50035 at `token`.

    An account that has the address unverified loses it; one that has it verified keeps it, and the link is not good.
    """
    link = await use_link(ctx, token, LinkPurpose.VERIFY)
    row = await _owner(ctx, link.user_id, link.address)
    if row.suspended or row.disabled or row.email is None:
        refuse_link()
    holder = await queries.select_by_email(ctx.tx, EmailAddress(row.email).key)
    if holder is not None and holder.id != row.id and holder.verified:
        refuse_link()
    row, _ = await verify_email(ctx, row)
    if row.pending == Pending.VERIFICATION:
        await queries.update_user(ctx.tx, row.id, pending=int(Pending.NOTHING), deletes_at=None)
        row.pending, row.deletes_at = int(Pending.NOTHING), None
    return row


async def _owner(ctx: Context, user_id: UserId, address: str | None) -> UserRow:
    """The account of a link, locked. The link is not good if the account has another address by now."""
    await queries.lock_user(ctx.tx, user_id)
    row = await queries.select_user(ctx.tx, user_id)
    if row is None or row.deleted or (address is not None and row.email != address):
        refuse_link()
    return row
