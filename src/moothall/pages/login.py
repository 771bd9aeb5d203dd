"""Pages to log in, to log out and to register."""

from typing import Final
from urllib.parse import quote

from msgspec import UNSET
from starlette.responses import JSONResponse, Response

from moothall.api.request.body import body_reader
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.pages.forms import Form, local_path
from moothall.pages.page_request import SESSION_SECONDS, PageRequest
from moothall.pages.rendering import redirect, render_page
from moothall.resources.single_sign_on.endpoints import LoginProvider, get_login_methods
from moothall.resources.user.account.endpoints import (
    LogIn,
    Register,
    log_in_with_code,
    log_in_with_password,
    register_account,
)
from moothall.resources.user.account.operations import Login
from moothall.resources.user.account.operations import log_out as end_session
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.factor.operations import FactorRequired, Method

_LOGIN: Final = body_reader(LogIn, optional=False)
_REGISTER: Final = body_reader(Register, optional=False)
_DEFAULT_NEXT: Final = "/app/"
_TICKET_MAX: Final = 128
_CODE_MAX: Final = 64
SHOWN_AGAIN: Final = frozenset({400, 403, 429, 503})
"""Statuses of refusals that the form shows."""
CLOSED: Final = (errors.ACCOUNT_DISABLED, errors.ACCOUNT_DELETION_SCHEDULED)
"""Refusals after which the form offers to restore the account."""


async def show_login(request: PageRequest) -> Response:
    """The login form; `next` in the query is the path to go on to."""
    return await _render_form(request, "login.html")


async def log_in(request: PageRequest) -> Response:
    """Log in, and redirect to `next`."""
    form = await request.read_form()
    values = {
        "login": form.text("login").strip(),
        "password": form.text("password"),
        "undelete": form.text("undelete") == "on",
    }
    try:
        body = _LOGIN.from_plain(values)
        login = await log_in_with_password(
            request.per_query_context(), body, seconds=SESSION_SECONDS, device=request.device
        )
    except Refusal as refusal:
        return await _render_form(request, "login.html", refusal, form)
    if isinstance(login, FactorRequired):
        return await render_code(request, login.ticket)
    return await start_session(request, login)


async def show_code(request: PageRequest) -> Response:
    """Redirect to the login form: the form of a code belongs to the ticket of a login."""
    return redirect(f"/login?next={quote(_next_path(request), safe='')}")


async def log_in_with_second_factor(request: PageRequest) -> Response:
    """Log in by the ticket of a login and a code of a second factor, and redirect to `next`."""
    form = await request.read_form()
    ticket = form.text("ticket")[:_TICKET_MAX]
    try:
        login = await log_in_with_code(
            request.per_query_context(),
            ticket,
            Method.TOTP,
            form.text("code")[:_CODE_MAX],
            seconds=SESSION_SECONDS,
            device=request.device,
        )
    except Refusal as refusal:
        if refusal.status not in SHOWN_AGAIN:
            raise
        if refusal.kind is errors.INVALID_MFA_TICKET:
            return await render_login(request, refusal)
        return await render_code(request, ticket, refusal)
    return await start_session(request, login)


async def show_registration(request: PageRequest) -> Response:
    """The form of a new account."""
    return await _render_form(request, "register.html")


async def register(request: PageRequest) -> Response:
    """Create an account, log in to it, and redirect to `next`."""
    form = await request.read_form()
    values: dict[str, object] = {"username": form.text("username").strip(), "password": form.text("password")}
    if form.text("email").strip():
        values["email"] = form.text("email").strip()
    if form.text("date_of_birth"):
        values["date_of_birth"] = form.text("date_of_birth")
    values["consent"] = form.text("consent") == "on"
    if form.text("token"):
        values["registration_token"] = form.text("token")
    try:
        body = _REGISTER.from_plain(values)
        made = await register_account(request.per_query_context(), body, seconds=SESSION_SECONDS)
    except Refusal as refusal:
        return await _render_form(request, "register.html", refusal, form)
    if made.token is UNSET:
        return await render_page(request, "registered.html", required=made.required_actions)
    return await start_session(request, Login(made.token, made.user_id))


async def share_session(request: PageRequest) -> Response:
    """Make the pages and the client one login, at the request of the client's script.

    With a session token in `Authorization` the pages go on with that session: 204, or 401 for another token. Without
    one, the answer is the pages' session for the client to go on with: 204 if there is none.
    """
    request.require_own_script()
    token = request.http.header("authorization")
    if token is not None:
        return Response(status_code=204 if await request.begin_session(token) else 401)
    if not request.actor.signed_in:
        return Response(status_code=204)
    return JSONResponse({"user_id": str(int(request.actor.user_id)), "token": request.session_token})


async def log_out(request: PageRequest) -> Response:
    """End the session, and delete its cookie."""
    form = await request.read_form()
    if request.actor.signed_in:
        await request.run(end_session, fires=(SessionsClose,))
    request.clear_session()
    return redirect(local_path(form.text("next"), "/login"))


async def start_session(request: PageRequest, login: Login, next_path: str | None = None) -> Response:
    """Replace the browser's session by a new one, and go on to a path: else to that of the query."""
    if request.actor.signed_in:
        await request.run(end_session, fires=(SessionsClose,))
    request.set_session(login.token, login.user_id)
    return redirect(next_path or _next_path(request))


def _next_path(request: PageRequest) -> str:
    return local_path(request.query.get("next"), _DEFAULT_NEXT)


async def render_code(
    request: PageRequest, ticket: str, refusal: Refusal | None = None, next_path: str | None = None
) -> Response:
    """The form of the second factor, for a ticket."""
    return await render_page(
        request,
        "login_code.html",
        refusal=refusal,
        redirects_away=True,
        next=next_path or _next_path(request),
        ticket=ticket,
    )


async def render_login(
    request: PageRequest, refusal: Refusal, next_path: str | None = None, *, provider: LoginProvider | None = None
) -> Response:
    """The login form, with what was wrong; `provider` is what the person has tried to log in with."""
    return await _render_form(request, "login.html", refusal, next_path=next_path, provider=provider)


async def _render_form(
    request: PageRequest,
    template: str,
    refusal: Refusal | None = None,
    form: Form | None = None,
    *,
    next_path: str | None = None,
    provider: LoginProvider | None = None,
) -> Response:
    """The form, with what was wrong and everything that was typed but the password."""
    if refusal is not None and refusal.status not in SHOWN_AGAIN:
        raise refusal
    async with request.reading() as ctx:
        methods = await get_login_methods(ctx)
    names = ("login", "username", "email", "date_of_birth", "consent")
    values = {name: "" if form is None else form.text(name) for name in names}
    return await render_page(
        request,
        template,
        refusal=refusal,
        # The consent page that is next may redirect to an application at once.
        redirects_away=True,
        restorable=refusal is not None and refusal.kind in CLOSED,
        next=next_path or _next_path(request),
        methods=methods,
        provider=provider,
        token=request.query.get("token", "") if form is None else form.text("token"),
        values=values,
    )
