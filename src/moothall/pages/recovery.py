"""Pages to get back into an account: to ask for a link, to choose a new password, to confirm an address."""

from functools import partial
from typing import Final

from starlette.responses import Response

from moothall.api.context import Context
from moothall.api.request.body import body_reader
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.wire import Timestamp
from moothall.pages.login import CLOSED, SHOWN_AGAIN
from moothall.pages.page_request import SESSION_SECONDS, PageRequest
from moothall.pages.rendering import render_page
from moothall.resources.user.account.operations import EDIT_ACCOUNT_EVENTS
from moothall.resources.user.account_mail.operations import get_link
from moothall.resources.user.account_mail.queries import LinkPurpose
from moothall.resources.user.events import UserUpdate
from moothall.resources.user.factor.operations import FactorRequired
from moothall.resources.user.queries import select_user
from moothall.resources.user.recovery import operations
from moothall.resources.user.recovery.endpoints import ForgotPassword, ResetPassword, request_reset, reset_by_link
from moothall.storage.rows import UserRow

_FORGOT: Final = body_reader(ForgotPassword, optional=False)
_RESET: Final = body_reader(ResetPassword, optional=False)
_TOKEN_MAX: Final = 128


async def show_forgot(request: PageRequest) -> Response:
    """The form that asks for a link to choose a new password."""
    return await _render_forgot(request)


async def ask_for_link(request: PageRequest) -> Response:
    """Ask for a link. The page is the same whether there is such an account."""
    form = await request.read_form()
    try:
        body = _FORGOT.from_plain({"login": form.text("login").strip()})
        await request.run(partial(request_reset, login=body.login, network=request.http.network))
    except Refusal as refusal:
        return await _render_forgot(request, refusal, login=form.text("login"))
    return await _render_forgot(request, sent=True)


async def show_reset(request: PageRequest) -> Response:
    """The form of a new password, for a link that is good."""
    return await _render_reset(request, request.query.get("token", ""))


async def reset_password(request: PageRequest) -> Response:
    """Choose a new password by a link, and log in."""
    form = await request.read_form()
    token = form.text("token")
    values = {
        "token": token,
        "password": form.text("password"),
        "undelete": form.text("undelete") == "on",
        "code": form.text("code"),
    }
    try:
        body = _RESET.from_plain(values)
        login = await reset_by_link(request.per_query_context(), body, seconds=SESSION_SECONDS)
    except Refusal as refusal:
        return await _render_reset(request, token, refusal)
    if isinstance(login, FactorRequired):
        return await _render_reset(request, token, Refusal(errors.INVALID_MFA_CODE))
    request.set_session(login.token, login.user_id)
    return await render_page(request, "reset.html", done=True, row=None)


async def show_verification(request: PageRequest) -> Response:
    """The question whether an address belongs to an account. Programs that only open links confirm nothing."""
    token = request.query.get("token", "")
    return await render_page(
        request, "verify.html", done=False, token=token, row=await _owner(request, token, LinkPurpose.VERIFY)
    )


async def verify_address(request: PageRequest) -> Response:
    """Confirm the address of an account by a link."""
    token = (await request.read_form()).text("token")

    async def verify(ctx: Context) -> UserRow:
        return await operations.verify_by_link(ctx, token[:_TOKEN_MAX])

    try:
        row = await request.run(verify, fires=EDIT_ACCOUNT_EVENTS)
    except Refusal as refusal:
        if refusal.status not in SHOWN_AGAIN:
            raise
        return await render_page(request, "verify.html", status=400, done=False, token="", row=None)
    return await render_page(request, "verify.html", done=True, token="", row=row)


async def ask_for_recovery(request: PageRequest) -> Response:
    """Let lost second factors be removed, by the ticket of a login."""
    ticket = (await request.read_form()).text("ticket")[:_TOKEN_MAX]

    async def ask(ctx: Context) -> Timestamp:
        return await operations.request_recovery(ctx, ticket)

    due_at = await request.run(ask, fires=(UserUpdate,))
    return await render_page(request, "recovery.html", due_at=due_at, kept=None, token="", row=None)


async def show_recovery(request: PageRequest) -> Response:
    """The question whether second factors stay that are to be removed as lost ones."""
    token = request.query.get("token", "")
    row = await _owner(request, token, LinkPurpose.RECOVERY)
    return await render_page(request, "recovery.html", due_at=None, kept=None, token=token, row=row)


async def keep_factors(request: PageRequest) -> Response:
    """Let the second factors stay, by the link of the mail."""
    token = (await request.read_form()).text("token")

    async def keep(ctx: Context) -> UserRow:
        return await operations.keep_factors_by_link(ctx, token[:_TOKEN_MAX])

    try:
        row = await request.run(keep, fires=(UserUpdate,))
    except Refusal as refusal:
        if refusal.status not in SHOWN_AGAIN:
            raise
        return await render_page(request, "recovery.html", status=400, due_at=None, kept=None, token="", row=None)
    return await render_page(request, "recovery.html", due_at=None, kept=row.username, token="", row=None)


async def _owner(request: PageRequest, token: str, purpose: LinkPurpose) -> UserRow | None:
    """The account of a link that is good; None for any other link."""
    async with request.reading() as ctx:
        try:
            link = await get_link(ctx, token[:_TOKEN_MAX], purpose)
        except Refusal:
            return None
        row = await select_user(ctx.tx, link.user_id)
    good = row is not None and not row.deleted and link.address in {None, row.email}
    return row if good else None


async def _render_forgot(
    request: PageRequest, refusal: Refusal | None = None, *, sent: bool = False, login: str = ""
) -> Response:
    if refusal is not None and refusal.status not in SHOWN_AGAIN:
        raise refusal
    return await render_page(request, "forgot.html", refusal=refusal, sent=sent, login=login)


async def _render_reset(request: PageRequest, token: str, refusal: Refusal | None = None) -> Response:
    if refusal is not None and refusal.status not in SHOWN_AGAIN:
        raise refusal
    row = await _owner(request, token, LinkPurpose.RESET)
    return await render_page(
        request,
        "reset.html",
        refusal=refusal,
        done=False,
        row=row,
        token=token,
        restorable=refusal is not None and refusal.kind in CLOSED,
    )
