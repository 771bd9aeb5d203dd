"""An HTTP request: its headers, its body within bounds, and the address of its client."""

import itertools
import logging
import re
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, MutableMapping
from functools import lru_cache, partial
from ipaddress import IPv6Address, ip_address
from typing import Any

from moothall.api.request.json_size import MAX_JSON, JsonSize
from moothall.runtime.asgi import Receive
from moothall.runtime.budgets import Cost, Payer
from moothall.runtime.work_pool import WorkPool

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
_HOST = re.compile(rb"(?:\[(?P<bracketed>[^\[\]]+)\]|(?P<bare>[^\[\]:]+))(?::[0-9]{0,5})?")
_MAX_PROXIES = 32
"""How many entries of X-Forwarded-For are read, counted from its end."""
_JSON = "application/json"
_JOINED_AT_ONCE = 512 * 1024
"""Bytes of a body from which on its chunks are joined in a thread: the system's new pages alone take milliseconds."""
_FORWARDING = frozenset(
    {b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip", b"forwarded", b"via"}
)
"""Headers that only requests forwarded by a proxy have."""

WHOLE_RESPONSE = "moothall.whole_response"
"""The ASGI extension of a server that takes `body` in `http.response.start`, as the whole body of a response whose
headers name its length."""

UNKNOWN_ADDRESS = "unknown"
"""The address of clients whose proxy sends none, as in RFC 7239. They share their rate limits."""

log = logging.getLogger("moothall.http")


def new_request_id() -> str:
    """Make the id that the response carries as X-Request-Id and the request's log lines carry too."""
    return f"{_boot}-{next(_serial):x}"


class RequestTooLarge(Exception):
    """The body is larger than the endpoint accepts."""


class ClientDisconnected(Exception):
    """The client disconnected before it had sent the whole body."""


class Request:
    """An HTTP request of an ASGI scope: its method, its path without the API's prefix, and its headers."""

    __slots__ = (
        "_by_name",
        "_max_body",
        "_receive",
        "address",
        "authorization",
        "cost",
        "headers",
        "id",
        "loopback",
        "method",
        "path",
        "payer",
        "query_string",
        "response_headers",
        "takes_whole_response",
    )

    def __init__(self, scope: MutableMapping[str, Any], receive: Receive, *, max_body: int, address: str) -> None:
        self._receive = receive
        self._max_body = max_body
        self.cost: Cost | None = None
        """Who pays for the body, once that is known."""
        self.method: str = scope["method"]
        self.path = _without_prefix(scope["path"]) or "/"
        self.query_string: bytes = scope["query_string"]
        self.address = address
        self.loopback = is_loopback(address)
        self.payer = Payer(None, self.network, self.loopback)
        """Whom what the request costs is charged to: the network, and once the caller is known the account."""
        self.id = new_request_id()
        self.response_headers: list[tuple[bytes, bytes]] = []
        """Headers that every response to this request carries, refusals too."""
        self.headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
        """All headers, with names in lower case."""
        self._by_name: dict[bytes, bytes] = dict(self.headers)
        """The last header of each name."""
        authorization = self._by_name.get(b"authorization")
        self.authorization = None if authorization is None else authorization.decode("latin-1")
        self.takes_whole_response = WHOLE_RESPONSE in (scope.get("extensions") or ())
        """Whether the server has the extension `WHOLE_RESPONSE`."""

    @property
    def content_type(self) -> str:
        """Content-Type; empty without one."""
        return self._by_name.get(b"content-type", b"").decode("latin-1")

    @property
    def content_length(self) -> int:
        """Content-Length; 0 without a valid one."""
        value = self._by_name.get(b"content-length", b"")
        return int(value) if value.isdigit() else 0

    @property
    def audit_reason(self) -> str | None:
        """X-Audit-Log-Reason as it was sent."""
        value = self._by_name.get(b"x-audit-log-reason")
        return None if value is None else _text(value)

    @property
    def if_none_match(self) -> bytes:
        """If-None-Match: the entity tags of the versions that the client has cached."""
        return self._by_name.get(b"if-none-match", b"")

    @property
    def origin(self) -> bytes | None:
        """The origin of the web page that sends the request."""
        return self._by_name.get(b"origin")

    @property
    def accepts_gzip(self) -> bool:
        """Whether the response may be compressed."""
        value = self._by_name.get(b"accept-encoding", b"")
        return b"gzip" in value and not (b"q=0" in value and _NO_GZIP.search(value))

    def header(self, name: str) -> str | None:
        """The last header with a name, which is in lower case; None if there is none."""
        value = self._by_name.get(name.encode())
        return None if value is None else _text(value).replace("\0", "")

    def extend(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Add `response_headers` to the headers of a refusal, except those that it has already."""
        present = {name for name, _ in headers}
        headers.extend(header for header in self.response_headers if header[0] not in present)

    @property
    def redacted_path(self) -> str:
        """The path for logs, without the tokens of webhooks and interactions."""
        return _SECRET.sub(r"\1***", self.path)

    @property
    def network(self) -> str:
        """The network that rate limits count the client by: its IPv4 address, or the /64 of its IPv6 address."""
        return network_of(self.address) if ":" in self.address else self.address

    async def body(self, maximum: int | None, pool: WorkPool) -> bytes:
        """Read the whole body, of at most `maximum` bytes, which `cost` holds. A large one is joined in `pool`.

        Raises RequestTooLarge, ClientDisconnected, and what holding bytes and the pool raise.
        """
        maximum = self._max_body if maximum is None else min(maximum, self._max_body)
        if self.content_length > maximum:
            raise RequestTooLarge
        message = await self._receive()
        if message["type"] == "http.disconnect":
            # An empty body instead would be a valid request to some endpoints.
            raise ClientDisconnected
        first: bytes = message.get("body", b"")
        if not message.get("more_body"):
            if len(first) > maximum:
                raise RequestTooLarge
            return first
        chunks = [first]
        chunks.extend([chunk async for chunk in self._further_chunks(first, maximum)])
        size = sum(map(len, chunks))
        if self.cost is None or size < _JOINED_AT_ONCE:
            return b"".join(chunks)
        return await pool.run(self.cost.payer, partial(b"".join, chunks), size=size)

    async def _further_chunks(self, first: bytes, maximum: int) -> AsyncIterator[bytes]:
        """The body after its `first` bytes, all of which are charged."""
        size, more = len(first), True
        self._hold(size)
        # Only images make a body larger: JSON that has too few of them is refused before it is buffered whole.
        json_size = JsonSize() if maximum > MAX_JSON and self.content_type.lower().startswith(_JSON) else None
        if json_size is not None:
            json_size.add(first)
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnected
            chunk: bytes = message.get("body", b"")
            more = message.get("more_body", False)
            size += len(chunk)
            if size > maximum or (json_size is not None and json_size.add(chunk)):
                raise RequestTooLarge
            self._hold(len(chunk))
            yield chunk

    def _hold(self, size: int) -> None:
        if self.cost is not None:
            self.cost.hold(size)

    async def chunks(self, maximum: int) -> AsyncIterator[bytes]:
        """Stream the body, of at most `maximum` bytes. Raises RequestTooLarge and ClientDisconnected."""
        if self.content_length > maximum:
            raise RequestTooLarge
        size, more = 0, True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnected
            chunk: bytes = message.get("body", b"")
            more = message.get("more_body", False)
            size += len(chunk)
            if size > maximum:
                raise RequestTooLarge
            yield chunk

    def cors_headers(self) -> Iterable[tuple[bytes, bytes]]:
        """CORS headers that let any web page call the API, which authenticates by header and never by cookie."""
        return (
            (b"access-control-allow-origin", self.origin or b"*"),
            (b"access-control-expose-headers", _EXPOSED),
            (b"vary", b"origin"),
        )

    def preflight_headers(self) -> Iterable[tuple[bytes, bytes]]:
        """The headers of the response to a CORS preflight request."""
        return (
            *self.response_headers,
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
    """Whether an address is one of the loopback interface."""
    return address.startswith("127.") or address in {"::1", "localhost", ""}


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """The network that rate limits count an address by: the /64 of an IPv6 address, else the address itself."""
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
    """The address in an entry of X-Forwarded-For, in its standard spelling; None if the entry has none.

    The address may be bare, quoted, in brackets, with a port or with a zone.
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
    """The address of the client: the last address in X-Forwarded-For that is not a trusted proxy's.

    A proxy appends to X-Forwarded-For or adds another header of that name, so that all of them count as one list. The
    entries before an unreadable one are ignored, because the client may have forged them. A loopback address has
    privileges. So a forwarded request never has one, and neither has a request whose Host is no name of the loopback
    interface: a browser sends it for a page whose domain was pointed here (DNS rebinding). Their address is
    UNKNOWN_ADDRESS.
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
    if is_loopback(address):
        headers = dict(scope["headers"])
        if not _FORWARDING.isdisjoint(headers):
            if not trusted(peer):
                _warn_of_untrusted(peer)
            return UNKNOWN_ADDRESS
        host = headers.get(b"host")
        if host is not None and not is_loopback_host(host):
            return UNKNOWN_ADDRESS
    return address


def client_network(scope: MutableMapping[str, Any], trusted: Callable[[str], bool]) -> str:
    """The network of a connection, as rate limits count it; "" for the loopback interface."""
    address = client_address(scope, trusted)
    return "" if is_loopback(address) else network_of(address)


@lru_cache(maxsize=256)
def is_loopback_host(host: bytes) -> bool:
    """Whether a Host header names the loopback interface: an address of it, `localhost`, or a name below that."""
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = (match["bracketed"] or match["bare"] or b"").decode("latin-1").lower().removesuffix(".")
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def is_forwarded(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a header says that a proxy forwarded the request."""
    return not _FORWARDING.isdisjoint(dict(headers))


@lru_cache(maxsize=64)
def _warn_of_unreadable(proxy: str) -> None:
    # The cache limits this to one line for each proxy.
    log.warning("the proxy %s sends an X-Forwarded-For without a readable address: its clients share a limit", proxy)


@lru_cache(maxsize=64)
def _warn_of_untrusted(proxy: str) -> None:
    log.warning("%s forwards requests and is not in trusted_proxies: its clients share a limit", proxy)
