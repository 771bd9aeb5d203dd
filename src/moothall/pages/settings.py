"""Pages of a user's authorized applications and logins."""

from typing import Final

from msgspec import UNSET
from starlette.responses import Response

from moothall.api.context import Context
from moothall.objects.errors import Refusal
from moothall.objects.ids import AuthorizationId
from moothall.pages.forms import parse_id
from moothall.pages.labels import scope_label
from moothall.pages.page_request import PageRequest
from moothall.pages.rendering import redirect, render_page
from moothall.resources.application.authorization import endpoints as authorizations
from moothall.resources.user.auth_session.endpoints import read_sessions
from moothall.resources.user.auth_session.operations import end_other_sessions, end_sessions
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.factor.proof import require_password

_SESSIONS: Final = "/settings/sessions"


async def show_authorized_apps(request: PageRequest) -> Response:
    """The applications that the user has authorized."""
    request.require_login()
    async with request.reading() as ctx:
        rows = await authorizations.list_authorizations(ctx)
    labels = {scope: scope_label(scope, request.gettext) for row in rows for scope in row.scopes}
    return await render_page(request, "authorized_apps.html", authorizations=rows, labels=labels)


async def revoke_authorization(request: PageRequest) -> Response:
    """Revoke an authorization. Raises Refusal 404/50061 for one that does not exist any more."""
    request.require_login()
    await request.read_form()

    async def work(ctx: Context) -> None:
        authorization_id = AuthorizationId(parse_id(request.path_params["authorization_id"]))
        await authorizations.revoke_authorization(ctx, authorization_id)

    await request.run(work)
    return redirect("/settings/authorized-apps")


async def show_sessions(request: PageRequest) -> Response:
    """The user's logins."""
    request.require_login()
    return await _render_sessions(request)


async def log_out_sessions(request: PageRequest) -> Response:
    """End the logins that were ticked, or all but the current one, after checking the password."""
    request.require_login()
    form = await request.read_form()
    id_hashes, others = set(form.texts("session")), form.text("which") == "others"
    try:
        await require_password(request.per_query_context(), form.text("password") or UNSET)
    except Refusal as refusal:
        if refusal.status not in {400, 429, 503}:
            raise
        return await _render_sessions(request, refusal, id_hashes)

    async def work(ctx: Context) -> None:
        await (end_other_sessions(ctx) if others else end_sessions(ctx, id_hashes))

    await request.run(work, fires=(SessionsClose,))
    return redirect(_SESSIONS)


async def _render_sessions(
    request: PageRequest, refusal: Refusal | None = None, ticked: set[str] | None = None
) -> Response:
    async with request.reading() as ctx:
        sessions = await read_sessions(ctx)
    return await render_page(
        request,
        "sessions.html",
        refusal=refusal,
        sessions=[session for session in sessions if not session.is_current],
        current=next((session for session in sessions if session.is_current), None),
        ticked=ticked or set(),
    )
