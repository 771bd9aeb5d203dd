"""Accounts over HTTP (public description: users; the paths of registering and logging in are the usual clients')."""

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api import unit_of_work
from moothall.api.access import PERSON, PUBLIC, SIGNED_IN
from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.api.endpoint import get, patch, post
from moothall.api.ratelimit import Rate
from moothall.objects import errors, limits, locales
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import UserId
from moothall.objects.images import ImageData
from moothall.objects.locales import preferred_locale
from moothall.objects.profile import ProfileMetadata
from moothall.objects.text import clean, clean_name, search_key
from moothall.objects.user import CurrentUser
from moothall.resources.user import queries
from moothall.resources.user.account import operations
from moothall.resources.user.account.operations import Login
from moothall.resources.user.account.policy import (
    INVALID_TOKEN,
    REQUIRED_ACTIONS,
    Pending,
    check_address,
    check_age,
    check_consent,
    check_open,
    check_passwords,
    check_registration,
    pending_of,
)
from moothall.resources.user.account.proof_of_work import (
    SOLUTION_MAX,
    Challenge,
    check_solution,
    new_challenge,
    use_solution,
)
from moothall.resources.user.auth_session.client import LoginClient, client_of
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.factor.attempts import attempt
from moothall.resources.user.factor.operations import FactorRequired, read_evidence
from moothall.resources.user.factor.proof import (
    is_passkey_ticket,
    new_passkey_ticket,
    require_password,
    require_proof,
)
from moothall.resources.user.factor.webauthn import read_assertion, relying_party, request_options
from moothall.resources.user.lookup import find_by_login
from moothall.resources.user.objects import own_view, profile_metadata
from moothall.resources.user.password.strength import check_strength
from moothall.resources.user.password.verification import Device, check_login, hash_password
from moothall.resources.user.registration_token.queries import count_use
from moothall.runtime.secrets import hash_token
from moothall.storage.rows import UserRow

Password = Annotated[str, Meta(min_length=limits.PASSWORD_MIN, max_length=limits.PASSWORD_MAX)]
GlobalName = Annotated[str, Meta(max_length=limits.GLOBAL_NAME_MAX)]

_LOGIN_RATE: Final = Rate(5, 10.0)
_CODE_RATE: Final = Rate(10, 60.0)
_WRONG_LOGIN: Final = "Login or password is invalid."


class Register(Struct, frozen=True):
    """A new account. The email address is unverified; users can also log in with it."""

    username: str
    password: Password
    email: EmailAddress | UnsetType | None = UNSET
    global_name: GlobalName | UnsetType | None = UNSET
    registration_token: Annotated[str, Meta(max_length=128)] | UnsetType | None = UNSET
    """An invitation of the operator, which is needed where the setting `registration` is "token"."""
    date_of_birth: Annotated[str, Meta(max_length=32)] | UnsetType | None = UNSET
    """Like 2000-12-31; needed where the setting `registration_min_age` is more than 0. It is not stored."""
    captcha_key: Annotated[str, Meta(max_length=SOLUTION_MAX)] | UnsetType | None = UNSET
    """The solution of a challenge (`GET /auth/altcha`), where the setting `registration_proof_of_work` asks for one."""
    consent: bool = False
    """Whether the user accepts the terms, which is needed where the setting `terms_url` names some."""

    async def check_names_and_password(self, ctx: Context, form_errors: FormErrors) -> None:
        """Add an error for a name or address that cannot be had, and for a password that is easy to guess."""
        email = None if self.email is UNSET else self.email
        await operations.check_names(ctx, form_errors, username=self.username, email=email, own=None)
        await check_registration(ctx, form_errors, email=email, token=self.registration_token or None)
        check_age(ctx.services.limits, form_errors, self.date_of_birth or None)
        check_consent(ctx.services.limits, form_errors, consent=self.consent)
        names = (self.username, email, _display_name(self.global_name))
        await check_strength(ctx, form_errors, "password", self.password, names=names)


class Registered(Struct, frozen=True):
    """A new account with a session token, or without one and what is required before its user can log in."""

    user_id: UserId
    token: str | UnsetType = UNSET
    required_actions: list[str] | UnsetType = UNSET


class LogIn(Struct, frozen=True):
    """`login` is a username or an email address."""

    login: Annotated[str, Meta(min_length=1, max_length=limits.EMAIL_MAX)]
    password: Annotated[str, Meta(min_length=1, max_length=limits.PASSWORD_MAX)]
    undelete: bool = False
    """Whether to restore an account that its user has disabled, or deleted a few days ago."""


class LoginResult(Struct, frozen=True, kw_only=True):
    """A session token; or, with `mfa`, the ticket to prove a second factor with, and which ones the user has."""

    user_id: UserId
    token: str | UnsetType = UNSET
    mfa: bool | UnsetType = UNSET
    ticket: str | UnsetType = UNSET
    login_instance_id: str | UnsetType = UNSET
    totp: bool | UnsetType = UNSET
    backup: bool | UnsetType = UNSET
    sms: bool | UnsetType = UNSET
    webauthn: str | UnsetType | None = UNSET

    @classmethod
    def of(cls, login: Login | FactorRequired) -> "LoginResult":
        """What a client is sent of a login."""
        if isinstance(login, Login):
            return cls(user_id=login.user_id, token=login.token)
        return cls(
            user_id=login.user_id,
            mfa=True,
            ticket=login.ticket,
            login_instance_id=_instance_id(login.ticket),
            totp=login.totp,
            backup=login.backup,
            sms=False,
            webauthn=login.webauthn,
        )


class VerifyMfaLogin(Struct, frozen=True):
    """The ticket of a login, and a code; for `webauthn` the credential that the browser returned, as JSON."""

    ticket: Annotated[str, Meta(max_length=128)]
    code: Annotated[str, Meta(max_length=limits.WEBAUTHN_MAX)]
    login_instance_id: Annotated[str, Meta(max_length=64)] | UnsetType | None = UNSET


class PasskeyChallenge(Struct, frozen=True):
    """A ticket, and the options for the browser as JSON."""

    ticket: str
    challenge: str


class FinishPasskeyLogin(Struct, frozen=True):
    """The ticket, and the credential that the browser returned, as JSON."""

    ticket: Annotated[str, Meta(max_length=512)]
    credential: Annotated[str, Meta(max_length=limits.WEBAUTHN_MAX)]


class ModifyCurrentUser(Struct, frozen=True):
    """Fields to change. A user's username, email address and password need the current password.

    With a second factor, a new address or password needs a fresh proof of it too.

    A new address is unverified.
    """

    username: str | UnsetType = UNSET
    avatar: ImageData | UnsetType | None = UNSET
    banner: ImageData | UnsetType | None = UNSET
    global_name: GlobalName | UnsetType | None = UNSET
    bio: Annotated[str, Meta(max_length=limits.BIO_MAX)] | UnsetType | None = UNSET
    accent_color: Annotated[int, Meta(ge=0, le=0xFFFFFF)] | UnsetType | None = UNSET
    email: EmailAddress | UnsetType = UNSET
    password: str | UnsetType = UNSET
    new_password: Password | UnsetType = UNSET
    end_authorizations: bool = False
    """With a new password: also revoke all authorizations of applications, with their tokens."""


class ModifyProfile(Struct, frozen=True, kw_only=True):
    """Changes to what a user says about themselves: an absent field stays, null clears it."""

    pronouns: Annotated[str, Meta(max_length=limits.PRONOUNS_MAX)] | UnsetType | None = UNSET
    bio: Annotated[str, Meta(max_length=limits.BIO_MAX)] | UnsetType | None = UNSET
    banner: ImageData | UnsetType | None = UNSET
    accent_color: Annotated[int, Meta(ge=0, le=0xFFFFFF)] | UnsetType | None = UNSET


class ModifiedUser(CurrentUser, frozen=True, kw_only=True):
    """The changed account. After a password change `token` replaces all session tokens of before."""

    token: str | UnsetType = UNSET


# Hashing a password takes tens of milliseconds on a thread, so these endpoints open their transaction afterwards.


@post("/auth/register", permission=PUBLIC, rate=_LOGIN_RATE, status=201, writes=False)
async def register(ctx: Context, body: Register) -> Registered:
    """Create an account and log in to it, unless its address must be verified or the operator approve it before."""
    return await register_account(ctx, body)


@get("/auth/altcha", permission=PUBLIC, rate=_CODE_RATE)
async def get_registration_challenge(ctx: Context) -> Challenge:
    """Get a challenge of ALTCHA, whose solution registers one account. 403/40006 where registration needs none."""
    return new_challenge(ctx)


@post("/auth/login", permission=PUBLIC, rate=_LOGIN_RATE, writes=False)
async def log_in(ctx: Context, body: LogIn) -> LoginResult:
    """Log in with a username or email address and a password; returns a session token. Failures are throttled.

    For a user with a second factor it returns a ticket instead.
    """
    return LoginResult.of(await log_in_with_password(ctx, body))


@post("/auth/mfa/{authenticator_type}", permission=PUBLIC, rate=_CODE_RATE, writes=False)
async def verify_mfa_login(ctx: Context, authenticator_type: str, body: VerifyMfaLogin) -> LoginResult:
    """Prove a second factor by a code (`totp`, `backup`) or key (`webauthn`) for a login, and log in.

    Each code is accepted once.
    """
    if body.login_instance_id not in {UNSET, None, _instance_id(body.ticket)}:
        raise Refusal(errors.INVALID_MFA_TICKET)
    return LoginResult.of(await log_in_with_code(ctx, body.ticket, authenticator_type, body.code))


@post("/auth/conditional/start", permission=PUBLIC, rate=_CODE_RATE, writes=False)
async def start_passwordless_login(ctx: Context) -> PasskeyChallenge:
    """Get the challenge for a login by passkey alone. Where there are no passkeys: 403/40006."""
    if relying_party(ctx) is None:
        raise Refusal(errors.FEATURE_DISABLED)
    ticket = new_passkey_ticket(ctx)
    return PasskeyChallenge(ticket=ticket, challenge=request_options(ctx, ticket, (), alone=True))


@post("/auth/conditional/finish", permission=PUBLIC, rate=_CODE_RATE, writes=False)
async def finish_passwordless_login(ctx: Context, body: FinishPasskeyLogin) -> LoginResult:
    """Log in by a passkey alone, which has verified its user: it is two factors by itself."""
    if not is_passkey_ticket(ctx, body.ticket):
        raise Refusal(errors.INVALID_MFA_TICKET)
    assertion = await read_assertion(ctx, body.ticket, body.credential, alone=True)
    client = client_of(ctx)

    async def work(inner: Context) -> Login | None:
        if assertion is None:
            return None
        return await operations.log_in_with_passkey(inner, body.ticket, assertion, client=client)

    return LoginResult.of(await attempt(ctx, work, fires=()))


@post("/auth/logout", permission=SIGNED_IN, fires=(SessionsClose,))
async def log_out(ctx: Context) -> None:
    """Delete the session token of this request, and close its gateway sessions."""
    if ctx.actor.kind is not TokenKind.SESSION:
        raise Refusal(errors.BOTS_CANNOT_USE)
    await operations.log_out(ctx)


@patch("/users/@me", permission=SIGNED_IN, fires=(*operations.EDIT_ACCOUNT_EVENTS, SessionsClose), writes=False)
async def modify_current_user(ctx: Context, body: ModifyCurrentUser) -> ModifiedUser:
    """Change the caller's account. A new password ends every login and returns a new token."""
    row = await _own_row(ctx)
    email = None if body.email is UNSET else body.email
    username = None if body.username is UNSET or body.username == row.username else body.username
    form_errors = FormErrors()
    # `_modify` checks whether the address is taken, because only callers with the password may learn that.
    await operations.check_names(ctx, form_errors, username=None if row.bot else username, email=None, own=row.id)
    if email != row.email:
        check_address(ctx.services.limits, form_errors, email)
    if row.bot and (email is not None or body.new_password is not UNSET):
        raise Refusal(errors.BOTS_CANNOT_USE)
    if row.bot and username is not None:
        username = clean_name(username)
        if not limits.USERNAME_MIN <= len(username) <= limits.USERNAME_MAX:
            form_errors.add("username", FormCode.BASE_TYPE_BAD_LENGTH, "Must be between 2 and 32 in length.")
    form_errors.raise_if_any()
    if body.end_authorizations and body.new_password is UNSET:
        form_errors.add("new_password", *FieldError.required())
        raise form_errors.refusal()
    if not row.bot and (username is not None or email is not None or body.new_password is not UNSET):
        await require_password(ctx, body.password)
    if not row.bot and (email not in {None, row.email} or body.new_password is not UNSET):
        await require_proof(ctx)
    password_hash = None
    if body.new_password is not UNSET:
        names = (username or row.username, email or row.email, row.global_name)
        await check_strength(ctx, form_errors, "new_password", body.new_password, names=names)
        form_errors.raise_if_any()
        password_hash = await hash_password(ctx, body.new_password)
    client = client_of(ctx)

    async def work(inner: Context) -> ModifiedUser:
        return await _modify(inner, body, username, password_hash, client)

    return await unit_of_work.run(ctx.services, ctx.actor, work, fires=(*operations.EDIT_ACCOUNT_EVENTS, SessionsClose))


@patch("/users/@me/profile", permission=PERSON, fires=operations.EDIT_ACCOUNT_EVENTS)
async def modify_user_profile(ctx: Context, body: ModifyProfile) -> ProfileMetadata:
    """Change what the caller says about themselves."""
    changes = operations.only(("accent_color",), body)
    for field in ("bio", "pronouns"):
        text = getattr(body, field)
        if text is not UNSET:
            changes[field] = clean(text or "").strip() if field == "pronouns" else clean(text or "")
    if body.banner is not UNSET:
        changes["banner"] = None if body.banner is None else body.banner.hash
    return profile_metadata(await operations.edit_account(ctx, await _own_row(ctx), changes))


async def register_account(ctx: Context, body: Register, *, seconds: int | None = None) -> Registered:
    """Create an account and log in to it, for `seconds` or without expiry.

    Where addresses must be verified or accounts approved it is not logged in: the result says what is required.

    Its locale is what Accept-Language prefers, until its user chooses another.
    Raises Refusal: 403/40006 if registration is disabled, 50035 for an invalid or taken name or address and a weak
    password.
    """
    check_passwords(ctx)
    check_open(ctx)
    pending = pending_of(ctx.services.limits)
    email = None if body.email is UNSET else body.email
    form_errors = FormErrors()
    # Before anything that costs the server more than it has cost the client.
    solution = check_solution(ctx, body.captcha_key or None)
    await body.check_names_and_password(ctx, form_errors)
    form_errors.raise_if_any()
    password_hash, client = await hash_password(ctx, body.password), client_of(ctx)

    async def work(inner: Context) -> Registered:
        if ctx.services.limits.registration == "token":
            digest = hash_token(body.registration_token or "")
            if not await count_use(inner.tx, digest, inner.now):
                refuse_field("registration_token", *INVALID_TOKEN)
        user_id = await operations.create_account(
            inner,
            username=body.username,
            password_hash=password_hash,
            email=email,
            global_name=_display_name(body.global_name),
            network=ctx.ip,
            pending=pending,
            locale=preferred_locale(ctx.header("accept-language")) or locales.DEFAULT,
        )
        await use_solution(inner, solution, user_id)
        await operations.store_consent(inner, user_id)
        if pending is not Pending.NOTHING:
            return Registered(user_id, required_actions=[REQUIRED_ACTIONS[pending]])
        return Registered(user_id, (await operations.log_in(inner, user_id, seconds=seconds, client=client)).token)

    return await unit_of_work.run(ctx.services, ctx.actor, work, fires=())


async def log_in_with_password(
    ctx: Context, body: LogIn, *, seconds: int | None = None, device: Device | None = None
) -> Login | FactorRequired:
    """Log in with a password, for `seconds` or without expiry; `device` is the browser, if it is known.

    A user with a second factor gets a ticket for `log_in_with_code`.

    Raises Refusal: 403/40006 where there are no passwords, 50035 for a wrong name or password, 429 after too many of
    them, 403/20011 and 403/20013 for an account that its user has closed.
    """
    check_passwords(ctx)
    key = search_key(body.login)
    row = await find_by_login(ctx, body.login)
    if not await check_login(ctx, key, row, body.password, device=device) or row is None:
        form_errors = FormErrors()
        form_errors.add("login", "INVALID_LOGIN", _WRONG_LOGIN)
        form_errors.add("password", "INVALID_LOGIN", _WRONG_LOGIN)
        raise form_errors.refusal()
    operations.check_can_log_in(ctx, row, undelete=body.undelete)
    user_id, client = row.id, client_of(ctx)

    async def work(inner: Context) -> Login | FactorRequired:
        return await operations.log_in_or_restore(
            inner,
            user_id,
            undelete=body.undelete,
            seconds=seconds,
            client=client,
            known_device=device is not None and device.user_id == user_id,
        )

    return await unit_of_work.run(ctx.services, ctx.actor, work, fires=())


async def log_in_with_code(
    ctx: Context, ticket: str, method: str, code: str, *, seconds: int | None = None, device: Device | None = None
) -> Login:
    """Log in by the ticket of `log_in_with_password` and a code.

    Raises Refusal: 400/60006 for a ticket that is not good, 400/60008 for a wrong code, 429 after too many of them,
    and as `log_in_or_restore`.
    """
    client, evidence = client_of(ctx), await read_evidence(ctx, ticket, method, code)

    async def work(inner: Context) -> Login | None:
        return await operations.log_in_with_factor(
            inner, ticket, evidence, seconds=seconds, client=client, device=device
        )

    login = await attempt(ctx, work, fires=())
    if login.client.provider_id is not None:
        await operations.PROVIDER_LOGGED_IN(ctx.services, login.user_id, login.client)
    return login


def _instance_id(ticket: str) -> str:
    """The id of a login, which clients send back with its ticket."""
    return hash_token(ticket).hex()[:32]


async def _modify(
    ctx: Context, body: ModifyCurrentUser, username: str | None, password_hash: str | None, client: LoginClient
) -> ModifiedUser:
    row = await _own_row(ctx)
    changes = operations.only(("accent_color", "email"), body)
    if body.bio is not UNSET:
        changes["bio"] = "" if body.bio is None else clean(body.bio)
    if body.global_name is not UNSET:
        changes["global_name"] = _display_name(body.global_name)
    for field in ("avatar", "banner"):
        image = getattr(body, field)
        if image is not UNSET:
            changes[field] = None if image is None else image.hash
    if username is not None:
        changes["username"] = username
    # Checked again in the transaction: another account may have taken the name meanwhile.
    form_errors = FormErrors()
    await operations.check_names(
        ctx, form_errors, username=None if row.bot else username, email=changes.get("email"), own=row.id
    )
    form_errors.raise_if_any()
    row = await operations.edit_account(ctx, row, changes)
    token: str | UnsetType = UNSET
    if password_hash is not None:
        await operations.change_password(ctx, row, password_hash)
        if body.end_authorizations:
            await operations.AUTHORIZATIONS_REVOKING(ctx)
        token = (await operations.log_in(ctx, row.id, client=client)).token
    shown = own_view(row, ctx.actor)
    return ModifiedUser(**{name: getattr(shown, name) for name in shown.__struct_fields__}, token=token)


async def _own_row(ctx: Context) -> UserRow:
    row = await queries.select_user(ctx.tx, ctx.actor.user_id)
    if row is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    return row


def _display_name(name: str | UnsetType | None) -> str | None:
    """Clean a display name; None if it is blank."""
    return None if name is UNSET or name is None else clean_name(name) or None
