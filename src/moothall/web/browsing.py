"""One request of a person's browser: who they are by its cookie, what its form says, and whether the form was ours.

A browser sends cookies along with whatever another site makes it send. So nothing changes but by a form that this
server made for the same session: its hidden field `csrf` says so, and the headers that browsers add must not deny it.
"""

import asyncio
import base64
import binascii
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from msgspec import Struct

from moothall.kernel import unit_of_work
from moothall.kernel.authenticate import ANONYMOUS, Actor, TokenKind, actor_of_token
from moothall.kernel.context import Context, Services
from moothall.kernel.events import Event
from moothall.kernel.hooks import AnyHook
from moothall.kernel.multipart import MalformedForm, PartEnd, PartHead, is_form, read_parts
from moothall.kernel.per_query_reader import PerQueryReader
from moothall.kernel.request import Receive, Request
from moothall.kernel.secrets import SecretUnreadable, hash_token, new_token
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.user.password.checking import Device

T = TypeVar("T")

SESSION: Final = "moothall_session"
STRANGER: Final = "moothall_form"
DEVICE: Final = "moothall_device"
SESSION_SECONDS: Final = 30 * 86_400
_DEVICE_SECONDS: Final = 365 * 86_400
HOMES: Final = ("/login", "/logout", "/oauth2", "/invite", "/settings", "/developers")
"""Where the session's cookie goes; the API, which never looks at one, and files do not get it.

Over https the cookie is for every path: only so may its name begin with `__Host-`, by which browsers see to it that no
other server of the same domain can have set it.
"""

_STRANGERS: Final = ("/login", "/register")
_FORM_MS: Final = 86_400_000
_MAX_FIELDS: Final = 256
_DIGITS: Final = 19
_MAX_ID: Final = 1 << 63
_MAX_FORM: Final = 65_536
_UPLOAD: Final = limits.IMAGE_SIZE_MAX + _MAX_FORM
_URL_SAFE: Final = "!#$%&'()*+,/:;=?@[]~-._"
_BAD_IN_PATH: Final = re.compile(r"[\x00-\x20\x7f\\]")


class Page(Struct, kw_only=True):
    """An answer to a browser."""

    body: bytes = b""
    status: int = 200
    headers: list[tuple[bytes, bytes]] = []
    sends_elsewhere: bool = False
    """Whether a form on it may end, by redirects, at another site: browsers count that as sending the form there."""


class LoginNeeded(Exception):
    """The page is for somebody who has logged in: they do that first, and come back."""


class ForgedForm(Exception):
    """The form is none that this server made for this browser, or it is too old."""


class Browser:
    """One request, with what is known of who makes it."""

    def __init__(self, services: Services, request: Request, scope: MutableMapping[str, Any]) -> None:
        self.services = services
        self.request = request
        self.path: str = scope["path"]
        self.method: str = scope["method"]
        self.actor: Actor = ANONYMOUS
        self.cookies_out: list[tuple[bytes, bytes]] = []
        self._form: Form | None = None

    @classmethod
    def unknown(
        cls, services: Services, scope: MutableMapping[str, Any], receive: Receive, *, address: str
    ) -> "Browser":
        """A request whose session nobody has looked up yet."""
        return cls(services, Request.of(scope, receive, max_body=_UPLOAD, address=address), scope)

    async def recognise(self) -> None:
        """Look the session up. One that has ended is nobody's, and its cookie goes."""
        token = self._cookie(SESSION)
        if not token:
            return
        async with self.services.database.read() as reader:
            actor = await actor_of_token(reader, token)
        if actor is not None and actor.kind is TokenKind.SESSION:
            self.actor = actor
            self.services.used(actor)
        else:
            self.leave()

    @cached_property
    def cookies(self) -> dict[str, str]:
        """The cookies of the request by name.

        A pair with anything but ASCII in it is left out, as no cookie of this server has any: `str.strip` would take
        U+2000 or U+0085 off a name, by which another server of the same domain could set one that begins with
        `__Host-` (to the browser, it does not).
        """
        pairs = (part for part in (self.request.header("cookie") or "").split(";") if part.isascii())
        parts = (pair.strip().partition("=") for pair in pairs)
        return {name: value for name, _, value in parts}

    @cached_property
    def query(self) -> dict[str, str]:
        """The query, of a repeated parameter the last. Empty for one that cannot be read."""
        text = self.request.query_string.decode("utf-8", "replace")
        try:
            return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS))
        except ValueError:
            return {}

    @property
    def here(self) -> str:
        """This page's path with its query, as it was asked for."""
        query = self.request.query_string.decode("latin-1")
        return quote(self.path) + (f"?{query}" if query else "")

    @property
    def secure(self) -> bool:
        """Whether browsers come by https."""
        return self.services.limits.public_url.startswith("https:")

    def require_person(self) -> None:
        """Go on only with somebody who has logged in. Raises LoginNeeded."""
        if not self.actor.signed_in:
            raise LoginNeeded

    def context(self, reader: Any) -> Context:
        """What the person may see, for reading."""
        return Context(
            self.services,
            reader,
            self.actor,
            reason=None,
            fires=frozenset(),
            writes=False,
            ip=self.request.network,
            header=self.request.header,
        )

    def brief_context(self) -> Context:
        """The same where other things than reading take their time."""
        return self.context(PerQueryReader(self.services.database))

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Context]:
        """A Context for everything that one page shows."""
        async with self.services.database.read() as reader:
            yield self.context(reader)

    async def run(
        self,
        work: Callable[[Context], Awaitable[T]],
        *,
        fires: Iterable[type[Event] | AnyHook] = (),
        lock: Snowflake | None = None,
    ) -> T:
        """Change something as the person, in one transaction; `lock` is the guild that is changed, if it is known."""

        async def writing(ctx: Context) -> T:
            # What is loaded of guilds stays private to the transaction.
            ctx.writes = True
            return await work(ctx)

        return await unit_of_work.run(self.services, self.actor, writing, fires=fires, lock=lock)

    async def form(self) -> "Form":
        """The form that was sent. Raises ForgedForm for another's, Refusal 400 for what is none."""
        if self._form is None:
            self._require_own_site()
            found = await _read_form(self.request)
            if not self._is_own(found.text("csrf")):
                raise ForgedForm
            self._form = found
        return self._form

    def csrf(self) -> str:
        """What a form on this page carries to be known again."""
        if not self.actor.signed_in and not self._cookie(STRANGER):
            made = new_token(32)
            self.cookies[self._cookie_name(STRANGER)] = made
            self._give(STRANGER, made, _STRANGERS, seconds=_FORM_MS // 1000, site="Strict")
        moment = int(Timestamp.now()).to_bytes(8, "big")
        return base64.urlsafe_b64encode(self.services.box.encrypt(moment, about=self._form_key())).decode()

    @property
    def device(self) -> Device | None:
        """The account that the browser logged in to last; None for none."""
        text = self._cookie(DEVICE)
        return Device.unseal(self.services.box, text) if text else None

    def enter(self, token: str, user_id: UserId) -> None:
        """Give the browser a session, and what it is known by when it logs in again."""
        self._give(SESSION, token, HOMES, seconds=SESSION_SECONDS, site="Lax")
        sealed = Device.new(user_id).seal(self.services.box)
        self._give(DEVICE, sealed, ("/login",), seconds=_DEVICE_SECONDS, site="Lax")

    def leave(self) -> None:
        """Take its session away."""
        self._give(SESSION, "", HOMES, seconds=0, site="Lax")

    def _cookie(self, name: str) -> str:
        """A cookie that the browser was given; "" for none."""
        return self.cookies.get(self._cookie_name(name), "")

    def _cookie_name(self, name: str) -> str:
        return f"__Host-{name}" if self.secure else name

    def _give(self, name: str, value: str, paths: Iterable[str], *, seconds: int, site: str) -> None:
        name, rest = self._cookie_name(name), f"Max-Age={seconds}; HttpOnly; SameSite={site}"
        if self.secure:
            paths, rest = ("/",), f"{rest}; Secure"
        self.cookies_out += [(b"set-cookie", f"{name}={value}; Path={path}; {rest}".encode()) for path in paths]

    def _form_key(self) -> bytes:
        if self.actor.signed_in:
            return b"form " + self.actor.token_hash
        return b"form of a stranger " + hash_token(self._cookie(STRANGER))

    def _is_own(self, text: str) -> bool:
        if not self.actor.signed_in and not self._cookie(STRANGER):
            return False
        try:
            sealed = base64.urlsafe_b64decode(text)
            moment = int.from_bytes(self.services.box.decrypt(sealed, about=self._form_key()), "big")
        except (binascii.Error, ValueError, SecretUnreadable):
            return False
        return moment > Timestamp.now() - _FORM_MS

    def _require_own_site(self) -> None:
        origin = self.request.origin
        if origin is not None:
            given = urlsplit(origin.decode("latin-1")).netloc
            if given not in {urlsplit(self.services.limits.public_url).netloc, self.request.header("host")}:
                raise ForgedForm
        if self.request.header("sec-fetch-site") not in {None, "same-origin", "none"}:
            raise ForgedForm


class Form:
    """What a form holds: texts by name, and the files that were chosen."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.files: dict[str, bytes] = {}

    def add(self, name: str, text: str) -> None:
        """One more text. No text may hold the character that PostgreSQL cannot store."""
        self.texts.setdefault(name, []).append(text.replace("\0", ""))

    def text(self, name: str) -> str:
        """A field's text; "" for one that is not there."""
        return self.texts.get(name, [""])[-1]

    def all(self, name: str) -> list[str]:
        """Every text of a field that may be there several times."""
        return self.texts.get(name, [])

    def flag(self, name: str) -> bool:
        """Whether a box was ticked."""
        return name in self.texts

    def lines(self, name: str) -> list[str]:
        """The lines of a field that hold anything."""
        return [line.strip() for line in self.text(name).splitlines() if line.strip()]

    def whole(self, name: str) -> int | None:
        """A field's whole number; None for anything else."""
        return read_whole(self.text(name))


def read_whole(text: str) -> int | None:
    """The number that a text is; None for anything else, and for what no id can be."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else _MAX_ID
    return number if number < _MAX_ID else None


def read_id(text: str) -> Snowflake:
    """An id of a path. Raises Refusal 404 for what no id can be."""
    number = read_whole(text)
    if number is None:
        raise Refusal(errors.NOT_FOUND)
    return Snowflake(number)


def redirect(location: str, *, status: int = 303) -> Page:
    """Go on elsewhere; what an address cannot hold as it is gets encoded."""
    return Page(status=status, headers=[(b"location", quote(location, safe=_URL_SAFE).encode())])


def local_path(text: str | None, otherwise: str = "/") -> str:
    """A path of this server, to go on to; `otherwise` for anything that a browser might take for another place."""
    if not text or not text.startswith("/") or text.startswith("//") or _BAD_IN_PATH.search(text):
        return otherwise
    return text


async def _read_form(request: Request) -> Form:
    found = Form()
    if is_form(request.content_type):
        try:
            await _read_multipart(request, found)
        except (MalformedForm, UnicodeDecodeError) as problem:
            raise Refusal(errors.GENERAL_ERROR, message=f"The form cannot be read. {problem}") from None
        return found
    data = await request.body(_MAX_FORM)
    try:
        pairs = parse_qsl(data.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")
    except ValueError:
        raise Refusal(errors.GENERAL_ERROR, message="The form cannot be read.") from None
    for name, text in pairs:
        found.add(name, text)
    return found


async def _read_multipart(request: Request, found: Form) -> None:
    head, data, count = PartHead("", None), bytearray(), 0
    async for event in read_parts(request.chunks(_UPLOAD), request.content_type):
        if isinstance(event, PartHead):
            head, data, count = event, bytearray(), count + 1
            if count > _MAX_FIELDS:
                raise MalformedForm("It has too many parts.")
        elif isinstance(event, PartEnd):
            if head.filename is None:
                found.add(head.name, data.decode())
            elif data:
                found.files[head.name] = bytes(data)
            await asyncio.sleep(0)
        else:
            data += event
