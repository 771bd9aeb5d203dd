"""The pages that depend on who is logged in: login, consent, invites, templates, settings and developer pages."""

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import quote

from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from moothall.api.context import Services
from moothall.api.pipeline import refusal_of
from moothall.api.ratelimit import Rate
from moothall.api.request.http_request import ClientDisconnected, RequestTooLarge, client_address
from moothall.logs import current_request
from moothall.oauth2.device_flow import DEVICE_PATH
from moothall.objects.errors import Refusal
from moothall.pages import (
    activation,
    consent,
    developers,
    guild_templates,
    invites,
    linked_roles,
    login,
    recovery,
    settings,
    single_sign_on,
    teams,
)
from moothall.pages.page_request import ForgedForm, LoginRequired, PageRequest
from moothall.pages.rendering import POLICY, redirect, render_error
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.budgets import WorkRefused
from moothall.storage.database import StorageError, StorageFull

Handler = Callable[[PageRequest], Awaitable[Response]]

log = logging.getLogger("moothall.pages")


class IdConvertor(Convertor[str]):
    """A path parameter of up to 19 digits, as text: `parse_id` refuses what no id can be."""

    regex = "[0-9]{1,19}"

    def convert(self, value: str) -> str:
        """The text itself."""
        return value

    def to_string(self, value: str) -> str:
        """The text itself."""
        return value


class CodeConvertor(IdConvertor):
    """A path parameter of the characters that the codes of invites and templates have."""

    regex = "[A-Za-z0-9_-]{1,64}"


class NameConvertor(IdConvertor):
    """A path parameter of the characters that names of identity providers have."""

    regex = "[a-z0-9-]{1,32}"


register_url_convertor("id", IdConvertor())
register_url_convertor("name", NameConvertor())
register_url_convertor("code", CodeConvertor())

_PAGES: Final = Rate(60, 10.0)
_LOGINS: Final = Rate(10, 10.0)
_CONSENTS: Final = Rate(10, 10.0)
_CODES: Final = Rate(20, 60.0)
_HEADERS: Final = {
    "cache-control": "no-store",
    "vary": "accept-language",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Other sites learn no address. With "no-referrer", browsers would send forms with the origin "null".
    "referrer-policy": "same-origin",
    "content-security-policy": f"{POLICY}; form-action 'self'",
}

_POST_ONLY: Final = re.compile(r"/(?:secret|token|skus|teams|[0-9]+/revoke)\Z")
_APPLICATION: Final = "/developers/applications/{application_id:id}"
_TEAM: Final = "/developers/teams/{team_id:id}"
_ROUTES: Final[list[tuple[str, dict[str, Handler], Rate]]] = [
    ("/login", {"GET": login.show_login, "POST": login.log_in}, _LOGINS),
    ("/login/code", {"GET": login.show_code, "POST": login.log_in_with_second_factor}, _LOGINS),
    ("/login/session", {"POST": login.share_session}, _LOGINS),
    ("/login/with/{provider:name}", {"GET": single_sign_on.begin_login}, _LOGINS),
    ("/login/callback/{provider:name}", {"GET": single_sign_on.finish}, _LOGINS),
    ("/login/link", {"GET": login.show_code, "POST": single_sign_on.link_and_log_in}, _LOGINS),
    ("/register", {"GET": login.show_registration, "POST": login.register}, _LOGINS),
    ("/forgot", {"GET": recovery.show_forgot, "POST": recovery.ask_for_link}, _LOGINS),
    ("/reset", {"GET": recovery.show_reset, "POST": recovery.reset_password}, _LOGINS),
    ("/verify", {"GET": recovery.show_verification, "POST": recovery.verify_address}, _LOGINS),
    ("/login/recovery", {"POST": recovery.ask_for_recovery}, _LOGINS),
    ("/recovery", {"GET": recovery.show_recovery, "POST": recovery.keep_factors}, _LOGINS),
    ("/logout", {"POST": login.log_out}, _PAGES),
    ("/oauth2/authorize", {"GET": consent.show_request, "POST": consent.answer_request}, _CONSENTS),
    (DEVICE_PATH, {"GET": activation.show_device, "POST": activation.answer_request}, _CODES),
    ("/oauth2/authorized", {"GET": consent.show_installed}, _PAGES),
    ("/invite/{code:code}", {"GET": invites.show_invite, "POST": invites.accept_invite}, _PAGES),
    (
        "/template/{code:code}",
        {"GET": guild_templates.show_template, "POST": guild_templates.create_guild},
        _PAGES,
    ),
    (
        "/linked-roles/{guild_id:id}",
        {"GET": linked_roles.show_linked_roles, "POST": linked_roles.change_linked_role},
        _PAGES,
    ),
    ("/settings/authorized-apps", {"GET": settings.show_authorized_apps}, _PAGES),
    ("/settings/authorized-apps/{authorization_id:id}/revoke", {"POST": settings.revoke_authorization}, _PAGES),
    ("/settings/sessions", {"GET": settings.show_sessions, "POST": settings.log_out_sessions}, _PAGES),
    ("/settings/login-providers", {"GET": single_sign_on.show_links, "POST": single_sign_on.change_links}, _PAGES),
    ("/developers", {"GET": developers.show_applications, "POST": developers.create_application}, _PAGES),
    (_APPLICATION, {"GET": developers.show_application, "POST": developers.modify_application}, _PAGES),
    (f"{_APPLICATION}/activity", {"POST": developers.modify_activity}, _PAGES),
    (f"{_APPLICATION}/secret", {"POST": developers.reset_client_secret}, _PAGES),
    (f"{_APPLICATION}/skus", {"POST": developers.create_sku}, _PAGES),
    (f"{_APPLICATION}/token", {"POST": developers.reset_token}, _PAGES),
    ("/developers/teams", {"POST": teams.create_team}, _PAGES),
    (_TEAM, {"GET": teams.show_team, "POST": teams.change_team}, _PAGES),
    ("/{prefix:path}/oauth2/authorize", {"GET": consent.redirect_from_api}, _PAGES),
]


class Site:
    """An ASGI application of the pages in `_ROUTES`."""

    def __init__(self, services: Services, *, trusted_proxies: Callable[[str], bool] = lambda _address: False) -> None:
        self.services = services
        self.trusted_proxies = trusted_proxies
        self._router = Router(
            [Route(path, PageEndpoint(self, path, handlers, rate)) for path, handlers, rate in _ROUTES],
            redirect_slashes=False,
            default=PageEndpoint(self, "", {}, _PAGES),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request of a browser."""
        await self._router(scope, receive, send)


class PageEndpoint:
    """The page at one path: an ASGI application that runs the handler of the method, within the rate limit.

    Without handlers it serves 404. Starlette would refuse other methods itself, but with the Allow of one method.
    """

    def __init__(self, site: Site, path: str, handlers: dict[str, Handler], rate: Rate) -> None:
        self._site = site
        self._path = path
        self._handlers = handlers
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        address = client_address(scope, self._site.trusted_proxies)
        request = PageRequest(self._site.services, scope, receive, address=address)
        current_request.set(request.http.id)
        try:
            response = await self._respond(request)
        except ClientDisconnected:
            return
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        request.add_cookies(response)
        if request.method == "HEAD":
            response.body = b""
        await response(scope, receive, send)

    async def _respond(self, request: PageRequest) -> Response:
        try:
            await request.load_session()
            return await self._handle(request)
        except LoginRequired:
            # A path that takes only POST cannot be returned to: the page with its form can.
            back = _POST_ONLY.sub("", request.own_url)
            return redirect(f"/login?next={quote(back, safe='/')}")
        except ForgedForm:
            return await render_error(
                request,
                403,
                request.gettext("This form is not valid any more"),
                request.gettext("Go back, load the page again, and send it once more."),
            )
        except RequestTooLarge:
            return await render_error(
                request,
                413,
                request.gettext("This is too large"),
                request.gettext("The file or text is larger than allowed."),
            )
        except (Refusal, WorkRefused) as problem:
            return await self._refused(request, refusal_of(problem))
        except StorageError as error:
            log.warning("%s %s: %s", request.method, request.http.redacted_path, error)
            status = 507 if isinstance(error, StorageFull) else 503
            return PlainTextResponse(request.gettext("Try again a little later."), status)
        except ClientDisconnected:
            raise
        except Exception:
            log.exception("%s %s failed", request.method, request.http.redacted_path)
            return PlainTextResponse(request.gettext("Something went wrong. It has been logged."), 500)

    async def _handle(self, request: PageRequest) -> Response:
        if not self._handlers:
            return await render_error(
                request,
                404,
                request.gettext("There is no such page"),
                request.gettext("The link may be old or mistyped."),
            )
        handler = self._handlers.get("GET" if request.method == "HEAD" else request.method)
        if handler is None:
            response = await render_error(
                request, 405, request.gettext("This cannot be done here"), request.gettext("Go back and try again.")
            )
            response.headers["allow"] = ", ".join(self._handlers)
            return response
        if (seconds := self._seconds_to_wait(request)) > 0:
            wait = str(int(seconds) + 1)
            message = request.gettext("Try again in {seconds} seconds.").format(seconds=wait)
            response = await render_error(request, 429, request.gettext("Too many requests"), message)
            response.headers["retry-after"] = wait
            return response
        return await handler(request)

    def _seconds_to_wait(self, request: PageRequest) -> float:
        limiter, http = self._site.services.limiter, request.http
        if limiter is None:
            return 0.0
        if seconds := limiter.banned_for(http.network, loopback=http.loopback):
            return seconds
        caller = request.actor.user_id or http.network
        bucket = f"page {request.method} {self._path}".encode()
        verdict = limiter.take(bucket, self._rate, caller, None, loopback=http.loopback)
        return 0.0 if verdict.allowed else verdict.retry_after

    async def _refused(self, request: PageRequest, refusal: Refusal) -> Response:
        limiter, http = self._site.services.limiter, request.http
        if limiter is not None and refusal.status in {401, 403, 429}:
            limiter.note_refusal(http.network, loopback=http.loopback)
        response = await render_error(request, refusal.status, request.gettext("This is not possible"), refusal.message)
        if "retry-after" in refusal.headers:
            response.headers["retry-after"] = refusal.headers["retry-after"]
        return response
