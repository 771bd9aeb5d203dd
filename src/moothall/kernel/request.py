"""One HTTP request as the pipeline sees it."""

import itertools
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
_NO_GZIP = re.compile(rb"gzip\s*;\s*q=0(?:\.0*)?\s*(?:,|$)")


class RequestTooLarge(Exception):
    """The body is larger than any row takes."""


class ClientGone(Exception):
    """The client left before its request was whole."""


class Request:
    """Method, path without its API prefix, and the headers that the pipeline reads."""

    __slots__ = (
        "_most_body",
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
        most_body: int,
    ) -> None:
        self._receive = receive
        self._most_body = most_body
        self.method = method
        self.path = path
        self.query_string = query_string
        self.address = address
        self.loopback = is_loopback(address)
        self.id = f"{_boot}-{next(_serial):x}"
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
        most_body: int,
        address: str,
    ) -> "Request":
        """Read an ASGI scope."""
        path = _without_prefix(scope["path"])
        request = cls(scope["method"], path or "/", scope["query_string"], address, receive, most_body=most_body)
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

    async def body(self, most: int | None = None) -> bytes:
        """The whole body, within the bound of every request and `most`. Raises RequestTooLarge and ClientGone."""
        most = self._most_body if most is None else min(most, self._most_body)
        if self.content_length > most:
            raise RequestTooLarge
        message = await self._receive()
        if message["type"] == "http.disconnect":
            # No body at all would be an empty one, which some rows do a lot with.
            raise ClientGone
        first: bytes = message.get("body", b"")
        if not message.get("more_body"):
            if len(first) > most:
                raise RequestTooLarge
            return first
        parts, size = [first], len(first)
        while message.get("more_body"):
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            part = message.get("body", b"")
            size += len(part)
            if size > most:
                raise RequestTooLarge
            parts.append(part)
        return b"".join(parts)

    async def chunks(self, most: int) -> AsyncIterator[bytes]:
        """The body as it arrives, up to `most` bytes. Raises RequestTooLarge and ClientGone."""
        if self.content_length > most:
            raise RequestTooLarge
        size, more = 0, True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            chunk: bytes = message.get("body", b"")
            more = message.get("more_body", False)
            size += len(chunk)
            if size > most:
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


def client_address(scope: MutableMapping[str, Any], trusted: Callable[[str], bool]) -> str:
    """The address of the client: the last one that a trusted proxy did not add itself.

    A proxy appends to X-Forwarded-For or adds a header of its own after the client's: they count as one list.
    """
    client = scope.get("client")
    address: str = client[0] if client else ""
    if not trusted(address):
        return address
    listed = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
    for hop in reversed([hop.strip() for hop in listed.decode("latin-1").split(",")]):
        try:
            ip_address(hop)
        except ValueError:
            break
        address = hop
        if not trusted(hop):
            break
    return address
