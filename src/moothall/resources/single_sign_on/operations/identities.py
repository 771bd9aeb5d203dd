"""Operations: find or make the account of an identity, link and unlink it, log in with it, end its logins."""

from typing import Final

from msgspec import Struct

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.text import search_key, username_error
from moothall.objects.wire import Timestamp
from moothall.resources.identity_provider.queries import ProviderRow
from moothall.resources.identity_provider.tokens import LEEWAY
from moothall.resources.mail.messages import MailKind
from moothall.resources.operator.operations import check_may_act_on
from moothall.resources.operator_log.operations import record_act
from moothall.resources.single_sign_on import queries
from moothall.resources.single_sign_on.claims import Identity, usernames
from moothall.resources.single_sign_on.queries import IdentityRow
from moothall.resources.user.account.operations import check_can_log_in, create_account
from moothall.resources.user.account.policy import check_address, is_blocked
from moothall.resources.user.account_mail.operations import notify_owner
from moothall.resources.user.auth_session.queries import end_tokens
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.factor.queries import select_authenticators
from moothall.resources.user.queries import lock_user, select_by_email, select_by_username, select_user
from moothall.storage.rows import UserRow

_NO_ACCOUNT: Final = "There is no account for you here. Ask the operator of this server for one."
_ENDED: Final = "The account that you had here was closed. Only the operator of this server can give you another one."


class MustLink(Struct, frozen=True):
    """There is an account for a person, whose owner must prove that it is theirs before they log in with a provider."""

    user_id: UserId
    username: str
    mfa: bool


async def resolve_account(
    ctx: Context, provider: ProviderRow, identity: Identity, *, undelete: bool, network: str
) -> UserId | MustLink:
    """Find the account that an identity logs in to, or make one for a person of a network.

    A verified address that an account here has links nothing by itself: its owner proves the account first.
    Raises Refusal: 403/20011, 403/20013 and 403/40002 for a closed account, 403/40006 for an identity whose account was
    deleted while its user was banned, and where the provider makes no accounts.
    """
    row = await queries.select_identity(ctx.tx, identity.provider_id, identity.subject)
    if row is not None:
        user = await select_user(ctx.tx, row.user_id)
        if user is None or user.deleted:
            raise Refusal(errors.FEATURE_DISABLED, message=_ENDED)
        check_can_log_in(ctx, user, undelete=undelete)
        if row.ended:
            return _must_link(user)
        await queries.touch_identity(ctx.tx, row.provider_id, row.subject, identity.name, ctx.now)
        return user.id
    holder = None if identity.email is None else await select_by_email(ctx.tx, identity.email.key)
    if holder is not None and holder.verified:
        check_can_log_in(ctx, holder, undelete=undelete)
        if await queries.awaits_first_login(ctx.tx, provider.id, holder.id):
            # The provider itself has made the account, by SCIM and with this address, but under another id.
            await queries.upsert_identity(ctx.tx, _row(ctx, identity, holder.id, ctx.now))
            return holder.id
        return _must_link(holder)
    return await _create(ctx, provider, identity, network)


async def check_can_link(ctx: Context, user_id: UserId, *, undelete: bool) -> None:
    """Refuse to link an identity, before a login, to an account that may not log in. Raises as `check_can_log_in`."""
    await lock_user(ctx.tx, user_id)
    user = await select_user(ctx.tx, user_id)
    if user is None or user.deleted:
        raise Refusal(errors.NOT_AUTHENTICATED)
    check_can_log_in(ctx, user, undelete=undelete)


async def link_identity(ctx: Context, identity: Identity, user_id: UserId, *, last_login_at: Timestamp | None) -> None:
    """Let a user, who has proved that the account is theirs, log in with an identity; mail a notice to its owner.

    Raises Refusal 50035 at `identity` for one that another account has, or has had.
    """
    await lock_user(ctx.tx, user_id)
    before = await queries.select_identity(ctx.tx, identity.provider_id, identity.subject)
    if before is not None and before.user_id != user_id:
        form_errors = FormErrors()
        form_errors.add(
            "identity", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "Another account logs in with this, or has done so."
        )
        raise form_errors.refusal()
    if before is not None and not before.ended:
        return
    await queries.upsert_identity(ctx.tx, _row(ctx, identity, user_id, last_login_at))
    user = await select_user(ctx.tx, user_id)
    if user is not None:
        await notify_owner(ctx, user, MailKind.LOGIN_LINKED, client=identity.name or identity.subject)


async def unlink_provider(ctx: Context, user: UserRow, provider_id: Snowflake) -> None:
    """Let a user not log in with a provider any more, and end the logins that came by it, but for this one.

    The identity stays bound to the account: who is banned gets no new account by unlinking. Raises Refusal: 404/10010
    if the user does not log in with it, 50035 at `provider_id` if there is no other way into the account.
    """
    await lock_user(ctx.tx, user.id)
    present = await queries.select_identities(ctx.tx, user.id)
    if not any(row.provider_id == provider_id for row in present):
        raise Refusal(errors.UNKNOWN_PROVIDER)
    others = [row for row in present if row.provider_id != provider_id]
    password = user.password_hash is not None and ctx.services.limits.password_login
    if not others and not password and not await select_authenticators(ctx.tx, user.id):
        form_errors = FormErrors()
        form_errors.add(
            "provider_id", FormCode.BASE_TYPE_REQUIRED, "You could not log in any more: set a password first."
        )
        raise form_errors.refusal()
    await queries.end_identities(ctx.tx, provider_id, user.id)
    await end_logins(ctx, provider_id, user_id=user.id, session=None, until=ctx.now, spared=ctx.actor.token_hash)


async def release_identity(ctx: Context, provider: ProviderRow, subject: str) -> None:
    """Forget an identity, so that its person can log in for the first time again. Raises Refusal 404/10013.

    It is an act of an operator, who must be one that may act on the account.
    """
    row = await queries.select_identity(ctx.tx, provider.id, subject)
    if row is None:
        raise Refusal(errors.UNKNOWN_USER)
    await check_may_act_on(ctx, row.user_id)
    await queries.delete_identity(ctx.tx, provider.id, subject)
    await end_logins(ctx, provider.id, user_id=row.user_id, session=None, until=ctx.now)
    changes = {"provider": (provider.name, None), "subject": (subject, None)}
    await record_act(ctx, "identity.release", row.user_id, changes=changes)


async def assign_identity(ctx: Context, provider: ProviderRow, subject: str, user: UserRow) -> None:
    """Let a user log in with an identity, for an operator who knows that they are the same person.

    Raises Refusal as `link_identity` and `check_may_act_on`.
    """
    await check_may_act_on(ctx, user.id)
    identity = Identity(
        provider_id=provider.id,
        subject=subject,
        session=None,
        name=None,
        username="",
        global_name=None,
        email=None,
        groups=(),
    )
    await link_identity(ctx, identity, user.id, last_login_at=None)
    changes = {"provider": (None, provider.name), "subject": (None, subject)}
    await record_act(ctx, "identity.link", user.id, changes=changes)


async def end_logins(
    ctx: Context,
    provider_id: Snowflake,
    *,
    user_id: UserId | None,
    session: str | None,
    until: Timestamp,
    spared: bytes | None = None,
) -> int:
    """End the logins by a provider that began until a moment, of a `session` of it or of a user; return how many."""
    rows = await queries.select_sessions(ctx.tx, provider_id, user_id=user_id, session=session, until=until)
    rows = [row for row in rows if row[0] != spared]
    await end_tokens(ctx.tx, [digest for digest, _ in rows])
    for digest, owner_id in rows:
        ctx.emit(SessionsClose(user_id=owner_id, token_hash=digest.hex()))
    return len(rows)


async def log_out_by_provider(
    ctx: Context, provider_id: Snowflake, *, subject: str | None, session: str | None, issued_at: float
) -> None:
    """End logins because their provider says so: those of its `session`, else all of the person.

    Only those that had begun when it said so, as the message may be sent again.
    """
    user_id = None
    if session is None:
        row = None if subject is None else await queries.select_identity(ctx.tx, provider_id, subject)
        if row is None:
            return
        user_id = row.user_id
    until = Timestamp(int((issued_at + LEEWAY) * 1000))
    await end_logins(ctx, provider_id, user_id=user_id, session=session, until=until)


async def forget_deleted_account(ctx: Context, user: UserRow) -> None:
    """Delete the identities of an account that is deleted.

    Those of a user who is suspended or banned from a guild stay, so that the same person gets no new account by them.
    """
    keep = user.suspended or await queries.is_banned_anywhere(ctx.tx, user.id)
    await queries.end_identities_of_deleted(ctx.tx, user.id, keep=keep)
    await queries.delete_provisioned(ctx.tx, user.id)


async def make_account(ctx: Context, identity: Identity) -> UserId:
    """Make the account of a person whom a provider knows, who has not logged in yet.

    Raises Refusal: 50035 for an address of a domain that the operator does not take, and for one that another account
    has verified.
    """
    form_errors = FormErrors()
    check_address(ctx.services.limits, form_errors, identity.email)
    form_errors.raise_if_any()
    return await create_account(
        ctx,
        username=await _free_username(ctx, identity),
        password_hash=None,
        email=identity.email,
        global_name=identity.global_name,
        vouched=identity.email is not None,
    )


async def bind_identity(ctx: Context, identity: Identity, user_id: UserId) -> None:
    """Let a user log in with an identity, because the provider itself has made the account."""
    await queries.upsert_identity(ctx.tx, _row(ctx, identity, user_id, None))


async def _create(ctx: Context, provider: ProviderRow, identity: Identity, network: str) -> UserId:
    limits = ctx.services.limits
    if not provider.creates_accounts or (limits.blocked_networks and is_blocked(limits, network)):
        raise Refusal(errors.FEATURE_DISABLED, message=_NO_ACCOUNT)
    user_id = await make_account(ctx, identity)
    await queries.upsert_identity(ctx.tx, _row(ctx, identity, user_id, ctx.now))
    return user_id


async def _free_username(ctx: Context, identity: Identity) -> str:
    """The first of the usernames that follow from an identity that is valid and not taken."""
    limits = ctx.services.limits
    reserved = (*limits.reserved_words, *limits.blocked_usernames)
    for name in usernames(identity):
        if username_error(name, reserved=reserved) is not None:
            break
        if await select_by_username(ctx.tx, search_key(name)) is None:
            return name
    return f"user_{int(ctx.ids.next())}"


def _row(ctx: Context, identity: Identity, user_id: UserId, last_login_at: Timestamp | None) -> IdentityRow:
    return IdentityRow(
        provider_id=identity.provider_id,
        subject=identity.subject,
        user_id=user_id,
        name=identity.name,
        created_at=ctx.now,
        last_login_at=last_login_at,
        ended=False,
    )


def _must_link(user: UserRow) -> MustLink:
    return MustLink(user.id, user.username, user.mfa_enabled)
