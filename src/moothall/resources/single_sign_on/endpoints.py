"""Logging in with identity providers over HTTP: which there are, what a user has linked, logout by a provider."""

import logging
from typing import Annotated, Final
from urllib.parse import quote

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api import unit_of_work
from moothall.api.access import PERSON, PUBLIC
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post
from moothall.api.operators import may_act, may_read
from moothall.api.ratelimit import Rate
from moothall.api.request.url_encoded import UrlEncoded
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.identity_provider.endpoints import get_provider
from moothall.resources.identity_provider.metadata import ProviderFailed
from moothall.resources.identity_provider.provider_client import ProviderClient
from moothall.resources.identity_provider.queries import ProviderRow, select_provider_by_name, select_providers
from moothall.resources.single_sign_on import operations, queries
from moothall.resources.single_sign_on.queries import LinkedRow
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.factor.proof import require_password_or_proof
from moothall.resources.user.queries import select_user

log = logging.getLogger("moothall.single_sign_on")

_LOGOUT_RATE: Final = Rate(50, 10.0)
_READS, _ACTS = may_read(OperatorPermission.USERS), may_act(OperatorPermission.USERS)
_NAME_MAX: Final = 32


class LoginProvider(Struct, frozen=True, kw_only=True):
    """A provider that people can log in with."""

    name: str
    label: str
    url: str
    """Where a browser begins; `?next=` names the path to go on to."""


class LoginMethods(Struct, frozen=True):
    """How people can log in here, beside passkeys, and what is asked of those who register."""

    passwords: bool
    providers: list[LoginProvider]
    min_age: int
    """How old one must be to register, in years; 0 if no date of birth is asked for."""
    terms_url: str | None
    """The terms that one must accept to register."""
    instance_name: str
    """What this server is called."""
    proof_of_work: bool
    """Whether one solves a challenge (`GET /auth/altcha`) to register."""


class LinkedIdentity(Struct, frozen=True, kw_only=True):
    """An identity that a user logs in with."""

    provider_id: Snowflake
    provider: str
    label: str
    name: str | None
    """What the provider called the user last."""
    created_at: Timestamp
    last_login_at: Timestamp | None


class AdministeredIdentity(LinkedIdentity, frozen=True, kw_only=True):
    """The same with the subject, by which the provider knows the user."""

    subject: str


class UnlinkProvider(Struct, frozen=True):
    """The caller's password; a fresh proof replaces it, and is needed with a second factor."""

    password: Annotated[str, Meta(max_length=limits.PASSWORD_MAX)] | UnsetType | None = UNSET


class LinkIdentity(Struct, frozen=True):
    """The subject of a person, which the provider shows."""

    subject: Annotated[str, Meta(min_length=1, max_length=255)]


class LogoutRequest(UrlEncoded, frozen=True, kw_only=True):
    """The form of a back-channel logout."""

    logout_token: str | None = None


class EmptyObject(Struct, frozen=True):
    """An empty JSON object."""


@get("/auth/methods", permission=PUBLIC)
async def get_login_methods(ctx: Context) -> LoginMethods:
    """Return how people can log in: whether with passwords, and with which identity providers."""
    rows = await select_providers(ctx.tx)
    limits = ctx.services.limits
    providers = [login_provider(row) for row in rows if row.enabled]
    return LoginMethods(
        passwords=limits.password_login,
        providers=providers,
        min_age=limits.registration_min_age,
        terms_url=limits.terms_url,
        instance_name=limits.instance_name,
        proof_of_work=limits.registration_proof_of_work > 0,
    )


@get("/users/@me/identities", permission=PERSON)
async def list_linked_identities(ctx: Context) -> list[LinkedIdentity]:
    """List the identities that the caller logs in with."""
    return [_linked(row) for row in await queries.select_identities(ctx.tx, ctx.actor.user_id)]


@delete("/users/@me/identities/{provider_id}", permission=PERSON, fires=(SessionsClose,), writes=False)
async def unlink_provider(ctx: Context, provider_id: Snowflake, body: UnlinkProvider) -> None:
    """Let the caller not log in with a provider any more, and end the other logins that came by it."""
    await require_password_or_proof(ctx, body.password)

    async def work(inner: Context) -> None:
        row = await select_user(inner.tx, inner.actor.user_id)
        if row is None:
            raise Refusal(errors.NOT_AUTHENTICATED)
        await operations.unlink_provider(inner, row, provider_id)

    await unit_of_work.run(ctx.services, ctx.actor, work, fires=(SessionsClose,))


@post("/auth/back-channel-logout/{provider_name}", permission=PUBLIC, rate=_LOGOUT_RATE, status=200, writes=False)
async def log_out_by_back_channel(ctx: Context, provider_name: str, body: LogoutRequest) -> EmptyObject:
    """End logins at the request of the provider that they came by (OpenID Connect Back-Channel Logout 1.0)."""
    provider = await find_enabled(ctx, provider_name, even_disabled=True)
    try:
        claims = await ctx.services.resources[ProviderClient].read_logout(provider, body.logout_token or "")
    except ProviderFailed as problem:
        log.warning("a logout token of %s is not accepted: %s", provider.name, problem)
        raise Refusal(errors.GENERAL_ERROR, message="The logout token is not accepted.") from None

    async def work(inner: Context) -> None:
        await operations.log_out_by_provider(
            inner,
            provider.id,
            subject=claims.get("sub"),
            session=claims.get("sid") or None,
            issued_at=claims["iat"],
        )

    await unit_of_work.run(ctx.services, ANONYMOUS, work, fires=(SessionsClose,))
    return EmptyObject()


@get("/admin/v1/users/{user_id}/identities", permission=_READS)
async def list_account_identities(ctx: Context, user_id: UserId) -> list[AdministeredIdentity]:
    """List the identities that the user of an account logs in with."""
    return [
        AdministeredIdentity(
            provider_id=row.provider_id,
            provider=row.provider_name,
            label=row.label,
            name=row.name,
            created_at=row.created_at,
            last_login_at=row.last_login_at,
            subject=row.subject,
        )
        for row in await queries.select_identities(ctx.tx, user_id)
    ]


@post("/admin/v1/users/{user_id}/identities/{provider_id}", permission=_ACTS, audit_reason=True, status=204)
async def link_account_identity(ctx: Context, user_id: UserId, provider_id: Snowflake, body: LinkIdentity) -> None:
    """Let the user of an account log in with an identity of which the operator knows that it is theirs."""
    row = await select_user(ctx.tx, user_id)
    if row is None or row.deleted or row.bot:
        raise Refusal(errors.UNKNOWN_USER)
    await operations.assign_identity(ctx, await get_provider(ctx, provider_id), body.subject, row)


@post(
    "/admin/v1/identity-providers/{provider_id}/release",
    permission=_ACTS,
    audit_reason=True,
    fires=(SessionsClose,),
    status=204,
)
async def release_identity(ctx: Context, provider_id: Snowflake, body: LinkIdentity) -> None:
    """Forget an identity, also that of a deleted account: its person can log in for the first time again."""
    await operations.release_identity(ctx, await get_provider(ctx, provider_id), body.subject)


async def find_enabled(ctx: Context, name: str, *, even_disabled: bool = False) -> ProviderRow:
    """Find a provider by the name that URLs have. Raises Refusal 404/10010 if there is none that is enabled."""
    row = await select_provider_by_name(ctx.tx, name) if len(name) <= _NAME_MAX else None
    if row is None or not (row.enabled or even_disabled):
        raise Refusal(errors.UNKNOWN_PROVIDER)
    return row


def login_provider(row: ProviderRow) -> LoginProvider:
    """A provider as those see it who log in."""
    return LoginProvider(name=row.name, label=row.label, url=f"/login/with/{quote(row.name)}")


def _linked(row: LinkedRow) -> LinkedIdentity:
    return LinkedIdentity(
        provider_id=row.provider_id,
        provider=row.provider_name,
        label=row.label,
        name=row.name,
        created_at=row.created_at,
        last_login_at=row.last_login_at,
    )
