"""`/metrics`, with access control: it reveals how busy a community is."""

import hmac
from collections.abc import Awaitable, Callable
from typing import Final

from moothall.api.address_limits import AddressLimits, send_refusal
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.metrics import CONTENT_TYPE, Metrics
from moothall.runtime.work_pool import PayerPool
from moothall.server.worker_metrics import MetricsCollector

Refresh = Callable[[], Awaitable[None]]
"""Reads the counters that need a query."""

_FORWARDING: Final = frozenset({b"x-forwarded-for", b"x-real-ip", b"forwarded", b"via"})
"""Headers of a request that a proxy has forwarded, trusted or not."""


class MetricsPage:
    """The counters of this process, and with a `collector` of its workers.

    With a token, they are for requests that carry it. Without one, they are for requests at an address of their own
    (`apart`), or from this machine itself and not through a proxy; all others get 404.
    """

    PATH: Final = "/metrics"

    def __init__(
        self,
        metrics: Metrics,
        limits: AddressLimits,
        *,
        token: str | None,
        apart: bool,
        refresh: Refresh,
        pool: PayerPool,
        collector: MetricsCollector | None = None,
    ) -> None:
        self._collector = collector
        self._pool = pool
        self._metrics = metrics
        self._refresh = refresh
        self._limits = limits
        self._authorization = None if token is None else b"bearer " + token.encode()
        self._apart = apart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        del receive
        try:
            self._check(scope)
        except Refusal as refusal:
            await send_refusal(scope, send, refusal)
            return
        await self._refresh()
        body = await self._pool.run(self._metrics.render)
        if self._collector is not None:
            body = await self._collector.add_workers(body)
        headers = [
            (b"content-type", CONTENT_TYPE.encode()),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
            (b"x-content-type-options", b"nosniff"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _check(self, scope: Scope) -> None:
        """Raises Refusal: 401 without the token, 404 where there is no page for the client, 405 for another method."""
        client = self._limits.client(scope)
        if self._authorization is not None:
            if not hmac.compare_digest(_authorization_of(scope), self._authorization):
                self._limits.note_refusal(client)
                raise Refusal(errors.NOT_AUTHENTICATED, headers={"www-authenticate": "Bearer"})
        elif not self._apart and (not client.loopback or _is_forwarded(scope)):
            raise Refusal(errors.NOT_FOUND)
        if scope["method"] not in {"GET", "HEAD"}:
            raise Refusal(errors.METHOD_NOT_ALLOWED, headers={"allow": "GET, HEAD"})


def _authorization_of(scope: Scope) -> bytes:
    """The Authorization header, the name of its scheme in lower case."""
    header: bytes = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    scheme, _, credentials = header.partition(b" ")
    return scheme.lower() + b" " + credentials.strip()


def _is_forwarded(scope: Scope) -> bool:
    return any(name in _FORWARDING for name, _ in scope["headers"])
