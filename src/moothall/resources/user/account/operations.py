"""Account operations: create, log in and out, edit, verify email addresses."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from msgspec import UNSET, Struct, structs

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context, Services
from moothall.api.hooks import Fires, Hook
from moothall.api.jobs import enqueue
from moothall.objects import errors, locales
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.text import search_key, username_error
from moothall.resources.mail.messages import MailKind
from moothall.resources.mail.operations import sends_mail
from moothall.resources.user import queries
from moothall.resources.user.account.policy import Pending
from moothall.resources.user.account_mail.jobs import MailVerification
from moothall.resources.user.account_mail.operations import notify_address, notify_owner
from moothall.resources.user.account_mail.queries import LinkPurpose, delete_links
from moothall.resources.user.auth_session.client import UNKNOWN_CLIENT, LoginClient
from moothall.resources.user.auth_session.operations import begin_session, delete_tokens_of_kind
from moothall.resources.user.auth_session.queries import delete_session
from moothall.resources.user.events import SessionsClose, UserUpdate
from moothall.resources.user.factor.operations import (
    Evidence,
    FactorRequired,
    ProviderLogin,
    check_evidence,
    get_ticket,
    require_factor,
    spend_ticket,
    use_assertion,
    use_ticket,
)
from moothall.resources.user.factor.queries import TicketPurpose, delete_tickets
from moothall.resources.user.factor.webauthn import Assertion
from moothall.resources.user.objects import current_user
from moothall.resources.user.password.queries import is_known
from moothall.resources.user.password.verification import Device
from moothall.storage.database import ConstraintFailed, StorageConflict
from moothall.storage.rows import UserRow

_EMAIL_TAKEN: Final = (FormCode.EMAIL_ALREADY_REGISTERED, "Email is already registered.")
_TAKEN: Final = "Username is unavailable. Try adding numbers, letters, underscores or periods."
_PUBLIC: Final = frozenset(
    {
        "username", "global_name", "avatar", "banner", "accent_color",
        "primary_guild_id", "primary_guild_tag", "primary_guild_badge",
    }
)  # fmt: skip
"""Columns that other users see; a change is announced in every guild."""

PROFILE_CHANGED: Final = Hook[[Context, UserRow], None]("profile changed")
"""Runs when a public column of an account has changed."""
AUTHORIZATIONS_REVOKING: Final = Hook[[Context], None]("authorizations revoking")
"""Revokes all authorizations of the caller."""
PROVIDER_LOGGED_IN: Final = Hook[[Services, UserId, LoginClient], None]("logged in with a provider")
"""Runs after the login of a user by an identity provider and a second factor, outside of its transaction."""
EDIT_ACCOUNT_EVENTS: Final[Fires] = (UserUpdate, PROFILE_CHANGED)
"""The events that `edit_account` may emit."""


PENDING_CREATED: Final = Hook[[Context, UserId], None]("pending account created")
"""Runs when an account has been created that is lost unless its address is verified."""


class Login(Struct, frozen=True):
    """A session token and its user."""

    token: str
    user_id: UserId
    client: LoginClient = UNKNOWN_CLIENT


async def check_names(
    ctx: Context, form_errors: FormErrors, *, username: str | None, email: EmailAddress | None, own: UserId | None
) -> None:
    """Add form errors for an invalid or taken username or email address; `own` is the account that may keep its own."""
    limits = ctx.services.limits
    if username is not None:
        error = username_error(username, reserved=(*limits.reserved_words, *limits.blocked_usernames))
        if error is not None:
            form_errors.add("username", *error)
        else:
            holder = await queries.select_by_username(ctx.tx, search_key(username))
            if holder is not None and holder.id != own:
                form_errors.add("username", FormCode.USERNAME_ALREADY_TAKEN, _TAKEN)
    # With mail, an address belongs to an account only once a link in a mail has verified it: until then any number of
    # accounts may have entered it, and none of them learns whether another one has it.
    if email is not None and not sends_mail(ctx):
        holder = await queries.select_by_email(ctx.tx, email.key)
        if holder is not None and holder.id != own:
            form_errors.add("email", *_EMAIL_TAKEN)


async def create_account(
    ctx: Context,
    *,
    username: str,
    password_hash: str | None,
    email: EmailAddress | None = None,
    global_name: str | None = None,
    vouched: bool = False,
    network: str = "",
    pending: Pending = Pending.NOTHING,
    locale: str = locales.DEFAULT,
) -> UserId:
    """Create a user's account; with `vouched` the operator verifies the address.

    Raises Refusal (50035) for an invalid or taken name or address. A vouched address is removed from an account that
    has it unverified. Where mail is sent, a link that verifies the address is mailed to any other one; `network` is
    that of the request.
    """
    form_errors = FormErrors()
    claimed = email is not None and not vouched and sends_mail(ctx)
    if email is not None and vouched:
        loser = await _release_email(ctx, email, own=None)
        if loser is not None and loser.verified:
            form_errors.add("email", *_EMAIL_TAKEN)
    await check_names(ctx, form_errors, username=username, email=email, own=None)
    form_errors.raise_if_any()
    user_id = UserId(ctx.ids.next())
    with _repeated_if_taken():
        await queries.insert_user(
            ctx.tx,
            id=user_id,
            username=username,
            username_key=search_key(username),
            global_name=global_name,
            email=None if email is None else str(email),
            email_key=None if email is None or claimed else email.key,
            password_hash=password_hash,
            # A person proves an address by the link in a mail; the operator may vouch for it.
            verified=vouched and email is not None,
            locale=locale,
            pending=int(pending),
        )
    if pending is Pending.VERIFICATION:
        await PENDING_CREATED(ctx, user_id)
    if claimed:
        await enqueue(ctx, MailVerification(user_id=user_id, address=str(email), network=network))
    return user_id


async def store_consent(ctx: Context, user_id: UserId) -> None:
    """Store what a new user has confirmed: the version of the terms, and the least age. Without both, nothing."""
    limits = ctx.services.limits
    version = None if limits.terms_url is None else limits.terms_version
    min_age = limits.registration_min_age or None
    if version is not None or min_age is not None:
        await queries.insert_consent(ctx.tx, user_id, terms_version=version, min_age=min_age, now=ctx.now)


def check_can_log_in(ctx: Context, row: UserRow, *, undelete: bool) -> None:
    """Refuse a closed account (403/20011, 403/20013), unless `undelete` is set and it can be restored.

    One that the operator has suspended cannot (403/20013), nor one that waits for something (403/40002).
    """
    if row.suspended:
        raise Refusal(errors.ACCOUNT_DISABLED, message="The operator of this server has disabled this account.")
    if row.pending == Pending.VERIFICATION:
        raise Refusal(
            errors.ACCOUNT_VERIFICATION_REQUIRED, message="Confirm your email address first, by the link in the mail."
        )
    if row.pending == Pending.APPROVAL:
        raise Refusal(
            errors.ACCOUNT_VERIFICATION_REQUIRED, message="This account waits for the approval of the operator."
        )
    overdue = row.deletes_at is not None and row.deletes_at <= ctx.now
    if row.disabled and (overdue or not undelete):
        raise Refusal(errors.ACCOUNT_DISABLED if row.deletes_at is None else errors.ACCOUNT_DELETION_SCHEDULED)


async def log_in_or_restore(
    ctx: Context,
    user_id: UserId,
    *,
    undelete: bool,
    seconds: int | None,
    client: LoginClient,
    known_device: bool = False,
    proved: bool = False,
) -> Login | FactorRequired:
    """Log in as `log_in`; with `undelete`, first restore an account that its user has disabled or deleted.

    A user with a second factor gets a ticket to prove it with, unless that was `proved`; nothing is changed then.

    The owner gets a mail about a login from a network that is new to the account, unless it is from a `known_device`.

    Raises Refusal: 403/20011 and 403/20013 for a closed account, 401 for one deleted meanwhile.
    """
    await queries.lock_user(ctx.tx, user_id)
    row = await queries.select_user(ctx.tx, user_id)
    if row is None or row.deleted:
        raise Refusal(errors.NOT_AUTHENTICATED)
    check_can_log_in(ctx, row, undelete=undelete)
    if row.mfa_enabled and not proved:
        provider = None
        if client.provider_id is not None:
            provider = ProviderLogin(client.provider_id, client.provider_session, client.provider_groups)
        return await require_factor(ctx, row, TicketPurpose.LOGIN, undelete=undelete, provider=provider)
    if row.disabled:
        await queries.update_user(ctx.tx, user_id, disabled=False, deletes_at=None)
    if not known_device and client.network and not await is_known(ctx.tx, user_id, client.network):
        described = " ".join(part for part in (client.platform, client.os) if part) or "?"
        await notify_owner(ctx, row, MailKind.NEW_LOGIN, network=client.network, client=described)
    return await log_in(ctx, user_id, seconds=seconds, client=client)


async def log_in_with_factor(
    ctx: Context,
    ticket: str,
    evidence: Evidence,
    *,
    seconds: int | None,
    client: LoginClient,
    device: Device | None,
) -> Login | None:
    """Log in by the ticket of a login and a second factor; None for a wrong one, with which the ticket stays good.

    Raises Refusal: 400/60006 for a ticket that is not good, 429 after too many wrong codes, and as `log_in_or_restore`.
    """
    row = await get_ticket(ctx, ticket, TicketPurpose.LOGIN)
    if not await check_evidence(ctx, row.user_id, evidence):
        return None
    await use_ticket(ctx, row)
    login = await log_in_or_restore(
        ctx,
        row.user_id,
        undelete=row.undelete,
        seconds=seconds,
        client=structs.replace(
            client,
            provider_id=row.provider_id,
            provider_session=row.provider_session,
            provider_groups=tuple(row.provider_groups or ()),
        ),
        known_device=device is not None and device.user_id == row.user_id,
        proved=True,
    )
    return login if isinstance(login, Login) else None


async def log_in_with_passkey(ctx: Context, ticket: str, assertion: Assertion, *, client: LoginClient) -> Login | None:
    """Log in by the signature of a passkey that has verified its user; None for one that was used before.

    Raises Refusal: 403/20011 and 403/20013 for a closed account.
    """
    user_id = assertion.authenticator.user_id
    await queries.lock_user(ctx.tx, user_id)
    if not await spend_ticket(ctx, ticket, user_id) or not await use_assertion(ctx, user_id, assertion):
        return None
    login = await log_in_or_restore(ctx, user_id, undelete=False, seconds=None, client=client, proved=True)
    return login if isinstance(login, Login) else None


async def log_in(
    ctx: Context, user_id: UserId, *, seconds: int | None = None, client: LoginClient = UNKNOWN_CLIENT
) -> Login:
    """Create a session token for an authenticated user, for `seconds` or without expiry."""
    return Login(await begin_session(ctx, user_id, client, seconds=seconds), user_id, client)


async def change_password(ctx: Context, row: UserRow, password_hash: str) -> None:
    """Store a new password, end every login of the account and its links for new passwords, and notify its owner."""
    await queries.update_user(ctx.tx, row.id, password_hash=password_hash)
    await delete_tokens_of_kind(ctx, row.id, TokenKind.SESSION)
    await delete_links(ctx.tx, row.id, LinkPurpose.RESET)
    await delete_tickets(ctx.tx, row.id)
    await notify_owner(ctx, row, MailKind.PASSWORD_CHANGED)


async def log_out(ctx: Context) -> None:
    """Delete the session token of the request, and close its gateway sessions."""
    await queries.delete_token(ctx.tx, ctx.actor.token_hash)
    await delete_session(ctx.tx, ctx.actor.token_hash)
    ctx.emit(SessionsClose(user_id=ctx.actor.user_id, token_hash=ctx.actor.token_hash.hex()))


async def edit_account(ctx: Context, row: UserRow, changes: dict[str, Any]) -> UserRow:
    """Change columns of an account and announce it to its sessions, and public columns to its guilds.

    Unchanged columns are ignored; without changes nothing is emitted. A new email address, or another spelling of it,
    is unverified unless `changes` has `verified`; where mail is sent, a link that verifies it is mailed there, and a
    notice to the verified address of before.
    """
    before = (row.email, row.verified)
    if changes.get("email", row.email) != row.email:
        changes = {"verified": False, **changes}
    changes = {name: value for name, value in changes.items() if getattr(row, name) != value}
    if not changes:
        return row
    if "username" in changes:
        changes["username_key"] = search_key(changes["username"])
        await queries.update_username_key_in_guilds(ctx.tx, row.id, changes["username_key"])
    if not changes.keys().isdisjoint({"email", "verified"}):
        # Written together: if the row has changed since it was read, no other address may become verified.
        email = changes.get("email", row.email)
        changes["email"] = None if email is None else str(email)
        changes["verified"] = changes.get("verified", row.verified)
        claimed = not changes["verified"] and sends_mail(ctx)
        changes["email_key"] = None if email is None or claimed else EmailAddress(email).key
    with _repeated_if_taken():
        await queries.update_user(ctx.tx, row.id, **changes)
    for name, value in changes.items():
        setattr(row, name, value)
    ctx.emit(UserUpdate(user=current_user(row)))
    if row.email != before[0]:
        await _mail_of_address(ctx, row, *before)
    if _PUBLIC & changes.keys():
        await PROFILE_CHANGED(ctx, row)
    return row


async def _mail_of_address(ctx: Context, row: UserRow, address: str | None, verified: bool) -> None:  # noqa: FBT001
    """Mail what a changed address needs: a link to the new one, a notice to a verified one of before."""
    if address is not None and verified:
        await notify_address(ctx, row, address, MailKind.ADDRESS_CHANGED)
    if row.email is not None and not row.verified and sends_mail(ctx):
        await enqueue(ctx, MailVerification(user_id=row.id, address=row.email, network=ctx.ip))


async def verify_email(ctx: Context, row: UserRow, email: EmailAddress | None = None) -> tuple[UserRow, UserRow | None]:
    """Verify the email address of a user; `email` replaces it, None keeps it.

    An account that has the address unverified loses it. Returns the account and the one that lost the address. Raises
    Refusal (50035) for a user without an address, and for another account's verified address.
    """
    if email is None:
        if row.email is None:
            refuse_field("email", FormCode.BASE_TYPE_REQUIRED, f"{row.username} has no email address.")
        email = EmailAddress(row.email)
    loser = await _release_email(ctx, email, own=row.id)
    if loser is not None and loser.verified:
        refuse_field("email", *_EMAIL_TAKEN)
    return await edit_account(ctx, row, {"email": str(email), "verified": True}), loser


async def approve_account(ctx: Context, row: UserRow) -> None:
    """Let the user of a new account log in, and mail a notice to a verified address. Without effect on others."""
    if row.pending == Pending.NOTHING:
        return
    await queries.update_user(ctx.tx, row.id, pending=int(Pending.NOTHING), deletes_at=None)
    row.pending, row.deletes_at = int(Pending.NOTHING), None
    await notify_owner(ctx, row, MailKind.ACCOUNT_APPROVED, link=f"{ctx.services.limits.public_url}/login")


async def revoke_email(ctx: Context, row: UserRow) -> UserRow:
    """Mark the email address of a user as unverified."""
    return await edit_account(ctx, row, {"verified": False})


async def get_user_by_username(ctx: Context, username: str) -> UserRow:
    """Get a user by username. Raises Refusal 404/10013 if there is none."""
    row = await queries.select_by_username(ctx.tx, search_key(username))
    if row is None:
        raise Refusal(errors.UNKNOWN_USER)
    return row


async def _release_email(ctx: Context, email: EmailAddress, *, own: UserId | None) -> UserRow | None:
    """Remove an unverified address from another account. Returns that account, also if it is verified there."""
    holder = await queries.select_by_email(ctx.tx, email.key)
    if holder is None or holder.id == own:
        return None
    return holder if holder.verified else await edit_account(ctx, holder, {"email": None})


@contextmanager
def _repeated_if_taken() -> Iterator[None]:
    """Repeat the transaction if another took the name or address meanwhile; `check_names` then reports it."""
    try:
        yield
    except ConstraintFailed as error:
        raise StorageConflict(str(error)) from error


def only(names: Iterable[str], body: Struct) -> JsonObject:
    """The named fields of a body that were sent."""
    return {name: getattr(body, name) for name in names if getattr(body, name) is not UNSET}
