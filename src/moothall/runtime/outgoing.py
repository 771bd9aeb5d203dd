"""HTTP requests to URLs that users choose: limited in time and size, and only to public addresses.

`checked_url` checks the text of a URL, with the parser that the HTTP client uses. The resolver checks the addresses of
a host name, and `checked_socket` checks the address that is passed to connect(), so that neither an unusual spelling
of an address nor DNS rebinding leads to a private address. `get` follows redirects and checks the URL of each; nothing
else follows any.

With an HTTP proxy, which an operator may set, the proxy resolves names and connects, so it must refuse private
addresses; the text of URLs is checked all the same.
"""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from importlib import import_module
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from msgspec import Struct

from moothall.objects.clock import stopwatch
from moothall.runtime.lifecycle import Lazy
from moothall.runtime.name_lookups import AddressInfo, NameLookups

if TYPE_CHECKING:
    import ssl

    import aiohttp
    from yarl import URL


T = TypeVar("T")
_CHUNK_BYTES: Final = 65_536
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_HTTP_CLIENT: Final = Lazy(partial(import_module, "aiohttp"))

_NEXT_ADDRESS_SECONDS: Final = 0.25
"""How long one address of a host has to accept a connection before the next is tried as well (RFC 8305)."""

_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
"""The only IPv6 addresses that are assigned to hosts of the internet; `_NOT_PUBLIC` has the exceptions within."""
_NOT_PUBLIC: Final = (
    IPv4Network("0.0.0.0/8"),  # this network, unspecified
    IPv4Network("10.0.0.0/8"),
    IPv4Network("100.64.0.0/10"),  # carrier-grade NAT
    IPv4Network("127.0.0.0/8"),
    IPv4Network("168.63.129.16/32"),  # Azure's host, which only virtual machines reach
    IPv4Network("169.254.0.0/16"),  # link-local, metadata of clouds
    IPv4Network("172.16.0.0/12"),
    IPv4Network("192.0.0.0/24"),  # protocol assignments
    IPv4Network("192.0.2.0/24"),  # documentation
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv4Network("192.168.0.0/16"),
    IPv4Network("198.18.0.0/15"),  # benchmarks
    IPv4Network("198.51.100.0/24"),  # documentation
    IPv4Network("203.0.113.0/24"),  # documentation
    IPv4Network("224.0.0.0/4"),  # multicast
    IPv4Network("240.0.0.0/4"),  # reserved, broadcast
    IPv6Network("2001::/23"),  # protocol assignments, Teredo among them
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("2002::/16"),  # 6to4
    IPv6Network("3fff::/20"),  # documentation
)

_AUTHORITY: Final = re.compile(r"[^/?#]*//([^/?#]*)")
_BLOCKED_PORTS: Final = frozenset(
    {0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109}
    | {110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530}
    | {531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190}
    | {5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}
)
"""Ports of other protocols, which a request could be mistaken for (Fetch, 2.9, port blocking)."""


class OutgoingFailed(Exception):
    """There was no complete response. The message says why, for the operator; callers of the API must not see it."""


class UrlRefused(OutgoingFailed):
    """The URL itself is not allowed. The message depends only on its text, so callers may see it."""


class ConnectionFailed(OutgoingFailed):
    """The connection was not made, or was lost before a response began."""


class AddressRefused(OutgoingFailed):
    """The host is, or resolves to, an address that is not public."""


class OutgoingResponse(Struct, frozen=True):
    """A response with its whole body."""

    status: int
    content_type: str
    body: bytes


class ResponseStream(Struct, frozen=True):
    """A response whose body has not been read."""

    status: int
    content_type: str
    """The header with its parameters, such as the boundary of a form."""
    chunks: AsyncIterator[bytes]
    url: str = ""
    """Where it came from: the URL of the request, or of the last redirect."""
    headers: Mapping[str, str] = {}
    """By names in any case."""


async def read_whole(response: ResponseStream, *, maximum: int) -> OutgoingResponse:
    """Read the body of a response. Raises OutgoingFailed if it is larger than `maximum` bytes."""
    data = bytearray()
    async for chunk in response.chunks:
        data += chunk
        if len(data) > maximum:
            raise OutgoingFailed("the response is too large")
    return OutgoingResponse(response.status, response.content_type.partition(";")[0].strip().lower(), bytes(data))


async def read_start(response: ResponseStream, *, maximum: int) -> bytes:
    """Read at most the first `maximum` bytes of a body, and leave the rest."""
    data = bytearray()
    async for chunk in response.chunks:
        data += chunk
        if len(data) >= maximum:
            break
    return bytes(data[:maximum])


class Outgoing:
    """An HTTP client with one pool of connections, which is opened by the first request.

    It has at most `connections` at once, `connections_per_host` of them to one host; further requests wait, within
    their time. `proxy` is the URL of an HTTP proxy for all requests.
    """

    def __init__(
        self,
        *,
        allow_private: bool,
        agent: str = "Moothall-Interactions/1.0",
        proxy: str | None = None,
        connections: int = 200,
        connections_per_host: int = 50,
    ) -> None:
        self._allow_private = allow_private
        self._agent = agent
        self._proxy = proxy
        self._connections = (connections, connections_per_host)
        self._session: aiohttp.ClientSession | None = None

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, maximum: int
    ) -> OutgoingResponse:
        """Post a body. Raises OutgoingFailed, also if the response takes too long or exceeds `maximum` bytes."""
        return await self.exchange(url, body, headers, seconds=seconds, read=partial(read_whole, maximum=maximum))

    async def exchange(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        seconds: float,
        read: Callable[[ResponseStream], Awaitable[T]],
    ) -> T:
        """Post a body, read the response with `read`, and return the result, all within `seconds`.

        Raises OutgoingFailed, also if it takes longer, and what `read` raises.
        """
        return await self._request("POST", url, headers, seconds=seconds, read=read, body=body)

    async def get(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        seconds: float,
        read: Callable[[ResponseStream], Awaitable[T]],
        redirects: int = 0,
    ) -> T:
        """Get a URL, following at most `redirects` redirects, and return what `read` makes of the last response.

        All of it takes at most `seconds`. A response with a redirect that is not followed is read like another. Raises
        OutgoingFailed, also for a redirect to a URL that is not allowed, and what `read` raises.
        """
        until = stopwatch() + seconds
        for left in range(redirects, -1, -1):
            follow = partial(_location_or, read, follow=left > 0)
            result = await self._request("GET", url, headers, seconds=until - stopwatch(), read=follow)
            if not isinstance(result, _Redirect):
                return result
            url = result.url
        raise OutgoingFailed("there are too many redirects")

    async def _request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        *,
        seconds: float,
        read: Callable[[ResponseStream], Awaitable[T]],
        body: bytes | None = None,
    ) -> T:
        await load_http_client()
        import aiohttp  # noqa: PLC0415 it is loaded by now

        target = checked_url(url, allow_private=self._allow_private)
        if self._session is None:
            self._session = self._open()
        try:
            async with (
                asyncio.timeout(seconds),
                self._session.request(
                    method, target, data=body, headers=headers, allow_redirects=False, proxy=self._proxy
                ) as response,
            ):
                return await read(
                    ResponseStream(
                        response.status,
                        response.headers.get("content-type", ""),
                        response.content.iter_chunked(_CHUNK_BYTES),
                        str(target),
                        response.headers,
                    )
                )
        except TimeoutError:
            raise OutgoingFailed(f"there was no response within {seconds:.3g} seconds") from None
        except aiohttp.ClientConnectorError as problem:
            if isinstance(problem.os_error, _NotPublic):
                raise AddressRefused("this address is not public") from None
            raise ConnectionFailed(str(problem)) from None
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as problem:
            raise ConnectionFailed(str(problem) or type(problem).__name__) from None
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            raise OutgoingFailed(str(problem) or type(problem).__name__) from None

    async def close(self) -> None:
        """Close the pool."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp  # noqa: PLC0415

        # Connections lead to the proxy, if there is one, which the operator chose and which is seldom public.
        anywhere = self._allow_private or self._proxy is not None
        connections, per_host = self._connections
        return aiohttp.ClientSession(
            connector=guarded_connector(
                allow_private=anywhere,
                limit=connections,
                limit_per_host=connections if self._proxy is not None else per_host,
            ),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"user-agent": self._agent, "accept-encoding": "identity"},
        )


async def load_http_client() -> None:
    """Import aiohttp in a thread: it takes a quarter of a second, and most servers never need it."""
    await _HTTP_CLIENT.get()


class _Redirect(NamedTuple):
    """A response that leads to another URL."""

    url: str


async def _location_or(
    read: Callable[[ResponseStream], Awaitable[T]], response: ResponseStream, *, follow: bool
) -> T | _Redirect:
    """Where a response redirects to, if that is to be followed, or what `read` makes of it."""
    from yarl import URL  # noqa: PLC0415

    location = response.headers.get("location")
    if not follow or response.status not in _REDIRECTS or not location:
        return await read(response)
    try:
        return _Redirect(str(URL(response.url).join(URL(location))))
    except (ValueError, IndexError):
        raise UrlRefused("It redirects to a URL that is not well formed.") from None


class _NotPublic(OSError):
    """A connection is refused because its address is not public."""


def guarded_connector(
    *, allow_private: bool, limit: int, limit_per_host: int, tls: "ssl.SSLContext | None" = None
) -> "aiohttp.TCPConnector":
    """A pool of connections to public addresses only, unless `allow_private`; at most `limit`, and for each host.

    `tls` checks certificates in place of the context that aiohttp makes when it is imported.
    """
    import aiohttp  # noqa: PLC0415 it takes long to import

    return aiohttp.TCPConnector(
        ssl=True if tls is None else tls,
        limit=limit,
        limit_per_host=limit_per_host,
        resolver=_resolver(allow_private=allow_private),
        socket_factory=None if allow_private else checked_socket,
    )


async def open_socket(host: str, port: int, lookups: NameLookups, *, allow_private: bool) -> socket.socket:
    """Connect to a host: to public addresses only, unless `allow_private`. Raises OSError."""
    import aiohappyeyeballs  # noqa: PLC0415 as aiohttp, which does the same

    infos = await _look_up(host, port, lookups, allow_private=allow_private)
    return await aiohappyeyeballs.start_connection(
        infos, happy_eyeballs_delay=_NEXT_ADDRESS_SECONDS, socket_factory=None if allow_private else checked_socket
    )


def checked_url(url: str, *, allow_private: bool, encoded: bool = False) -> "URL":
    """Parse a URL and check its text. With `encoded` its path and query stay as they are.

    Raises UrlRefused unless its scheme is http or https and it has a host, no user and no password, and a port that is
    not another protocol's; AddressRefused for an address that is not public, unless `allow_private`.
    """
    from yarl import URL  # noqa: PLC0415 only what makes requests needs it

    try:
        parsed = URL(url, encoded=encoded)
        host, port = parsed.raw_host, parsed.port
    except (ValueError, IndexError):  # IndexError: brackets before an "@" with nothing behind it
        raise UrlRefused("It is not a well formed URL.") from None
    if parsed.scheme not in {"http", "https"} or not host:
        raise UrlRefused("It must begin with http:// or https:// and name a host.")
    authority = _AUTHORITY.match(url)
    if parsed.raw_user is not None or parsed.raw_password is not None or (authority and "@" in authority[1]):
        raise UrlRefused("It must not contain a user name or a password.")
    if port is None or port in _BLOCKED_PORTS:
        raise UrlRefused("Its port is one of another protocol.")
    if not allow_private and _names_no_public_address(host):
        raise AddressRefused("this address is not public")
    return parsed


def checked_socket(info: AddressInfo) -> socket.socket:
    """Make the socket for a connection to the address in `info`. Raises OSError for an address that is not public."""
    family, kind, protocol, _, address = info
    if not is_public(str(address[0])):
        raise _NotPublic("this address is not public")
    return socket.socket(family, kind, protocol)


def is_public(address: str) -> bool:
    """Whether a text is the address of a host on the public internet, in the standard spelling.

    IPv6 addresses that embed an IPv4 address (mapped, compatible, 6to4, NAT64, Teredo) or have a zone are not public.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address) and (parsed.scope_id is not None or parsed not in _GLOBAL_UNICAST):
        return False
    special = any(parsed in network for network in _NOT_PUBLIC if network.version == parsed.version)
    return not special and parsed.is_global and not parsed.is_multicast


def _names_no_public_address(host: str) -> bool:
    """Whether a host is a literal address that is not public, or a name of localhost. Other names need the resolver."""
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        name = host.rstrip(".")
        return name == "localhost" or name.endswith(".localhost")
    return not is_public(host)


async def _look_up(
    host: str,
    port: int,
    lookups: NameLookups,
    *,
    allow_private: bool,
    family: socket.AddressFamily = socket.AF_UNSPEC,
) -> list[AddressInfo]:
    """The addresses of a host. Unless `allow_private`, raises OSError if one of them is not public."""
    infos = await lookups.look_up(host, port, family=family)
    if not allow_private and not all(is_public(str(info[4][0])) for info in infos):
        raise _NotPublic("this address is not public")
    return infos


def _resolver(*, allow_private: bool) -> Any:
    from aiohttp.abc import AbstractResolver, ResolveResult  # noqa: PLC0415

    lookups = NameLookups()

    class Resolver(AbstractResolver):
        """Looks names up in threads. Unless `allow_private`, refuses names with an address that is not public."""

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
        ) -> list[ResolveResult]:
            infos = await _look_up(host, port, lookups, allow_private=allow_private, family=family)
            return [
                ResolveResult(
                    hostname=host,
                    host=str(address[0]),
                    port=port,
                    family=kind,
                    proto=protocol,
                    flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
                )
                for kind, _, protocol, _, address in infos
            ]

        async def close(self) -> None:
            """Do nothing: there is no state."""

    return Resolver()
