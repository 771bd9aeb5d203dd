"""Recovery operations: request links, and use them; remove second factors that their users have lost."""

from typing import ClassVar, Final

from msgspec import Struct

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.api.events import Event
from moothall.api.jobs import Job, enqueue, job
from moothall.api.operators import select_operator
from moothall.objects import errors
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp
from moothall.resources.mail.messages import MailKind, time_text
from moothall.resources.mail.operations import sends_mail
from moothall.resources.operator_log.operations import record_act
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
from moothall.resources.user.account_mail.operations import create_link, get_link, notify_owner, refuse_link, use_link
from moothall.resources.user.account_mail.queries import LinkPurpose, delete_links
from moothall.resources.user.auth_session.client import LoginClient
from moothall.resources.user.auth_session.operations import delete_tokens_of_kind
from moothall.resources.user.events import SessionsClose, UserUpdate
from moothall.resources.user.factor import queries as factor_queries
from moothall.resources.user.factor.operations import (
    Evidence,
    FactorRequired,
    call_off_recovery,
    check_evidence,
    get_ticket,
    require_factor,
)
from moothall.resources.user.factor.queries import TicketPurpose
from moothall.resources.user.mfa.operations import remove_factors
from moothall.resources.user.objects import current_user
from moothall.storage.rows import UserRow

_DAY_MS: Final = 86_400_000
_DAY_MINUTES: Final = 1_440


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


async def request_recovery(ctx: Context, ticket: str) -> Timestamp:
    """Let the second factors be removed of a user who has lost them, by the ticket of a login; return when.

    The owner is told by mail and by an event to all sessions, and can call it off until then; a second request changes
    nothing. Raises Refusal: 400/60006 for a ticket that is not good; 403/40006 without mail, without a verified
    address, for operators, for whose accounts a thief would wait, and where operators alone do it.
    """
    login = await get_ticket(ctx, ticket, TicketPurpose.LOGIN)
    await queries.lock_user(ctx.tx, login.user_id)
    row = await queries.select_user(ctx.tx, login.user_id)
    days = ctx.services.limits.factor_recovery_days
    is_reached = row is not None and row.email is not None and row.verified and sends_mail(ctx)
    if row is None or not days or not is_reached or await select_operator(ctx.tx, row.id) is not None:
        raise Refusal(errors.FEATURE_DISABLED, message="Ask the operator of this server to remove your second factors.")
    stored = await factor_queries.select_recovery(ctx.tx, row.id)
    if stored is not None:
        return stored.due_at
    due_at = Timestamp(ctx.now + days * _DAY_MS)
    await factor_queries.insert_recovery(ctx.tx, row.id, ctx.now, due_at)
    link, _ = await create_link(ctx, row.id, LinkPurpose.RECOVERY, row.email, minutes=days * _DAY_MINUTES)
    await notify_owner(ctx, row, MailKind.RECOVERY_REQUESTED, link=link, due=time_text(due_at))
    await record_act(ctx, "user.recovery_request", row.id, changes={"due_at": (None, due_at.wire())}, by_account=row.id)
    await enqueue(ctx, RemoveLostFactors(user_id=row.id, requested_at=ctx.now), at=due_at)
    ctx.emit(UserUpdate(user=current_user(row)))
    return due_at


async def keep_factors(ctx: Context) -> None:
    """Call off that the caller's second factors are removed. Raises Refusal 404/10012 if they are not."""
    row = await queries.select_user(ctx.tx, ctx.actor.user_id)
    if row is None or not await call_off_recovery(ctx, row.id):
        raise Refusal(errors.UNKNOWN_TOKEN)
    ctx.emit(UserUpdate(user=current_user(row)))


async def keep_factors_by_link(ctx: Context, token: str) -> UserRow:
    """The same by the link of the mail; return the account. Raises Refusal 50035 at `token`."""
    link = await use_link(ctx, token, LinkPurpose.RECOVERY)
    row = await _owner(ctx, link.user_id, None)
    if not await call_off_recovery(ctx, row.id):
        refuse_link()
    ctx.emit(UserUpdate(user=current_user(row)))
    return row


@job
class RemoveLostFactors(Job, frozen=True, kw_only=True):
    """Removes the second factors of a user who has lost them, and ends all logins, unless it was called off."""

    kind: ClassVar[str] = "remove_lost_factors"
    fires: ClassVar[tuple[type[Event], ...]] = (UserUpdate, SessionsClose)
    user_id: UserId
    requested_at: Timestamp

    async def step(self, ctx: Context) -> None:
        """Remove the factors."""
        await queries.lock_user(ctx.tx, self.user_id)
        row = await queries.select_user(ctx.tx, self.user_id)
        stored = await factor_queries.select_recovery(ctx.tx, self.user_id)
        if row is None or row.deleted or stored is None or stored.requested_at != self.requested_at:
            return
        if await select_operator(ctx.tx, row.id) is not None:
            await call_off_recovery(ctx, row.id)
            return
        await delete_links(ctx.tx, row.id, LinkPurpose.RECOVERY)
        await remove_factors(ctx, row)
        await delete_tokens_of_kind(ctx, row.id, TokenKind.SESSION)
        await record_act(ctx, "user.recovery", row.id, by_account=row.id)


async def _owner(ctx: Context, user_id: UserId, address: str | None) -> UserRow:
    """The account of a link, locked. The link is not good if the account has another address by now."""
    await queries.lock_user(ctx.tx, user_id)
    row = await queries.select_user(ctx.tx, user_id)
    if row is None or row.deleted or (address is not None and row.email != address):
        refuse_link()
    return row
