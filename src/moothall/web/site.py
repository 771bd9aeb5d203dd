"""The pages that know who asks: logging in, consent, invites, settings and the developers' corner."""

import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import quote

from moothall.kernel.context import Services
from moothall.kernel.ratelimit import Rate
from moothall.kernel.request import ClientGone, Receive, RequestTooLarge, client_address
from moothall.logs import current_request
from moothall.objects.errors import Refusal
from moothall.storage.database import StorageError, StorageFull
from moothall.web import consent, developers, entrance, invites, settings, teams
from moothall.web.browsing import Browser, ForgedForm, LoginNeeded, Page, redirect
from moothall.web.rendering import show_problem

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Handler = Callable[..., Awaitable[Page]]

log = logging.getLogger("moothall.web")

_PAGES: Final = Rate(60, 10.0)
_ENTRANCE: Final = Rate(10, 10.0)
_CONSENTS: Final = Rate(10, 10.0)
_SAFETY: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # No address goes to other sites; with "no-referrer", browsers would also hide from us where a form comes from.
    (b"referrer-policy", b"same-origin"),
)
_POLICY: Final = b"default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"

_ONLY_POSTED: Final = re.compile(r"/(?:secret|token|teams|[0-9]+/revoke)\Z")
_ID: Final = r"([0-9]{1,19})"
_API_CONSENT: Final = "/oauth2/authorize"
_ROUTES: Final[list[tuple[str, dict[str, Handler], Rate]]] = [
    (r"/login", {"GET": entrance.show_login, "POST": entrance.log_in}, _ENTRANCE),
    (r"/register", {"GET": entrance.show_registration, "POST": entrance.register}, _ENTRANCE),
    (r"/logout", {"POST": entrance.log_out}, _PAGES),
    (r"/oauth2/authorize", {"GET": consent.show_request, "POST": consent.answer_request}, _CONSENTS),
    (r"/oauth2/authorized", {"GET": consent.show_installed}, _PAGES),
    (r"/invite/([A-Za-z0-9_-]{1,64})", {"GET": invites.show_invite, "POST": invites.accept}, _PAGES),
    (r"/settings/authorized-apps", {"GET": settings.show_authorized}, _PAGES),
    (rf"/settings/authorized-apps/{_ID}/revoke", {"POST": settings.revoke}, _PAGES),
    (r"/settings/sessions", {"GET": settings.show_sessions, "POST": settings.log_out_sessions}, _PAGES),
    (r"/developers", {"GET": developers.show_applications, "POST": developers.create}, _PAGES),
    (rf"/developers/applications/{_ID}", {"GET": developers.show_application, "POST": developers.modify}, _PAGES),
    (rf"/developers/applications/{_ID}/secret", {"POST": developers.reset_client_secret}, _PAGES),
    (rf"/developers/applications/{_ID}/token", {"POST": developers.reset_token}, _PAGES),
    (r"/developers/teams", {"POST": teams.create}, _PAGES),
    (rf"/developers/teams/{_ID}", {"GET": teams.show_team, "POST": teams.change}, _PAGES),
]


class Site:
    """An ASGI application over the pages of `_ROUTES`."""

    _PREFIXES: Final = ("/login", "/register", "/logout", "/oauth2/", "/invite/", "/settings/", "/developers")

    def __init__(self, services: Services, *, trusted_proxies: Callable[[str], bool] = lambda _address: False) -> None:
        self._services = services
        self._trusted = trusted_proxies
        self._routes = [(re.compile(path), methods, rate) for path, methods, rate in _ROUTES]

    @classmethod
    def serves(cls, path: str) -> bool:
        """Whether a path is one of its own, or the API's address of the consent page, for a browser."""
        return path.startswith(cls._PREFIXES) or path.endswith(_API_CONSENT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request of a browser."""
        if not scope["path"].startswith(self._PREFIXES):
            await _send_to_the_page(scope, send)
            return
        address = client_address(scope, self._trusted)
        browser = Browser.unknown(self._services, scope, receive, address=address)
        current_request.set(browser.request.id)
        try:
            page = await self._answer(browser)
        except ClientGone:
            return
        headers = [*page.headers, *browser.cookies_out, *_SAFETY]
        policy = _POLICY if page.sends_elsewhere else _POLICY + b"; form-action 'self'"
        headers.append((b"content-security-policy", policy))
        headers.append((b"content-length", b"%d" % len(page.body)))
        await send({"type": "http.response.start", "status": page.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if browser.method == "HEAD" else page.body})

    async def _answer(self, browser: Browser) -> Page:
        try:
            await browser.recognise()
            return await self._find(browser)
        except LoginNeeded:
            # What can only be posted is nowhere to come back to: the page with its form is.
            back = _ONLY_POSTED.sub("", browser.here)
            return redirect(f"/login?next={quote(back, safe='/')}")
        except ForgedForm:
            return await show_problem(
                browser, 403, "This form is not valid any more", "Go back, load the page again, and send it once more."
            )
        except RequestTooLarge:
            return await show_problem(browser, 413, "This is too large", "The file or text is larger than allowed.")
        except Refusal as refusal:
            return await self._refused(browser, refusal)
        except StorageError as problem:
            log.warning("%s %s: %s", browser.method, browser.path, problem)
            return Page(status=507 if isinstance(problem, StorageFull) else 503, body=b"Try again a little later.")
        except ClientGone:
            raise
        except Exception:
            log.exception("%s %s failed", browser.method, browser.path)
            return Page(status=500, body=b"Something went wrong. It has been logged.")

    async def _find(self, browser: Browser) -> Page:
        for pattern, methods, rate in self._routes:
            if (found := pattern.fullmatch(browser.path)) is not None:
                handler = methods.get("GET" if browser.method == "HEAD" else browser.method)
                if handler is None:
                    page = await show_problem(browser, 405, "This cannot be done here", "Go back and try again.")
                    page.headers.append((b"allow", ", ".join(methods).encode()))
                    return page
                if (wait := self._wait(browser, pattern.pattern, rate)) > 0:
                    return await self._too_many(browser, wait)
                return await handler(browser, *found.groups())
        return await show_problem(browser, 404, "There is no such page", "The link may be old or mistyped.")

    def _wait(self, browser: Browser, page: str, rate: Rate) -> float:
        limiter, request = self._services.limiter, browser.request
        if limiter is None:
            return 0.0
        if wait := limiter.banned_for(request.network):
            return wait
        caller = browser.actor.user_id or request.network
        bucket = f"page {browser.method} {page}".encode()
        verdict = limiter.take(bucket, rate, caller, None, loopback=request.loopback)
        return 0.0 if verdict.allowed else verdict.retry_after

    async def _refused(self, browser: Browser, refusal: Refusal) -> Page:
        limiter, request = self._services.limiter, browser.request
        if limiter is not None and refusal.status in {401, 403, 429}:
            limiter.note_refusal(request.network, loopback=request.loopback)
        page = await show_problem(browser, refusal.status, "This is not possible", refusal.message)
        if "retry-after" in refusal.headers:
            page.headers.append((b"retry-after", refusal.headers["retry-after"].encode()))
        return page

    async def _too_many(self, browser: Browser, wait: float) -> Page:
        page = await show_problem(browser, 429, "Too many requests", f"Try again in {int(wait) + 1} seconds.")
        page.headers.append((b"retry-after", b"%d" % (int(wait) + 1)))
        return page


def is_lost_browser(scope: Scope) -> bool:
    """Whether a browser, not a client, has come to the API's address of the consent page."""
    if scope["method"] != "GET" or not scope["path"].endswith(_API_CONSENT):
        return False
    headers = dict(scope["headers"])
    return b"authorization" not in headers and b"text/html" in headers.get(b"accept", b"")


async def _send_to_the_page(scope: Scope, send: Send) -> None:
    """Send that browser to the page, with its query."""
    query: bytes = scope["query_string"]
    location = b"/oauth2/authorize" + (b"?" + query if query else b"")
    headers = [(b"location", location), (b"content-length", b"0"), (b"vary", b"accept, authorization"), *_SAFETY]
    await send({"type": "http.response.start", "status": 302, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
