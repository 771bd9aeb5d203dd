"""Requests that users can cause the server to make: short, small, and only to public addresses.

`judged_url` judges the text of a URL, with the parser that the HTTP client uses. The addresses that a name stands for
are judged when it is looked up, and each once more by `judged_socket`, as connect() is about to get it: no spelling of
an address and no name server that changes its answer comes between that and the connection. Redirects are not followed;
code that follows them calls `judged_url` for each.
"""

import asyncio
import re
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL


_LOOKUPS: Final = ThreadPoolExecutor(4, thread_name_prefix="looking-up")
"""Names are looked up in threads of their own, so that a name server that hangs holds up nothing else."""

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

AddressInfo = tuple[int, int, int, str, tuple[Any, ...]]
"""What getaddrinfo gives for one address: family, type, protocol, canonical name, socket address."""


class OutgoingFailed(Exception):
    """There was no answer. The message says why, for the operator; callers of the API must not see it."""


class UrlRefused(OutgoingFailed):
    """The text of the URL alone rules it out. The message depends on nothing else, and callers may see it."""


class Unreached(OutgoingFailed):
    """The connection was not made, or was lost before an answer began."""


class AddressRefused(OutgoingFailed):
    """The host is, or stands for, an address that is not public."""


class OutgoingAnswer(Struct, frozen=True):
    """What came back, of the body at most as much as was asked for."""

    status: int
    content_type: str
    body: bytes


class Outgoing:
    """One pool of connections; made when it is first needed."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self._session: aiohttp.ClientSession | None = None

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, maximum: int
    ) -> OutgoingAnswer:
        """Send a body. Raises OutgoingFailed, also for an answer that is late or larger than `maximum` bytes."""
        import aiohttp  # noqa: PLC0415 it takes long to import, and most installations never need it

        target = judged_url(url, allow_private=self._allow_private)
        if self._session is None:
            self._session = self._open()
        try:
            async with (
                asyncio.timeout(seconds),
                self._session.post(target, data=body, headers=headers, allow_redirects=False) as answer,
            ):
                data = await answer.content.read(maximum + 1)
                while len(data) <= maximum and (more := await answer.content.read(maximum + 1 - len(data))):
                    data += more
                if len(data) > maximum:
                    raise OutgoingFailed("the answer is too large")
                return OutgoingAnswer(answer.status, answer.content_type, data)
        except TimeoutError:
            raise OutgoingFailed("there was no answer in time") from None
        except aiohttp.ClientConnectorError as problem:
            if isinstance(problem.os_error, _NotPublic):
                raise AddressRefused("this address is not public") from None
            raise Unreached(str(problem)) from None
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as problem:
            raise Unreached(str(problem) or type(problem).__name__) from None
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            raise OutgoingFailed(str(problem) or type(problem).__name__) from None

    async def close(self) -> None:
        """Close what is open."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp  # noqa: PLC0415

        connector = aiohttp.TCPConnector(
            limit=200,
            limit_per_host=50,
            resolver=_resolver(allow_private=self._allow_private),
            socket_factory=None if self._allow_private else judged_socket,
        )
        return aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"user-agent": "Moothall-Interactions/1.0", "accept-encoding": "identity"},
        )


class _NotPublic(OSError):
    """A connection that is not made because of the address that it would go to."""


def judged_url(url: str, *, allow_private: bool) -> "URL":
    """Parse a URL that requests may go to, as far as its text tells.

    Raises UrlRefused unless it is one of http or https with a host, without user and password, at a port that is no
    other protocol's; AddressRefused for an address that is not public, unless `allow_private`.
    """
    from yarl import URL  # noqa: PLC0415 only what makes requests needs it

    try:
        parsed = URL(url)
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


def judged_socket(info: AddressInfo) -> socket.socket:
    """Make the socket for a connection to the address in `info`. Raises OSError for one that is not public."""
    family, kind, protocol, _, address = info
    if not is_public(str(address[0])):
        raise _NotPublic("this address is not public")
    return socket.socket(family, kind, protocol)


def is_public(address: str) -> bool:
    """Whether a text is the address of a host on the public internet, in the standard spelling.

    Those that lead on to an IPv4 address (mapped, compatible, 6to4, NAT64, Teredo) and those with a zone are not.
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
    """Whether a host is a literal address that is not public, or a name of this machine; other names are looked up."""
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        name = host.rstrip(".")
        return name == "localhost" or name.endswith(".localhost")
    return not is_public(host)


def _resolver(*, allow_private: bool) -> Any:
    from aiohttp.abc import AbstractResolver, ResolveResult  # noqa: PLC0415

    class Resolver(AbstractResolver):
        """Looks names up; unless it is allowed, none that stands for an address that is not public is known."""

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
        ) -> list[ResolveResult]:
            look_up_components = partial(socket.getaddrinfo, host, port, family=family, type=socket.SOCK_STREAM)
            infos = await asyncio.get_running_loop().run_in_executor(_LOOKUPS, look_up_components)
            if not allow_private and not all(is_public(str(info[4][0])) for info in infos):
                raise _NotPublic("this address is not public")
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
            """Nothing is kept."""

    return Resolver()
