"""One HTTP request as the pipeline sees it."""

import itertools
import logging
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Any

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_PREFIXES = ("/api/v10", "/api/v9", "/api")

_serial = itertools.count(1)
_boot = secrets.token_hex(3)

_EXPOSED = (
    b"X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Reset-After, "
    b"X-RateLimit-Bucket, X-RateLimit-Global, X-RateLimit-Scope, Retry-After, Date, X-Request-Id"
)


_SECRET = re.compile(r"((?:^|/)(?:webhooks|interactions)/[^/]*/)[^/]+")
_NO_GZIP = re.compile(rb"gzip\s*;\s*q=0(?:\.0*)?\s*(?:,|\Z)")

_WITH_PORT = re.compile(r"\[(?P<bracketed>[^\[\]]*)\](?::[0-9]{1,5})?|(?P<bare>[0-9.]+):[0-9]{1,5}")
_MAX_PROXIES = 32
"""Entries of X-Forwarded-For that are read, from its end."""
_FORWARDING = frozenset(
    {b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip", b"forwarded", b"via"}
)
"""Headers that tell a request which a proxy has forwarded."""

UNKNOWN_ADDRESS = "unknown"
"""The address of a client that a proxy does not tell (the word of RFC 7239); for limits it is one client."""

log = logging.getLogger("moothall.http")


def new_request_id() -> str:
    """Make the id that an answer carries as X-Request-Id, with the log lines that belong to it."""
    return f"{_boot}-{next(_serial):x}"


class RequestTooLarge(Exception):
    """The body is larger than any row takes."""


class ClientGone(Exception):
    """The client left before its request was whole."""


class Request:
    """Method, path without its API prefix, and the headers that the pipeline reads."""

    __slots__ = (
        "_max_body",
        "_receive",
        "address",
        "answer_headers",
        "audit_reason",
        "authorization",
        "content_length",
        "content_type",
        "headers",
        "id",
        "known_tags",
        "loopback",
        "method",
        "origin",
        "path",
        "query_string",
        "takes_gzip",
    )

    def __init__(
        self,
        method: str,
        path: str,
        query_string: bytes,
        address: str,
        receive: Receive,
        *,
        max_body: int,
    ) -> None:
        self._receive = receive
        self._max_body = max_body
        self.method = method
        self.path = path
        self.query_string = query_string
        self.address = address
        self.loopback = is_loopback(address)
        self.id = new_request_id()
        self.answer_headers: list[tuple[bytes, bytes]] = []
        """Headers that every answer to this request carries, refusals too."""
        self.headers: Iterable[tuple[bytes, bytes]] = ()
        """All of them, with names in lower case."""
        self.authorization: str | None = None
        self.audit_reason: str | None = None
        self.content_type = ""
        self.content_length = 0
        self.known_tags = b""
        """If-None-Match: the entity tags of what the client has already."""
        self.origin: bytes | None = None
        self.takes_gzip = False

    @classmethod
    def of(
        cls,
        scope: MutableMapping[str, Any],
        receive: Receive,
        *,
        max_body: int,
        address: str,
    ) -> "Request":
        """Read an ASGI scope."""
        path = _without_prefix(scope["path"])
        request = cls(scope["method"], path or "/", scope["query_string"], address, receive, max_body=max_body)
        request.headers = scope["headers"]
        for name, value in request.headers:
            if name == b"authorization":
                request.authorization = value.decode("latin-1")
            elif name == b"content-type":
                request.content_type = value.decode("latin-1")
            elif name == b"content-length":
                request.content_length = int(value) if value.isdigit() else 0
            elif name == b"x-audit-log-reason":
                request.audit_reason = _text(value)
            elif name == b"accept-encoding":
                request.takes_gzip = b"gzip" in value and not (b"q=0" in value and _NO_GZIP.search(value))
            elif name == b"origin":
                request.origin = value
            elif name == b"if-none-match":
                request.known_tags = value
        return request

    def header(self, name: str) -> str | None:
        """A header that few rows ask for, by its name in lower case; the last one of that name."""
        wanted = name.encode()
        found = [value for key, value in self.headers if key == wanted]
        return _text(found[-1]).replace("\0", "") if found else None

    def extend(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Add this request's own headers to those of a refusal, which win."""
        given = {name for name, _ in headers}
        headers.extend(header for header in self.answer_headers if header[0] not in given)

    @property
    def shown_path(self) -> str:
        """The path as it may stand in a log: without the tokens of webhooks and interactions."""
        return _SECRET.sub(r"\1***", self.path)

    @property
    def network(self) -> str:
        """What stands for the client where its requests are counted: who has one IPv6 address has a whole /64."""
        return network_of(self.address) if ":" in self.address else self.address

    async def body(self, maximum: int | None = None) -> bytes:
        """The whole body, within the bound of every request and `maximum`. Raises RequestTooLarge and ClientGone."""
        maximum = self._max_body if maximum is None else min(maximum, self._max_body)
        if self.content_length > maximum:
            raise RequestTooLarge
        message = await self._receive()
        if message["type"] == "http.disconnect":
            # No body at all would be an empty one, which some rows do a lot with.
            raise ClientGone
        first: bytes = message.get("body", b"")
        if not message.get("more_body"):
            if len(first) > maximum:
                raise RequestTooLarge
            return first
        parts, size = [first], len(first)
        while message.get("more_body"):
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            part = message.get("body", b"")
            size += len(part)
            if size > maximum:
                raise RequestTooLarge
            parts.append(part)
        return b"".join(parts)

    async def chunks(self, maximum: int) -> AsyncIterator[bytes]:
        """The body as it arrives, up to `maximum` bytes. Raises RequestTooLarge and ClientGone."""
        if self.content_length > maximum:
            raise RequestTooLarge
        size, more = 0, True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            chunk: bytes = message.get("body", b"")
            more = message.get("more_body", False)
            size += len(chunk)
            if size > maximum:
                raise RequestTooLarge
            yield chunk

    def cors_headers(self) -> Iterable[tuple[bytes, bytes]]:
        """Any web page may call the API: it authenticates by header, never by cookie."""
        return (
            (b"access-control-allow-origin", self.origin or b"*"),
            (b"access-control-expose-headers", _EXPOSED),
            (b"vary", b"origin"),
        )

    def preflight_headers(self) -> Iterable[tuple[bytes, bytes]]:
        """The answer to OPTIONS, for browsers that ask before they call."""
        return (
            *self.answer_headers,
            (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE, OPTIONS"),
            (b"access-control-allow-headers", b"Authorization, Content-Type, X-Audit-Log-Reason, X-Super-Properties"),
            (b"access-control-max-age", b"86400"),
        )


def _text(value: bytes) -> str:
    # Some clients send the reason percent-encoded, some as plain UTF-8 bytes.
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own."""
    return address.startswith("127.") or address in {"::1", "localhost", ""}


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """The network that stands for an address where clients are counted: an IPv6 address's /64, else itself."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"


def _without_prefix(path: str) -> str:
    for prefix in _PREFIXES:
        if path.startswith(prefix):
            return path[len(prefix) :]
    return path


@lru_cache(maxsize=4096)
def forwarded_address(entry: bytes) -> str | None:
    """The address in an entry of X-Forwarded-For, in its standard spelling; None for one that has none.

    Proxies write it bare, quoted, in brackets, with a port or with a zone.
    """
    text = entry.decode("latin-1").strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].strip()
    match = _WITH_PORT.fullmatch(text)
    try:
        address = ip_address(text if match is None else match["bracketed"] or match["bare"])
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or IPv6Address(int(address)))  # without its zone
    return str(address)


def client_address(scope: MutableMapping[str, Any], trusted: Callable[[str], bool]) -> str:
    """The address of the client: the last one in X-Forwarded-For that a trusted proxy did not add for another.

    A proxy appends to X-Forwarded-For or adds a header of its own after the client's: they count as one list. An entry
    that cannot be read ends it: what stands before is whatever the client made up. A forwarded request never has an
    address of this machine, with what that is allowed: it is UNKNOWN_ADDRESS then.
    """
    client = scope.get("client")
    address = peer = client[0] if client else ""
    if trusted(peer):
        listed = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
        for entry in reversed(listed.rsplit(b",", _MAX_PROXIES)) if listed else ():
            hop = forwarded_address(entry)
            if hop is None:
                _warn_of_unreadable(peer)
                break
            address = hop
            if not trusted(hop):
                break
    if is_loopback(address) and _is_forwarded(scope["headers"]):
        if not trusted(peer):
            _warn_of_untrusted(peer)
        return UNKNOWN_ADDRESS
    return address


def _is_forwarded(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    for name, _ in headers:  # noqa: SIM110 any() takes twice as long, and every request of this machine passes here
        if name in _FORWARDING:
            return True
    return False


@lru_cache(maxsize=64)
def _warn_of_unreadable(proxy: str) -> None:
    # Once for each proxy: the cache remembers.
    log.warning("the proxy %s sends an X-Forwarded-For without a readable address: its clients share a limit", proxy)


@lru_cache(maxsize=64)
def _warn_of_untrusted(proxy: str) -> None:
    log.warning("%s forwards requests and is not in trusted_proxies: its clients share a limit", proxy)
