"""Which service answers a connection, by its origin, its path, and the process that it reaches."""

from collections.abc import Awaitable, Callable, Hashable, MutableMapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 both register endpoints
from moothall.activities.origin import ActivityOrigins
from moothall.activities.proxy import ActivityProxy
from moothall.api.address_limits import AddressLimits, Window, send_refusal
from moothall.api.context import Services
from moothall.api.pipeline import Pipeline
from moothall.api.ratelimit import RateLimiter
from moothall.api.request.http_request import client_network
from moothall.app.files import FileRoutes
from moothall.app.services import (
    activities_url,
    base_url,
)
from moothall.app.voice_process import VoiceSocket
from moothall.app.voice_relay import VoiceRelay, voice_version
from moothall.cdn.attachments import Attachments
from moothall.cdn.expressions import ExpressionFiles
from moothall.cdn.external import ExternalMedia
from moothall.cdn.harvests import HarvestFiles
from moothall.cdn.images import ImageFiles
from moothall.cdn.uploads import UploadReceiver
from moothall.demo.examples import example_ids
from moothall.demo.record import DemoRecord
from moothall.gateway.node import GatewayNode
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId
from moothall.pages.paths import is_browser_at_api, is_client, is_documentation, is_page, opens_client
from moothall.resources.discovery.listing import DiscoveryListing
from moothall.resources.discovery.queries import DiscoverableRow
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.lanes import enter_lane
from moothall.runtime.turns import room_in_turn
from moothall.server.health import HealthPage
from moothall.server.lazy import LazyApplication
from moothall.server.metrics_page import MetricsPage
from moothall.server.websocket_limits import WebSocketLimits
from moothall.server.writer_relay import WriterRelay
from moothall.settings import Settings, icon_type
from moothall.storage.database import WritesElsewhere

if TYPE_CHECKING:
    from moothall.pages.client_files import ClientFiles
    from moothall.pages.documentation_files import DocumentationFiles
    from moothall.pages.documents import Documents
    from moothall.pages.site import Site

_HSTS = b"strict-transport-security"

Trusts = Callable[[str], bool]
"""Whether an address is that of a proxy whose headers count."""


class Routes:
    """The ASGI application of HTTP requests and WebSockets. In a worker, `writer` answers what the worker does not."""

    def __init__(
        self,
        settings: Settings,
        services: Services,
        gateway: GatewayNode,
        *,
        pipeline: Pipeline,
        health_page: HealthPage,
        metrics_page: MetricsPage,
        limits: AddressLimits,
        writer: WriterRelay | None,
        voice_socket: VoiceSocket | None,
        trusts: Trusts,
        find_demo: Callable[[], DemoRecord | None],
    ) -> None:
        self._settings = settings
        self._services = services
        self._gateway = gateway
        self._pipeline = pipeline
        self._health_page = health_page
        self._metrics_page = metrics_page
        self._limits = limits
        self._writer = writer
        self._trusts = trusts
        self._find_demo = find_demo
        self._websocket_limits = WebSocketLimits(services.limiter, self._network_of)
        self._voice = None if voice_socket is None else VoiceRelay(voice_socket, self._network_of)
        self._hsts = settings.hsts if base_url(settings).startswith("https:") else None
        self._metrics_port = None if settings.metrics_address is None else settings.metrics_address[1]
        self.activities = build_activities(services, settings, trusts)
        self.files = FileRoutes(settings, services, limits)
        self._documents = LazyApplication(self._build_documents)
        self._site = LazyApplication(self._build_site)
        self._client = LazyApplication(self._build_client)
        self._documentation = LazyApplication(self._build_documentation)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "http":
            enter_lane(partial(self._lane_of, scope))
            await room_in_turn()
            if self._writer is not None and self._application_of(scope) is None:
                await self._serve_as_worker(self._writer, scope, receive, send)
            else:
                await self._serve_request(scope, receive, send)
        elif self._metrics_port is not None and _port_of(scope) == self._metrics_port:
            await send({"type": "websocket.close"})
        elif not await self._websocket_limits.admit(scope, receive, send):
            return
        elif (application_id := self._application_of(scope)) is not None and self.activities is not None:
            await self.activities.serve_websocket(scope, receive, send, application_id)
        elif self._voice is not None and (version := voice_version(scope)) is not None:
            await self._voice.serve(scope, receive, send, version)
        else:
            await self._gateway.serve(scope, receive, send)

    def _serve_request(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request of any origin. What it returns is to be awaited, as one coroutine for all that it calls."""
        if self._hsts is not None:
            send = with_header(send, _HSTS, self._hsts.encode())
        if self._metrics_port is not None and _port_of(scope) == self._metrics_port:
            return self._serve_metrics(scope, receive, send)
        if (application_id := self._application_of(scope)) is not None and self.activities is not None:
            return self.activities.serve(scope, receive, send, application_id)
        return self._serve_http(scope, receive, send)

    async def _serve_as_worker(self, writer: WriterRelay, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a read of the API; pass on everything else."""
        path: str = scope["path"]
        is_read = scope["method"] in {"GET", "HEAD", "OPTIONS"} and path.startswith("/api/")
        if is_read and not path.endswith("/openapi.json") and not is_browser_at_api(scope):
            answer = send if self._hsts is None else with_header(send, _HSTS, self._hsts.encode())
            # What is kept of tables that have changed is forgotten before the first of it is used.
            self._services.database.read()
            try:
                await self._pipeline(scope, receive, answer)
            except WritesElsewhere:
                pass
            else:
                return
        await writer(scope, receive, send)

    def _serve_http(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request of the platform's own origin, as `_serve_request`."""
        path: str = scope["path"]
        if path.startswith("/api/") and not path.endswith("/openapi.json") and not is_browser_at_api(scope):
            return self._pipeline(scope, receive, send)
        if path in {HealthPage.PATH, HealthPage.READY_PATH}:
            return self._health_page(scope, send)
        return self._serve_limited(scope, receive, send)

    def _application_of(self, scope: Scope) -> ApplicationId | None:
        """The application whose Activity has the origin of a request; None for the platform's own origin."""
        return None if self.activities is None else self.activities.origins.application_of(scope)

    async def _serve_limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve pages, files and documents, within the limits of an address."""
        try:
            self._limits.check(scope)
        except Refusal as refusal:
            await self._limits.delay_refusal(scope)
            await send_refusal(scope, send, refusal)
            return
        path: str = scope["path"]
        if is_page(path):
            page = self._client if opens_client(scope) else self._site
            await page(scope, receive, send)
        elif is_client(path):
            await self._client(scope, receive, send)
        elif path == MetricsPage.PATH and self._metrics_port is None:
            await self._metrics_page(scope, receive, send)
        elif is_documentation(path):
            await self._documentation(scope, receive, send)
        else:
            serve = self.files.find(path) or self._documents
            await serve(scope, receive, send)

    async def _serve_metrics(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the metrics at their own address, and nothing else there."""
        try:
            self._limits.check(scope)
            if scope["path"] != MetricsPage.PATH:
                raise Refusal(errors.NOT_FOUND)
        except Refusal as refusal:
            await send_refusal(scope, send, refusal)
            return
        await self._metrics_page(scope, receive, send)

    def _lane_of(self, scope: Scope) -> Hashable:
        """The lane in which a request waits for its turn: its account's if that is known by now, else its network's."""
        return self._pipeline.known_account(scope) or self._network_of(scope)

    def _network_of(self, scope: Scope) -> str:
        return client_network(scope, self._trusts)

    # Starlette and the pages are imported with the first page: they take 4% of the time to start.

    def _build_site(self) -> "Site":
        from moothall.pages.site import Site  # noqa: PLC0415

        return Site(self._services, trusted_proxies=self._trusts)

    def _build_documents(self) -> "Documents":
        from moothall.app.api_description import describe_in_process  # noqa: PLC0415
        from moothall.pages.documents import Documents  # noqa: PLC0415

        gateway_url = self._gateway.settings.public_url
        examples = None if (demo := self._find_demo()) is None else example_ids(demo)
        theme = self._settings.theme_css
        icon = None if self._settings.instance_icon is None else self._settings.instance_icon.read_bytes()
        url = base_url(self._settings)
        return Documents(
            partial(describe_in_process, url, examples),
            public_url=url,
            gateway_url=gateway_url,
            limits=lambda: self._services.limits,
            search=self._search_guilds,
            theme=b"" if theme is None else theme.read_bytes(),
            icon=None if icon is None else (icon, icon_type(icon) or "image/png"),
        )

    async def _search_guilds(self, query: str, category_id: int | None) -> Sequence[DiscoverableRow]:
        if not self._services.limits.discovery:
            return ()
        return await self._services.resources[DiscoveryListing].search(query, category_id=category_id)

    def _build_documentation(self) -> "DocumentationFiles":
        from moothall.pages.documentation_files import DocumentationFiles  # noqa: PLC0415

        return DocumentationFiles()

    def _build_client(self) -> "ClientFiles":
        from moothall.pages.client_files import ClientFiles  # noqa: PLC0415

        origins = None if self.activities is None else self.activities.origins.sources()
        themed = self._settings.theme_css is not None
        return ClientFiles(public_url=base_url(self._settings), activities=origins, themed=themed)


def build_activities(
    services: Services, settings: Settings, trusted_proxies: Callable[[str], bool]
) -> ActivityProxy | None:
    """The proxy of Activities; None without an activities host."""
    url = activities_url(settings)
    if url is None:
        return None
    window = Window("activities", ("",), settings.rate_limit_activities)
    limits = AddressLimits(services.limiter, trusted_proxies=trusted_proxies, windows=(window,))
    return ActivityProxy(services, ActivityOrigins(url, base_url(settings)), limits)


def address_limits(
    settings: Settings, limiter: RateLimiter | None, trusted_proxies: Callable[[str], bool]
) -> AddressLimits:
    """The limits of an address on everything but the API and the gateway."""
    return AddressLimits(
        limiter,
        trusted_proxies=trusted_proxies,
        windows=(
            Window(
                "attachments",
                (Attachments.PREFIX, HarvestFiles.PREFIX, UploadReceiver.PREFIX),
                settings.rate_limit_attachments,
            ),
            Window("external", (ExternalMedia.PREFIX,), settings.rate_limit_external),
            Window("files", (*ImageFiles.PREFIXES, *ExpressionFiles.PREFIXES), settings.rate_limit_files),
            Window("pages", ("",), settings.rate_limit_pages),
        ),
        scaling_ms=settings.rate_limit_scaling_ms,
    )


def with_header(send: Send, name: bytes, value: bytes) -> Send:
    """A `send` that adds a header to every response."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (name, value)]
        await send(message)

    return sending


def _port_of(scope: Scope) -> int | None:
    """The local port of a connection."""
    server = scope.get("server")
    return None if server is None else server[1]
