"""Requests that the server makes to others: short, small, never redirected, and not to private addresses.

An address is judged when it is connected to, after its name has been looked up, so that no name can lead inside.
"""

import asyncio
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

if TYPE_CHECKING:
    import aiohttp


_LOOKUPS: Final = ThreadPoolExecutor(4, thread_name_prefix="looking-up")
"""Names are looked up in threads of their own, so that a name server that hangs holds up nothing else."""
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")


class OutgoingFailed(Exception):
    """There was no answer; the message says why."""


class Unreached(OutgoingFailed):
    """The connection was not made, or was lost before an answer began."""


class AddressRefused(OutgoingFailed):
    """The address is one of the operator's own network."""


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
        self, url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, most: int
    ) -> OutgoingAnswer:
        """Send a body. Raises OutgoingFailed, also for an answer that is late or larger than `most` bytes."""
        import aiohttp  # noqa: PLC0415 it takes long to import, and most installations never need it

        try:
            host = urlsplit(url).hostname or ""
        except ValueError as problem:
            raise OutgoingFailed(str(problem)) from None
        if not self._allow_private and _is_private(host):
            raise AddressRefused("this address is private")
        if self._session is None:
            self._session = self._open()
        try:
            async with (
                asyncio.timeout(seconds),
                self._session.post(url, data=body, headers=headers, allow_redirects=False) as answer,
            ):
                data = await answer.content.read(most + 1)
                while len(data) <= most and (more := await answer.content.read(most + 1 - len(data))):
                    data += more
                if len(data) > most:
                    raise OutgoingFailed("the answer is too large")
                return OutgoingAnswer(answer.status, answer.content_type, data)
        except TimeoutError:
            raise OutgoingFailed("there was no answer in time") from None
        except aiohttp.ClientConnectorError as problem:
            if isinstance(problem.os_error, _PrivateAddress):
                raise AddressRefused("this address is private") from None
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

        resolver = _resolver(allow_private=self._allow_private)
        connector = aiohttp.TCPConnector(limit=200, limit_per_host=50, resolver=resolver)
        return aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"user-agent": "Moothall-Interactions/1.0", "accept-encoding": "identity"},
        )


class _PrivateAddress(OSError):
    """A name that leads to a private address."""


def _resolver(*, allow_private: bool) -> Any:
    from aiohttp.abc import AbstractResolver, ResolveResult  # noqa: PLC0415

    class Resolver(AbstractResolver):
        """Looks names up; unless it is allowed, none that leads to a private address is known."""

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
        ) -> list[ResolveResult]:
            look = partial(socket.getaddrinfo, host, port, family=family, type=socket.SOCK_STREAM)
            found = await asyncio.get_running_loop().run_in_executor(_LOOKUPS, look)
            if not allow_private and any(_is_private(str(each[4][0])) for each in found):
                raise _PrivateAddress("this address is private")
            return [
                ResolveResult(
                    hostname=host,
                    host=str(address[0]),
                    port=port,
                    family=kind,
                    proto=protocol,
                    flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
                )
                for kind, _, protocol, _, address in found
            ]

        async def close(self) -> None:
            """Nothing is kept."""

    return Resolver()


def _is_private(host: str) -> bool:
    """Whether a literal address is not one of the public internet; a name is none."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    if isinstance(address, IPv6Address):
        within = _carried(address)
        if within is not None:
            address = within
    return not address.is_global or address.is_multicast


def _carried(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address to which an IPv6 address leads on; None for one that is just itself."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    return IPv4Address(int(address) & 0xFFFFFFFF) if address in _TRANSLATED else None
