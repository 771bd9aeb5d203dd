"""What one address may ask of everything but the API and the gateway: pages, the CDN, files, pictures scaled for it."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final

from msgspec import Struct

from moothall.kernel.pipeline import refused, too_many
from moothall.kernel.ratelimit import Rate, RateLimiter
from moothall.kernel.request import client_address, is_loopback, network_of
from moothall.objects.errors import Refusal

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

WINDOW_SECONDS: Final = 10.0
_SCALING: Final = "scaling"
_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"Retry-After"),
)


class Client(Struct, frozen=True):
    """Where a request comes from, as limits count it."""

    network: str
    loopback: bool


class Window(Struct, frozen=True):
    """How many requests an address may make in ten seconds to the paths that begin with one of `prefixes`."""

    name: str
    prefixes: tuple[str, ...]
    requests: int


class AddressLimits:
    """The windows of all addresses; without a limiter, nothing is limited.

    A request is counted in the first of `windows` that has its path. `scaling_ms` is the computing time, in
    milliseconds of one core, that an address may cause in ten seconds by pictures that have to be made for it.
    """

    def __init__(
        self,
        limiter: RateLimiter | None,
        *,
        trusted_proxies: Callable[[str], bool] = lambda _address: False,
        windows: Sequence[Window] = (),
        scaling_ms: int = 0,
    ) -> None:
        self._limiter = limiter
        self._trusted = trusted_proxies
        self._windows = [(window, Rate(window.requests, WINDOW_SECONDS)) for window in windows]
        self._scaling = Rate(scaling_ms, WINDOW_SECONDS)

    def client(self, scope: Scope) -> Client:
        """Where a request comes from."""
        address = client_address(scope, self._trusted)
        return Client(network_of(address), is_loopback(address))

    def check(self, scope: Scope) -> None:
        """Count a request. Raises Refusal: 429 if its address has made too many."""
        if self._limiter is None:
            return
        path: str = scope["path"]
        for window, rate in self._windows:
            if path.startswith(window.prefixes):
                client = self.client(scope)
                wait = self._limiter.spend(window.name, rate, client.network, loopback=client.loopback)
                if wait:
                    raise too_many(wait, "user", [])
                return

    def check_scaling(self, client: Client) -> None:
        """Raises Refusal: 429 if as much has been computed for a client as may be."""
        if wait := self._spend_scaling(client, 0):
            raise too_many(wait, "user", [])

    def charge_scaling(self, client: Client, seconds: float) -> None:
        """Count what has been computed for a client, which may be more than was left."""
        self._spend_scaling(client, seconds * 1000)

    def note_refusal(self, client: Client) -> None:
        """Count an answer of 401 against an address, as the API does."""
        if self._limiter is not None:
            self._limiter.note_refusal(client.network, loopback=client.loopback)

    def _spend_scaling(self, client: Client, milliseconds: float) -> float:
        if self._limiter is None:
            return 0.0
        return self._limiter.spend(_SCALING, self._scaling, client.network, milliseconds, loopback=client.loopback)


async def send_refusal(scope: Scope, send: Send, refusal: Refusal) -> None:
    """Answer with a refusal in the API's error shape, which any web page may read."""
    answer = refused(refusal)
    headers = [*answer.headers, *_HEADERS, (b"content-length", b"%d" % len(answer.body))]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else answer.body})
