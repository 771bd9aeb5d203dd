"""Logging in and out with a browser, and making an account."""

from typing import Any, Final

from moothall.kernel.body import body_reader
from moothall.objects.errors import Refusal
from moothall.resources.user.account.endpoints import LogIn, Register, enroll, identify
from moothall.resources.user.account.operations import Login
from moothall.resources.user.account.operations import log_out as end_session
from moothall.resources.user.events import SessionsClose
from moothall.web.browsing import SESSION_SECONDS, Browser, Form, Page, local_path, redirect
from moothall.web.rendering import errors_of, show

_LOGIN: Final = body_reader(LogIn, optional=False)
_REGISTER: Final = body_reader(Register, optional=False)
_HOME: Final = "/developers"


async def show_login(browser: Browser) -> Page:
    """The form of logging in; `next` is where it leads."""
    return await _show(browser, "login.html")


async def log_in(browser: Browser) -> Page:
    """Log in and go on."""
    form = await browser.form()
    given = {"login": form.text("login").strip(), "password": form.text("password")}
    try:
        body = _LOGIN.from_plain(given)
        login = await identify(browser.brief_context(), body, seconds=SESSION_SECONDS, device=browser.device)
    except Refusal as refusal:
        return await _show(browser, "login.html", refusal, form)
    return await _come_in(browser, login)


async def show_registration(browser: Browser) -> Page:
    """The form of a new account."""
    return await _show(browser, "register.html")


async def register(browser: Browser) -> Page:
    """Make an account, log in to it and go on."""
    form = await browser.form()
    given: dict[str, Any] = {"username": form.text("username").strip(), "password": form.text("password")}
    if form.text("email").strip():
        given["email"] = form.text("email").strip()
    try:
        login = await enroll(browser.brief_context(), _REGISTER.from_plain(given), seconds=SESSION_SECONDS)
    except Refusal as refusal:
        return await _show(browser, "register.html", refusal, form)
    return await _come_in(browser, login)


async def log_out(browser: Browser) -> Page:
    """End the session, in the browser and here."""
    form = await browser.form()
    if browser.actor.signed_in:
        await browser.run(end_session, fires=(SessionsClose,))
    browser.leave()
    return redirect(local_path(form.text("next"), "/login"))


async def _come_in(browser: Browser, login: Login) -> Page:
    if browser.actor.signed_in:
        await browser.run(end_session, fires=(SessionsClose,))
    browser.enter(login.token, login.user_id)
    return redirect(_next(browser))


def _next(browser: Browser) -> str:
    return local_path(browser.query.get("next"), _HOME)


async def _show(browser: Browser, template: str, refusal: Refusal | None = None, form: Form | None = None) -> Page:
    """The form again, with what was wrong; a password is never shown."""
    if refusal is not None and refusal.status not in {400, 403, 429, 503}:
        raise refusal
    wrong = {} if refusal is None else errors_of(refusal)
    given = {name: "" if form is None else form.text(name) for name in ("login", "username", "email")}
    page = await show(
        browser,
        template,
        # Where it leads may lead on to an application.
        elsewhere=True,
        status=200 if refusal is None else refusal.status,
        next=_next(browser),
        given=given,
        errors=wrong,
        problem=None if refusal is None or wrong else refusal.message,
    )
    if refusal is not None and "retry-after" in refusal.headers:
        page.headers.append((b"retry-after", refusal.headers["retry-after"].encode()))
    return page
