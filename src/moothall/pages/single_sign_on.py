"""Pages to log in with an identity provider, and to link and unlink one."""

import logging
from functools import partial
from typing import Final
from urllib.parse import quote

from msgspec import UNSET, structs
from starlette.responses import Response

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.text import search_key
from moothall.objects.wire import Timestamp
from moothall.pages.forms import local_path, parse_integer
from moothall.pages.login import SHOWN_AGAIN, render_code, render_login, start_session
from moothall.pages.page_request import SESSION_SECONDS, PageRequest
from moothall.pages.rendering import redirect, render_page
from moothall.resources.identity_provider.metadata import ProviderFailed
from moothall.resources.identity_provider.provider_client import ProviderClient
from moothall.resources.identity_provider.queries import ProviderRow, select_groups, select_provider
from moothall.resources.single_sign_on import operations
from moothall.resources.single_sign_on.claims import Identity, identity_of
from moothall.resources.single_sign_on.endpoints import (
    find_enabled,
    get_login_methods,
    list_linked_identities,
    login_provider,
)
from moothall.resources.single_sign_on.operations import MustLink, apply_groups, link_identity
from moothall.resources.single_sign_on.request_state import STATE_SECONDS, PendingLink, SignOnState
from moothall.resources.user.account.operations import Login, log_in_or_restore
from moothall.resources.user.auth_session.client import client_of
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.factor.attempts import attempt
from moothall.resources.user.factor.operations import FactorRequired, Method, check_code
from moothall.resources.user.factor.proof import require_password
from moothall.resources.user.password.verification import check_login
from moothall.resources.user.queries import select_user
from moothall.storage.rows import UserRow

_DEFAULT_NEXT: Final = "/app/"
_LINKS: Final = "/settings/login-providers"
_CODE_MAX: Final = 64
_SEALED_MAX: Final = 60_000

log = logging.getLogger("moothall.single_sign_on")


async def begin_login(request: PageRequest) -> Response:
    """Send the browser to a provider; `next` in the query is the path to go on to, `undelete` restores an account."""
    async with request.reading() as ctx:
        provider = await find_enabled(ctx, request.path_params["provider"])
    state = SignOnState.new(
        provider.id,
        Timestamp.now(),
        next_path=local_path(request.query.get("next"), _DEFAULT_NEXT)[:1024],
        undelete=request.query.get("undelete") == "on",
    )
    try:
        return await _send_to(request, provider, state)
    except Refusal as refusal:
        return await render_login(request, refusal, state.next)


async def finish(request: PageRequest) -> Response:
    """Take the answer of a provider: log in, or link the provider to the account that is logged in."""
    async with request.reading() as ctx:
        provider = await find_enabled(ctx, request.path_params["provider"])
    state = SignOnState.unseal(request.services.box, request.sign_on)
    request.set_sign_on("", 0)
    if state is None or not state.answers(request.query.get("state", ""), provider.id, Timestamp.now()):
        message = request.gettext("This login was begun in another browser, or too long ago. Begin it again.")
        return await render_login(request, Refusal(errors.GENERAL_ERROR, message=message))
    try:
        identity = await _identity(request, provider, state)
        if state.link_to is not None:
            return await _link(request, identity, state.link_to)
        return await _log_in(request, provider, identity, state)
    except Refusal as refusal:
        if state.link_to is not None:
            return await _render_links(request, refusal)
        return await render_login(request, refusal, state.next, provider=login_provider(provider))


async def link_and_log_in(request: PageRequest) -> Response:
    """Link a provider to the account that its user proves by the password and the second factor, and log in."""
    form = await request.read_form()
    pending = PendingLink.unseal(request.services.box, form.text("pending")[:_SEALED_MAX], Timestamp.now())
    if pending is None:
        message = request.gettext("This login was begun in another browser, or too long ago. Begin it again.")
        return await render_login(request, Refusal(errors.GENERAL_ERROR, message=message))
    async with request.reading() as ctx:
        row, provider = await select_user(ctx.tx, pending.user_id), await select_provider(ctx.tx, pending.provider_id)
    if row is None or row.deleted or provider is None or not provider.enabled:
        return redirect("/login")
    try:
        await _check_password(request, row, form.text("password"))
        await _link_with_code(request, row, pending, form.text("code"))
    except Refusal as refusal:
        if refusal.status not in SHOWN_AGAIN:
            raise
        return await _render_link(
            request, pending, row.username, mfa=row.mfa_enabled, provider=provider, refusal=refusal
        )
    return await _start(
        request, provider, pending.identity, row.id, pending.next, undelete=pending.undelete, proved=row.mfa_enabled
    )


async def show_links(request: PageRequest) -> Response:
    """The providers that the user logs in with, and those that can be linked."""
    request.require_login()
    return await _render_links(request)


async def change_links(request: PageRequest) -> Response:
    """Link or unlink a provider, after the user has proved that the account is theirs."""
    request.require_login()
    form = await request.read_form()
    try:
        await _prove(request, form.text("password"), form.text("code"))
        if form.text("unlink"):
            await _unlink(request, form.text("unlink"))
            return redirect(_LINKS)
        async with request.reading() as ctx:
            provider = await find_enabled(ctx, form.text("link"))
        state = SignOnState.new(
            provider.id, Timestamp.now(), next_path=_LINKS, undelete=False, link_to=request.actor.user_id
        )
        return await _send_to(request, provider, state)
    except Refusal as refusal:
        return await _render_links(request, refusal)


async def _send_to(request: PageRequest, provider: ProviderRow, state: SignOnState) -> Response:
    """Redirect to a provider. Raises Refusal 503 if it does not answer."""
    client = request.services.resources[ProviderClient]
    try:
        url = await client.authorization_url(
            provider,
            redirect_uri=_redirect_uri(request, provider),
            state=state.state,
            nonce=state.nonce,
            challenge=state.challenge,
        )
    except ProviderFailed as problem:
        raise _failed(request, provider, problem) from None
    request.set_sign_on(state.seal(request.services.box), STATE_SECONDS)
    return redirect(url)


async def _identity(request: PageRequest, provider: ProviderRow, state: SignOnState) -> Identity:
    """Who a provider says that the person is. Raises Refusal: 403 if it refuses, 503 if what it says is not good."""
    code, issuer = request.query.get("code"), request.query.get("iss")
    if not code:
        log.info("%s has refused a login: %r", provider.name, request.query.get("error", "")[:100])
        message = request.gettext("{label} has not let you log in.").format(label=provider.label)
        raise Refusal(errors.FEATURE_DISABLED, message=message)
    client = request.services.resources[ProviderClient]
    try:
        metadata = await client.metadata(provider)
        if issuer != provider.issuer and (
            issuer is not None or metadata.authorization_response_iss_parameter_supported
        ):
            raise ProviderFailed("its answer is of another issuer")
        claims = await client.redeem(
            provider,
            code,
            redirect_uri=_redirect_uri(request, provider),
            verifier=state.verifier,
            nonce=state.nonce,
        )
    except ProviderFailed as problem:
        raise _failed(request, provider, problem) from None
    return identity_of(provider, claims)


async def _link(request: PageRequest, identity: Identity, user_id: UserId) -> Response:
    """Link an identity to the account for which the request was made, if that is still logged in."""
    request.require_login()
    if request.actor.user_id != user_id:
        message = request.gettext("This login was begun in another browser, or too long ago. Begin it again.")
        raise Refusal(errors.GENERAL_ERROR, message=message)

    async def work(ctx: Context) -> None:
        await link_identity(ctx, identity, user_id, last_login_at=None)

    await request.run(work)
    return redirect(_LINKS)


async def _log_in(request: PageRequest, provider: ProviderRow, identity: Identity, state: SignOnState) -> Response:
    resolve = partial(
        operations.resolve_account,
        provider=provider,
        identity=identity,
        undelete=state.undelete,
        network=request.http.network,
    )
    account = await request.run(resolve)
    if isinstance(account, MustLink):
        identity = structs.replace(identity, groups=await _mapped_groups(request, provider, identity))
        pending = PendingLink.new(
            account.user_id, identity, Timestamp.now(), next_path=state.next, undelete=state.undelete
        )
        return await _render_link(request, pending, account.username, mfa=account.mfa, provider=provider)
    return await _start(request, provider, identity, account, state.next, undelete=state.undelete)


async def _start(
    request: PageRequest,
    provider: ProviderRow,
    identity: Identity,
    user_id: UserId,
    next_path: str,
    *,
    undelete: bool,
    proved: bool = False,
) -> Response:
    """Log a person in and apply their groups, or ask for the second factor, after which they are applied."""
    groups = await _mapped_groups(request, provider, identity)
    client = structs.replace(
        client_of(request.per_query_context()),
        provider_id=provider.id,
        provider_session=identity.session,
        provider_groups=groups,
    )
    device = request.device

    async def work(ctx: Context) -> Login | FactorRequired:
        return await log_in_or_restore(
            ctx,
            user_id,
            undelete=undelete,
            seconds=SESSION_SECONDS,
            client=client,
            known_device=device is not None and device.user_id == user_id,
            proved=proved,
        )

    login = await request.run(work)
    if isinstance(login, FactorRequired):
        return await render_code(request, login.ticket, next_path=next_path)
    await apply_groups(request.services, provider, user_id, groups)
    return await start_session(request, login, next_path)


async def _mapped_groups(request: PageRequest, provider: ProviderRow, identity: Identity) -> tuple[str, ...]:
    """The groups of a person that give something."""
    async with request.reading() as ctx:
        names = {row.name for row in await select_groups(ctx.tx, provider.id)}
    return tuple(name for name in identity.groups if name in names)


async def _check_password(request: PageRequest, row: UserRow, password: str) -> None:
    """Raise Refusal 50035 at `password` unless it is that of the account; an account without one needs a factor."""
    if row.password_hash is None:
        if not row.mfa_enabled:
            message = request.gettext("This account has no password. Ask the operator of this server.")
            refuse_field("password", "PASSWORD_DOES_NOT_MATCH", message)
        return
    ctx = request.per_query_context()
    if not await check_login(ctx, search_key(row.username), row, password, device=request.device):
        refuse_field("password", "PASSWORD_DOES_NOT_MATCH", request.gettext("This is not its password."))


async def _link_with_code(request: PageRequest, row: UserRow, pending: PendingLink, code: str) -> None:
    """Link an identity to an account that may log in: with a second factor by a code of it, which is then used."""

    async def work(ctx: Context) -> bool | None:
        await operations.check_can_link(ctx, row.id, undelete=pending.undelete)
        if row.mfa_enabled and not await check_code(ctx, row.id, Method.TOTP, code[:_CODE_MAX]):
            return None
        await link_identity(ctx, pending.identity, row.id, last_login_at=ctx.now)
        return True

    await attempt(request.per_query_context(), work, fires=())


async def _prove(request: PageRequest, password: str, code: str) -> None:
    """Check the code of a user with a second factor, the password of others. Raises Refusal."""
    ctx, account = request.per_query_context(), request.account
    if account is None or not account.mfa_enabled:
        await require_password(ctx, password or UNSET)
        return

    async def work(inner: Context) -> bool | None:
        return True if await check_code(inner, account.id, Method.TOTP, code[:_CODE_MAX]) else None

    await attempt(ctx, work, fires=())


async def _unlink(request: PageRequest, text: str) -> None:
    provider_id = parse_integer(text)

    async def work(ctx: Context) -> None:
        row = await select_user(ctx.tx, ctx.actor.user_id)
        if row is None or provider_id is None:
            raise Refusal(errors.UNKNOWN_PROVIDER)
        await operations.unlink_provider(ctx, row, Snowflake(provider_id))

    await request.run(work, fires=(SessionsClose,))


async def _render_link(
    request: PageRequest,
    pending: PendingLink,
    username: str,
    *,
    mfa: bool,
    provider: ProviderRow,
    refusal: Refusal | None = None,
) -> Response:
    return await render_page(
        request,
        "link_login.html",
        refusal=refusal,
        redirects_away=True,
        pending=pending.seal(request.services.box),
        username=username,
        mfa=mfa,
        label=provider.label,
    )


async def _render_links(request: PageRequest, refusal: Refusal | None = None) -> Response:
    if refusal is not None and refusal.status not in SHOWN_AGAIN:
        raise refusal
    async with request.reading() as ctx:
        identities, methods = await list_linked_identities(ctx), await get_login_methods(ctx)
    linked = {identity.provider for identity in identities}
    account = request.account
    return await render_page(
        request,
        "login_providers.html",
        refusal=refusal,
        redirects_away=True,
        identities=identities,
        providers=[provider for provider in methods.providers if provider.name not in linked],
        mfa=account is not None and account.mfa_enabled,
        has_password=account is not None and account.password_hash is not None,
    )


def _redirect_uri(request: PageRequest, provider: ProviderRow) -> str:
    return f"{request.services.limits.public_url}/login/callback/{quote(provider.name)}"


def _failed(request: PageRequest, provider: ProviderRow, problem: ProviderFailed) -> Refusal:
    """The refusal of a login that a provider does not make possible; why is for the operator alone."""
    log.warning("no one can log in with %s: %s", provider.name, problem)
    message = request.gettext("It is not possible to log in with {label} now. Try again later, or in another way.")
    return Refusal(errors.UNAVAILABLE, message=message.format(label=provider.label))
