"""The public documents: the start page, what developers and crawlers read, the style sheets and the icons."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, MutableMapping
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import resources
from typing import Any, Final

from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from moothall import __version__
from moothall.api.context import Limits
from moothall.api.endpoint import Endpoint
from moothall.api.openapi import openapi_document
from moothall.oauth2.provider_metadata import DISCOVERY_PATH, provider_metadata
from moothall.objects.clock import CLOCK
from moothall.objects.wire import encode
from moothall.pages.paths import THEME
from moothall.pages.public_guilds import CATEGORY_LABELS, PublicGuilds, Search, find_public_guilds
from moothall.pages.reference import reference_page
from moothall.pages.rendering import environment
from moothall.pages.translations import LANGUAGES, catalogue, language_of
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.lifecycle import Lazy
from moothall.runtime.single_flight import SingleFlight

_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; frame-ancestors 'none'",
    ),
)
_ANY_ORIGIN: Final = {"access-control-allow-origin": "*"}
_ICONS: Final = {
    "icon.svg": "image/svg+xml",
    "icon-192.png": "image/png",
    "icon-512.png": "image/png",
    "icon-maskable-512.png": "image/png",
    "apple-touch-icon.png": "image/png",
}
"""The files of `icons/`, which `tools/draw_icons.py` draws, and their types."""
_ROBOTS: Final = b"User-agent: *\nAllow: /$\nDisallow: /\n"
"""Crawlers are welcome at the start page; all else belongs to members."""
_GUIDE: Final = """\
# Moothall

> A community platform with an HTTP API and a gateway that are wire-compatible with Discord's public v10 API. Code for
> that API runs here once its library is told the addresses below.

- API: %(url)s/api/v10, gateway: %(gateway)s (JSON or ETF, zlib-stream or zstd-stream)
- Tokens: `Authorization: Bot TOKEN`; applications and their tokens are made at %(url)s/developers
- discord.py: `discord.http.Route.BASE = "%(url)s/api/v10"`; discord.js: `new Client({ rest: { api: "%(url)s/api" } })`;
  hikari: `hikari.GatewayBot(token, rest_url="%(url)s/api/v10")`
- Tests of bots need no server that runs: the pytest plugin `moothall-testing` and the npm package `@moothall/testing`
  start one for each test process, with people who say, click and choose, time that passes at once, and faults.

## Reference

- [OpenAPI 3.1](%(url)s/api/v10/openapi.json): every endpoint, body and answer; [as a page](%(url)s/reference)
- [Documentation](%(url)s/docs/), where this server has it: gateway events, errors, settings, testing bots
"""
_PICTURE: Final = "/icon-512.png"
"""Where the start page has the operator's picture from."""
_HOMES_MAX: Final = 32
_SECURITY_CONTACT_DAYS: Final = 180
_CACHED_ICON: Final = {"cache-control": "public, max-age=300"}
"""Not for long, as operators change them."""
_CACHED: Final = {"cache-control": "public, max-age=86400"}


class Description(Struct, frozen=True):
    """What describes the API."""

    openapi: bytes
    """The OpenAPI document, as JSON."""
    reference: bytes
    """The same as a page."""


def describe(endpoints: Iterable[Endpoint], *, url: str, examples: Mapping[str, str] | None = None) -> Description:
    """Describe endpoints, with values of path parameters by name as `examples`. It takes half a second."""
    document = openapi_document(endpoints, version=__version__, url=url, examples=examples)
    return Description(encode(document), reference_page(document))


class Documents:
    """An ASGI application of the start page, of what developers and crawlers read, of style sheets and icons.

    `describe` describes the API, once. `theme` is the operator's style sheet, `icon` their picture and its type,
    `search` finds discoverable guilds.
    Everything else is refused in the API's format: 404, or 405 for a method other than GET and HEAD.
    """

    def __init__(
        self,
        describe: Callable[[], Coroutine[object, None, Description]],
        *,
        public_url: str,
        gateway_url: str,
        theme: bytes = b"",
        icon: tuple[bytes, str] | None = None,
        limits: Callable[[], Limits],
        search: Search,
    ) -> None:
        self._describe = describe
        self._description: Description | None = None
        self._describing: SingleFlight[None, Description] = SingleFlight()
        self._url = public_url
        self._gateway = gateway_url
        self._theme = theme
        self._icon = icon
        self._limits = limits
        self._search = search
        self._homes: dict[tuple[object, ...], Lazy[bytes]] = {}
        self._starlette = Starlette(
            routes=[
                Route("/", self._show_home),
                Route("/for-developers", self._developers()),
                Route("/robots.txt", _endpoint(lambda: _ROBOTS, "text/plain", _CACHED)),
                Route("/llms.txt", _endpoint(self._build_guide, "text/markdown", _CACHED)),
                Route(DISCOVERY_PATH, self._show_openid_configuration),
                Route("/.well-known/security.txt", self._show_security_contact),
                Route("/favicon.ico", self._icon_endpoint("icon-192.png", 256)),
                Route("/reference", self._show_reference),
                Route("/reference/", self._show_reference),
                # StaticFiles takes 0.6 ms for it, of CPU time.
                Route("/style.css", _endpoint(self._build_style, "text/css")),
                Route(THEME, _endpoint(lambda: theme, "text/css")),
                Route("/api{version:path}/openapi.json", self._show_openapi),
                *(Route(f"/{name}", self._icon_endpoint(name, 512 if "512" in name else 256)) for name in _ICONS),
            ],
            exception_handlers={HTTPException: _refuse},
        )
        self._starlette.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def send_safely(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            elif scope["method"] == "HEAD":
                message["body"] = b""
            await send(message)

        await self._starlette(scope, receive, send_safely)

    async def _show_reference(self, _request: Request) -> Response:
        return Response((await self._get_description()).reference, media_type="text/html")

    async def _show_openapi(self, _request: Request) -> Response:
        description = await self._get_description()
        return Response(description.openapi, headers=_ANY_ORIGIN, media_type="application/json")

    async def _get_description(self) -> Description:
        if self._description is None:
            self._description = await self._describing.get(None, self._describe)
        return self._description

    def _build_guide(self) -> bytes:
        return (_GUIDE % {"url": self._url, "gateway": self._gateway}).encode()

    def _build_style(self) -> bytes:
        """The tokens, which the client has too, the rules of the pages, and what the operator sets otherwise."""
        return _read("tokens.css") + _read("style.css") + self._theme

    async def _show_home(self, request: Request) -> Response:
        """The start page, built anew when the operator has changed what it says."""
        limits = self._limits()
        language = language_of(None, request.headers.get("accept-language"))
        public = await find_public_guilds(
            self._search, request.query_params.get("q", ""), request.query_params.get("category", "")
        )
        picture = _PICTURE if limits.instance_icon is not None or self._icon is not None else None
        key = (language, limits.instance_name, picture, limits.instance_description, limits.registration, public)
        page = self._homes.get(key)
        if page is None:
            if len(self._homes) >= _HOMES_MAX:
                self._homes.clear()
            page = self._homes[key] = Lazy(partial(_build_home, *key))
        return Response(await page.get(), headers={"vary": "accept-language"}, media_type="text/html")

    def _icon_endpoint(self, name: str, size: int) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint of an icon: the picture that operators have set, else the configuration's, else Moothall's."""
        own = _endpoint(partial(_read, f"icons/{name}"), _ICONS[name], _CACHED_ICON)

        async def show(request: Request) -> Response:
            chosen = self._limits().instance_icon
            if chosen is not None:
                return RedirectResponse(f"/instance-icons/{chosen}.png?size={size}", 302, _CACHED_ICON)
            if self._icon is not None:
                return Response(self._icon[0], headers=_CACHED_ICON, media_type=self._icon[1])
            return await own(request)

        return show

    async def _show_openid_configuration(self, _request: Request) -> Response:
        """What others need to let people log in with their accounts here (OpenID Connect Discovery 1.0)."""
        return Response(encode(provider_metadata(self._url)), headers=_ANY_ORIGIN, media_type="application/json")

    async def _show_security_contact(self, _request: Request) -> Response:
        """Where to report security problems (RFC 9116); 404 without a contact."""
        contact = self._limits().security_contact
        if contact is None:
            raise HTTPException(404)
        expires = datetime.fromtimestamp(CLOCK.now(), UTC) + timedelta(days=_SECURITY_CONTACT_DAYS)
        url = f"{self._url}/.well-known/security.txt"
        text = f"Contact: {contact}\nExpires: {expires:%Y-%m-%dT%H:%M:%SZ}\nCanonical: {url}\n"
        return Response(text, headers={"cache-control": "public, max-age=3600"}, media_type="text/plain")

    def _developers(self) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint of the page for developers, which is built once for each language."""
        headers = {"vary": "accept-language"}
        pages = {
            language: _endpoint(partial(self._build_developers, language), "text/html", headers)
            for language in LANGUAGES
        }

        async def show(request: Request) -> Response:
            return await pages[language_of(None, request.headers.get("accept-language"))](request)

        return show

    def _build_developers(self, language: str) -> bytes:
        page = environment(language).get_template("for_developers.html")
        # The page is about the program, whatever this server is called.
        return page.render(
            url=self._url, gateway=self._gateway, version=__version__, me=None, instance_name="Moothall"
        ).encode()


def _build_home(
    language: str, name: str, picture: str | None, description: str, registration: str, public: PublicGuilds
) -> bytes:
    page = environment(language).get_template("home.html")
    gettext = catalogue(language).gettext
    return page.render(
        instance_name=name,
        picture=picture,
        paragraphs=[paragraph for paragraph in description.split("\n") if paragraph.strip()],
        registration=registration,
        public=public,
        categories={number: gettext(label) for number, label in CATEGORY_LABELS.items()},
        me=None,
    ).encode()


def _read(name: str) -> bytes:
    return resources.files("moothall.pages").joinpath(name).read_bytes()


def _endpoint(
    build: Callable[[], bytes], media_type: str, headers: Mapping[str, str] | None = None
) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint of a document that is built once, on a thread: the large ones take a tenth of a second."""
    content = Lazy(build)

    async def show(_request: Request) -> Response:
        return Response(await content.get(), headers=headers, media_type=media_type)

    return show


async def _refuse(_request: Request, error: Exception) -> Response:
    """A refusal in the format of the API."""
    status, detail = (error.status_code, error.detail) if isinstance(error, HTTPException) else (500, "")
    allow = {"allow": "GET, HEAD"} if status == 405 else {}
    body = encode({"message": f"{status}: {detail}", "code": 0})
    return Response(body, status, headers=_ANY_ORIGIN | allow, media_type="application/json")
