"""What a person has let applications do, and where they are logged in; taking back the one, ending the other."""

from typing import Final

from msgspec import UNSET

from moothall.kernel.context import Context
from moothall.objects.errors import Refusal
from moothall.objects.ids import AuthorizationId
from moothall.resources.application.authorization.endpoints import list_authorizations, revoke_authorization
from moothall.resources.user.auth_session.endpoints import read_sessions, require_password
from moothall.resources.user.auth_session.operations import end_other_sessions, end_sessions
from moothall.resources.user.events import SessionsClose
from moothall.web.browsing import Browser, Page, read_id, redirect
from moothall.web.rendering import errors_of, show
from moothall.web.wording import scope_words

_SESSIONS: Final = "/settings/sessions"


async def show_authorized(browser: Browser) -> Page:
    """The list."""
    browser.require_person()
    async with browser.reading() as ctx:
        found = await list_authorizations(ctx)
    words = {scope: scope_words(scope) for authorization in found for scope in authorization.scopes}
    return await show(browser, "authorized_apps.html", authorizations=found, words=words)


async def revoke(browser: Browser, authorization_id: str) -> Page:
    """Take one back; one that is gone already is what was wanted, and still told (404/50061)."""
    browser.require_person()
    await browser.form()

    async def work(ctx: Context) -> None:
        await revoke_authorization(ctx, AuthorizationId(read_id(authorization_id)))

    await browser.run(work)
    return redirect("/settings/authorized-apps")


async def show_sessions(browser: Browser) -> Page:
    """Where the person is logged in."""
    browser.require_person()
    return await _show_sessions(browser)


async def log_out_sessions(browser: Browser) -> Page:
    """End the logins that were ticked, or all but this one; it takes the password."""
    browser.require_person()
    form = await browser.form()
    chosen, others = set(form.all("session")), form.text("which") == "others"
    try:
        await require_password(browser.brief_context(), form.text("password") or UNSET)
    except Refusal as refusal:
        if refusal.status not in {400, 429, 503}:
            raise
        return await _show_sessions(browser, refusal, chosen)

    async def work(ctx: Context) -> None:
        await (end_other_sessions(ctx) if others else end_sessions(ctx, chosen))

    await browser.run(work, fires=(SessionsClose,))
    return redirect(_SESSIONS)


async def _show_sessions(browser: Browser, refusal: Refusal | None = None, chosen: set[str] | None = None) -> Page:
    async with browser.reading() as ctx:
        sessions = await read_sessions(ctx)
    field_errors = {} if refusal is None else errors_of(refusal)
    page = await show(
        browser,
        "sessions.html",
        status=200 if refusal is None else refusal.status,
        sessions=[session for session, current in sessions if not current],
        current=next((session for session, current in sessions if current), None),
        chosen=chosen or set(),
        errors=field_errors,
        problem=None if refusal is None or field_errors else refusal.message,
    )
    if refusal is not None and "retry-after" in refusal.headers:
        page.headers.append((b"retry-after", refusal.headers["retry-after"].encode()))
    return page
