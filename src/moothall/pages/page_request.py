"""A request for a page: the session of the browser that sent it, its form, and protection from forged forms.

Browsers send cookies with requests that other sites cause. Only a form that this server rendered for the same session
changes anything: its hidden field `csrf` proves that, and `Origin` and `Sec-Fetch-Site` must not contradict it.
"""

import base64
import binascii
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

from msgspec import Struct
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.formparsers import MultiPartException
from starlette.requests import Request, cookie_parser
from starlette.responses import Response

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS, Actor, TokenKind, actor_of_token
from moothall.api.context import Context, Services
from moothall.api.events import Event
from moothall.api.hooks import AnyHook
from moothall.api.request.http_request import Request as HttpRequest
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.pages.forms import Form
from moothall.pages.translations import catalogue, language_of
from moothall.resources.user.password.verification import Device
from moothall.resources.user.queries import select_user
from moothall.runtime.asgi import Receive
from moothall.runtime.budgets import Payer
from moothall.runtime.secrets import SecretUnreadable, hash_token, new_token
from moothall.storage.per_query_reader import PerQueryReader
from moothall.storage.rows import UserRow

T = TypeVar("T")

SESSION_COOKIE: Final = "moothall_session"
FORM_COOKIE: Final = "moothall_form"
"""Identifies a browser without a session, so that its forms can be bound to it."""
DEVICE_COOKIE: Final = "moothall_device"
SIGN_ON_COOKIE: Final = "moothall_sign_on"
"""What a browser takes along to an identity provider and back."""
SESSION_SECONDS: Final = 30 * 86_400
SESSION_PATHS: Final = (
    "/activate",
    "/login",
    "/logout",
    "/oauth2",
    "/invite",
    "/template",
    "/linked-roles",
    "/settings",
    "/developers",
)
"""Paths that the session cookie is set for over plain http: not the API, which never reads it, nor files.

Over https it is set for every path: only then may its name begin with `__Host-`, with which browsers guarantee that no
other server of the same domain has set it.
"""

_DEVICE_SECONDS: Final = 365 * 86_400
_FORM_PATHS: Final = ("/login", "/register", "/forgot", "/reset", "/verify", "/recovery")
_FORM_MS: Final = 86_400_000
_MAX_FIELDS: Final = 256
_MAX_FORM: Final = 65_536
_MAX_BODY: Final = limits.IMAGE_SIZE_MAX + _MAX_FORM


class LoginRequired(Exception):
    """The page is for users who are logged in: the browser is redirected to log in, and returns afterwards."""


class ForgedForm(Exception):
    """A form that this server did not render for this browser, or more than a day ago."""


class SetCookie(Struct, frozen=True):
    """A cookie to set; an empty value with no seconds deletes it."""

    name: str
    value: str
    paths: tuple[str, ...]
    seconds: int
    same_site: Any
    """"Lax" or "Strict", as RFC 6265bis writes them. Starlette's type has them in lower case; it writes any case."""


class PageRequest(Request):
    """Starlette's request, with the session and the services of the platform."""

    def __init__(self, services: Services, scope: MutableMapping[str, Any], receive: Receive, *, address: str) -> None:
        super().__init__(scope, receive)
        self.services = services
        self.http = HttpRequest(scope, receive, max_body=_MAX_BODY, address=address)
        """The same request as the API reads it: its id, the client's network, a bounded body."""
        self.actor: Actor = ANONYMOUS
        self.account: UserRow | None = None
        """The account that is logged in."""
        self._set_cookies: list[SetCookie] = []
        self._max_body = _MAX_FORM
        self._parsed_form: Form | None = None

    async def load_session(self) -> None:
        """Set `actor` and `account` from the session cookie; the cookie of a session that has ended is deleted."""
        token = self._cookie(SESSION_COOKIE)
        if not token:
            return
        async with self.services.database.read() as reader:
            actor = await actor_of_token(reader, token)
            is_session = actor is not None and actor.kind is TokenKind.SESSION
            account = await select_user(reader, actor.user_id) if actor is not None and is_session else None
        if actor is not None and is_session:
            self.actor, self.account = actor, account
            self.services.record_token_use(actor)
        else:
            self.clear_session()

    @cached_property
    def language(self) -> str:
        """The language of the page."""
        return language_of(None if self.account is None else self.account.locale, self.http.header("accept-language"))

    def gettext(self, text: str) -> str:
        """A text in the language of the page."""
        return catalogue(self.language).gettext(text)

    @cached_property
    def cookies(self) -> dict[str, str]:
        """The cookies of the request by name.

        A pair with anything but ASCII in it is left out, as no cookie of this server has any: Starlette's parser takes
        U+0085 and U+00A0 off a name, by which another server of the same domain could set one that begins with
        `__Host-` (to the browser, it does not).
        """
        pairs = (pair for header in self.headers.getlist("cookie") for pair in header.split(";"))
        return cookie_parser(";".join(pair for pair in pairs if pair.isascii()))

    @cached_property
    def query(self) -> dict[str, str]:
        """The query, with the last value of a repeated parameter; empty if it has more than 256 parameters."""
        if self.http.query_string.count(b"&") >= _MAX_FIELDS:
            return {}
        return dict(self.query_params)

    @property
    def own_url(self) -> str:
        """The path with the query, as they were requested."""
        query = self.http.query_string.decode("latin-1")
        return quote(self.scope["path"]) + (f"?{query}" if query else "")

    @property
    def uses_https(self) -> bool:
        """Whether browsers reach this server by https."""
        return self.services.limits.public_url.startswith("https:")

    def require_login(self) -> None:
        """Raises LoginRequired if the browser has no session."""
        if not self.actor.signed_in:
            raise LoginRequired

    def context(self, reader: Any) -> Context:
        """A Context of the user for reading with `reader`."""
        return Context(
            self.services,
            reader,
            self.actor,
            reason=None,
            fires=frozenset(),
            writes=False,
            ip=self.http.network,
            header=self.http.header,
        )

    @property
    def payer(self) -> Payer:
        """Whom what the page reads is charged to."""
        return Payer(self.actor.user_id or None, self.http.network, self.http.loopback)

    def per_query_context(self) -> Context:
        """A Context that takes a connection for each query, for work that takes long beside its queries."""
        return self.context(PerQueryReader(self.services.database, self.payer))

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Context]:
        """A Context for everything that one page reads."""
        async with self.services.database.read(self.payer) as reader:
            yield self.context(reader)

    async def run(
        self,
        work: Callable[[Context], Awaitable[T]],
        *,
        fires: Iterable[type[Event] | AnyHook] = (),
        lock: Snowflake | None = None,
    ) -> T:
        """Run `work` as the user in one transaction; `lock` is the guild that it changes, if that is known."""

        async def writing(ctx: Context) -> T:
            # Guild states that are loaded now stay private to the transaction.
            ctx.writes = True
            return await work(ctx)

        return await unit_of_work.run(self.services, self.actor, writing, fires=fires, lock=lock)

    async def read_form(self, *, max_files: int = 0) -> Form:
        """Read the form, of at most 64 KiB without its files.

        Raises ForgedForm for a form of another site, Refusal 400 for one that cannot be read, RequestTooLarge.
        """
        if self._parsed_form is None:
            self._require_same_origin()
            if max_files:
                self._max_body = _MAX_BODY
            form = await self._parse_form(max_files)
            if not self._is_csrf_token(form.text("csrf")):
                raise ForgedForm
            self._parsed_form = form
        return self._parsed_form

    async def stream(self) -> AsyncGenerator[bytes, None]:
        """The body in chunks. Raises RequestTooLarge and ClientDisconnected."""
        async for chunk in self.http.chunks(self._max_body):
            yield chunk

    def csrf_token(self) -> str:
        """The value of the hidden field `csrf` of a form on this page: a time, encrypted for the session."""
        if not self.actor.signed_in and not self._cookie(FORM_COOKIE):
            token = new_token(32)
            self.cookies[self._cookie_name(FORM_COOKIE)] = token
            self._set_cookie(FORM_COOKIE, token, _FORM_PATHS, seconds=_FORM_MS // 1000, same_site="Strict")
        now = int(Timestamp.now()).to_bytes(8, "big")
        return base64.urlsafe_b64encode(self.services.box.encrypt(now, about=self._csrf_key())).decode()

    @property
    def device(self) -> Device | None:
        """The account that the browser last logged in to; None if it never did."""
        text = self._cookie(DEVICE_COOKIE)
        return Device.unseal(self.services.box, text) if text else None

    def set_session(self, token: str, user_id: UserId) -> None:
        """Set the session cookie, and the cookie that identifies the browser when it logs in again."""
        self._set_cookie(SESSION_COOKIE, token, SESSION_PATHS, seconds=SESSION_SECONDS, same_site="Lax")
        sealed = Device.new(user_id).seal(self.services.box)
        self._set_cookie(DEVICE_COOKIE, sealed, ("/login",), seconds=_DEVICE_SECONDS, same_site="Lax")

    def clear_session(self) -> None:
        """Delete the session cookie."""
        self._set_cookie(SESSION_COOKIE, "", SESSION_PATHS, seconds=0, same_site="Lax")

    def set_sign_on(self, text: str, seconds: int) -> None:
        """Set the cookie of a login with an identity provider; an empty text deletes it.

        Lax, as the provider's redirect back is a request that another site causes.
        """
        self._set_cookie(SIGN_ON_COOKIE, text, ("/login",), seconds=seconds, same_site="Lax")

    @property
    def sign_on(self) -> str:
        """The text of that cookie; empty without one."""
        return self._cookie(SIGN_ON_COOKIE)

    def add_cookies(self, response: Response) -> None:
        """Add every cookie to a response that was set during the request."""
        for cookie in self._set_cookies:
            for path in cookie.paths:
                response.set_cookie(
                    cookie.name,
                    cookie.value,
                    max_age=cookie.seconds,
                    path=path,
                    secure=self.uses_https,
                    httponly=True,
                    samesite=cookie.same_site,
                )

    def _cookie(self, name: str) -> str:
        return self.cookies.get(self._cookie_name(name), "")

    def _cookie_name(self, name: str) -> str:
        return f"__Host-{name}" if self.uses_https else name

    def _set_cookie(self, name: str, value: str, paths: tuple[str, ...], *, seconds: int, same_site: str) -> None:
        paths = ("/",) if self.uses_https else paths
        self._set_cookies.append(SetCookie(self._cookie_name(name), value, paths, seconds, same_site))

    def _csrf_key(self) -> bytes:
        if self.actor.signed_in:
            return b"form " + self.actor.token_hash
        return b"form of a stranger " + hash_token(self._cookie(FORM_COOKIE))

    def _is_csrf_token(self, text: str) -> bool:
        if not self.actor.signed_in and not self._cookie(FORM_COOKIE):
            return False
        try:
            sealed = base64.urlsafe_b64decode(text)
            rendered_at = int.from_bytes(self.services.box.decrypt(sealed, about=self._csrf_key()), "big")
        except (binascii.Error, ValueError, SecretUnreadable):
            return False
        return rendered_at > Timestamp.now() - _FORM_MS

    def require_own_script(self) -> None:
        """Raises ForgedForm unless a script of this server's origin sent the request: browsers say so by `Origin`."""
        if self.http.origin is None:
            raise ForgedForm
        self._require_same_origin()

    @property
    def session_token(self) -> str:
        """The token of the session cookie; empty without one."""
        return self._cookie(SESSION_COOKIE)

    async def begin_session(self, token: str) -> bool:
        """Set the session cookie to the token of a session, and say whether it is one."""
        async with self.services.database.read(self.payer) as reader:
            actor = await actor_of_token(reader, token)
        if actor is None or actor.kind is not TokenKind.SESSION:
            return False
        self.set_session(token, actor.user_id)
        return True

    def _require_same_origin(self) -> None:
        origin = self.http.origin
        if origin is not None:
            host = urlsplit(origin.decode("latin-1")).netloc
            if host not in {urlsplit(self.services.limits.public_url).netloc, self.http.header("host")}:
                raise ForgedForm
        if self.http.header("sec-fetch-site") not in {None, "same-origin", "none"}:
            raise ForgedForm

    async def _parse_form(self, max_files: int) -> Form:
        media_type, options = parse_options_header(self.http.content_type)
        if media_type == b"multipart/form-data" and b"charset" in options:
            # Starlette would decode every field by it, with any codec of Python: "punycode" takes 0.2 s for 60 kB.
            raise Refusal(errors.GENERAL_ERROR, message=self.gettext("The form cannot be read."))
        try:
            async with self.form(max_files=max_files, max_fields=_MAX_FIELDS, max_part_size=_MAX_FORM) as fields:
                files = {name: await file.read() for name, file in fields.items() if not isinstance(file, str)}
                return Form(fields, {name: data for name, data in files.items() if data})
        except MultiPartException as error:
            message = f"{self.gettext('The form cannot be read.')} {error.message}"
            raise Refusal(errors.GENERAL_ERROR, message=message) from None
        except FormParserError:
            raise Refusal(errors.GENERAL_ERROR, message=self.gettext("The form cannot be read.")) from None
