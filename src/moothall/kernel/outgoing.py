"""Requests that the server makes to others: short, small, never redirected, and not to private addresses.

An address is judged when it is connected to, after its name has been looked up, so that no name can lead inside.
"""

import asyncio
import socket
from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct

if TYPE_CHECKING:
    import aiohttp


class OutgoingFailed(Exception):
    """There was no answer; the message says why."""


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

        host = urlsplit(url).hostname or ""
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
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            raise OutgoingFailed(str(problem) or type(problem).__name__) from None

    async def close(self) -> None:
        """Close what is open."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp  # noqa: PLC0415

        resolver: Any = None if self._allow_private else _resolver()
        connector = aiohttp.TCPConnector(limit=200, limit_per_host=50, resolver=resolver)
        return aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"user-agent": "Moothall-Interactions/1.0", "accept-encoding": "identity"},
        )


def _resolver() -> Any:
    from aiohttp.abc import AbstractResolver, ResolveResult  # noqa: PLC0415
    from aiohttp.resolver import DefaultResolver  # noqa: PLC0415

    class Public(AbstractResolver):
        """Looks names up, and knows none that leads to a private address."""

        def __init__(self) -> None:
            self._inner = DefaultResolver()

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            found = await self._inner.resolve(host, port, family)
            if any(_is_private(each["host"]) for each in found):
                raise OSError("this address is private")
            return found

        async def close(self) -> None:
            await self._inner.close()

    return Public()


def _is_private(host: str) -> bool:
    """Whether a literal address is not one of the public internet; a name is none."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return not address.is_global or address.is_multicast
