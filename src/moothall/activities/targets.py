"""The URL mappings of applications, cached until one changes, and connections to their targets."""

import asyncio
import ipaddress
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from moothall.activities.upstream import Destination, Request, Response, Upstream
from moothall.api.context import Services
from moothall.objects.application import ApplicationFlags
from moothall.objects.ids import ApplicationId
from moothall.objects.url_mapping import MappedPath, UrlMap
from moothall.resources.application.embedded_activity.objects import url_mappings
from moothall.resources.application.queries import select_application
from moothall.runtime.cache import Cache
from moothall.runtime.outgoing import ConnectionFailed, checked_url, guarded_connector
from moothall.storage.tables import applications

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

_CACHED_SECONDS: Final = 1.0
"""How long a change of another process, or of another database client, may go unnoticed."""
_MAX_CACHED: Final = 1_000
_WEBSOCKETS: Final = 1_024
_WEBSOCKETS_PER_TARGET: Final = 128
_LOCAL_SUFFIXES: Final = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


class _Entry(Struct, frozen=True):
    url_map: UrlMap | None
    """None for an application without an Activity."""
    verify_key: str
    expires_at: float


class Address(NamedTuple):
    """Where the authority of a target is reached."""

    destination: Destination
    host_header: bytes


class Targets:
    """Finds where requests to Activities go. One pool of connections serves all applications."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._entries: Cache[ApplicationId, _Entry] = Cache(_MAX_CACHED)
        services.database.watch(applications.name, self._entries.forget_all)
        self._addresses: Cache[tuple[str, bool], Address] = Cache(_MAX_CACHED)
        self._upstream = Upstream()
        self._session: aiohttp.ClientSession | None = None

    @property
    def _allow_private(self) -> bool:
        return self._services.limits.allow_private_addresses

    async def find(self, application_id: ApplicationId, path: str) -> MappedPath | None:
        """The target of a percent-encoded path; None if the application has no Activity or no mapping fits."""
        now = asyncio.get_running_loop().time()
        entry = self._entries.get(application_id)
        if entry is None or entry.expires_at < now:
            entry = await self._read(application_id, now + _CACHED_SECONDS)
            self._entries.keep(application_id, entry)
        return None if entry.url_map is None else entry.url_map.find(path)

    def verify_key(self, application_id: ApplicationId) -> str:
        """The public key of an application whose target is in the cache, in hexadecimal; empty for another."""
        entry = self._entries.get(application_id)
        return "" if entry is None else entry.verify_key

    def address(self, authority: str) -> Address:
        """Where an authority is reached. Raises OutgoingFailed as `url`."""
        key = authority, self._allow_private
        address = self._addresses.get(key)
        if address is None:
            url = self.url(MappedPath(authority, "/"), "")
            destination = Destination(str(url.host), url.port or 443, url.scheme == "https")
            address = Address(destination, str(url.host_port_subcomponent).encode())
            self._addresses.keep(key, address)
        return address

    async def request(self, address: Address, request: Request, *, seconds: float) -> Response:
        """Send a request to a target. Raises as `Upstream.request`."""
        return await self._upstream.request(
            address.destination, request, seconds=seconds, allow_private=self._allow_private
        )

    def url(self, target: MappedPath, query: str, *, websocket: bool = False) -> "URL":
        """The URL of a request. Raises OutgoingFailed for an address that is not public, as `checked_url`."""
        scheme = "http" if self._is_local(target.authority) else "https"
        checked = checked_url(
            f"{scheme}://{target.authority}{target.path}{'?' if query else ''}{query}",
            allow_private=self._allow_private,
            encoded=True,
        )
        return checked.with_scheme(scheme.replace("http", "ws", 1)) if websocket else checked

    def session(self) -> "aiohttp.ClientSession":
        """The client of WebSockets, which connects to public addresses only, unless the operator allows others."""
        import aiohttp  # noqa: PLC0415 it takes long to import, and most installations never need it

        if self._session is None:
            trace = aiohttp.TraceConfig()
            trace.on_request_redirect.append(_refuse_redirect)
            self._session = aiohttp.ClientSession(
                trace_configs=[trace],
                connector=guarded_connector(
                    allow_private=self._allow_private,
                    limit=_WEBSOCKETS,
                    limit_per_host=_WEBSOCKETS_PER_TARGET,
                    tls=self._upstream.tls,
                ),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("user-agent", "accept", "accept-encoding", "content-type"),
            )
        return self._session

    async def close(self) -> None:
        """Close the connections."""
        self._upstream.close()
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _read(self, application_id: ApplicationId, expires_at: float) -> _Entry:
        async with self._services.database.read() as reader:
            row = await select_application(reader, application_id)
        if row is None or row.disabled or not row.flags & ApplicationFlags.EMBEDDED:
            return _Entry(None, "", expires_at)
        return _Entry(UrlMap(url_mappings(row)), row.verify_key, expires_at)

    def _is_local(self, authority: str) -> bool:
        """Whether a target is on the operator's own network, where it is reached over plain HTTP."""
        if not self._allow_private:
            return False
        host = authority.rpartition(":")[0] if authority.rpartition(":")[2].isdigit() else authority
        try:
            return not ipaddress.ip_address(host.strip("[]")).is_global
        except ValueError:
            return "." not in host or host.endswith(_LOCAL_SUFFIXES)


async def _refuse_redirect(
    _session: "aiohttp.ClientSession", _context: object, params: "aiohttp.TraceRequestRedirectParams"
) -> None:
    """End a handshake that is answered with a redirect, which aiohttp would follow with all headers to any host."""
    params.response.close()
    raise ConnectionFailed("the target redirects a WebSocket")
