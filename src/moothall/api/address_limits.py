"""Rate limits by client address for pages, files and scaled images. The API and the gateway have their own."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from moothall.api.pipeline import refusal_of, refusal_response, too_many_requests
from moothall.api.ratelimit import Rate, RateLimiter
from moothall.api.request.http_request import client_address, is_loopback, network_of
from moothall.objects.errors import Refusal
from moothall.runtime.asgi import Scope, Send
from moothall.runtime.budgets import Payer, WorkRefused

WINDOW_SECONDS: Final = 10.0
_SCALING: Final = "scaling"
_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"Retry-After"),
)


class Window(Struct, frozen=True):
    """The maximum number of requests of an address in ten seconds to paths that begin with one of `prefixes`."""

    name: str
    prefixes: tuple[str, ...]
    requests: int


class AddressLimits:
    """The rate limits of all addresses; without a limiter, none is enforced.

    A request is counted in the first of `windows` that matches its path. `scaling_ms` is the CPU time, in
    milliseconds, that an address may cause in ten seconds with images that are scaled for it.
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
        self.scaling = ScalingLimit(limiter, Rate(scaling_ms, WINDOW_SECONDS))
        """Whom the work of scaling images is charged to."""

    def client(self, scope: Scope) -> Payer:
        """The client of a request, which has no account here."""
        address = client_address(scope, self._trusted)
        return Payer(None, network_of(address), is_loopback(address))

    def check(self, scope: Scope) -> None:
        """Count a request. Raises Refusal: 429 if its address has exceeded the limit."""
        if self._limiter is None:
            return
        path: str = scope["path"]
        for window, rate in self._windows:
            if path.startswith(window.prefixes):
                client = self.client(scope)
                wait = self._limiter.spend(window.name, rate, client.network, loopback=client.loopback)
                if wait:
                    raise too_many_requests(wait, "user", [])
                return

    async def delay_refusal(self, scope: Scope) -> None:
        """Count a response of 429 against an address, and return once it may be sent."""
        if self._limiter is not None:
            await self._limiter.delays.delay(self.client(scope))

    def note_refusal(self, client: Payer) -> None:
        """Count a response of 401 against an address, as the API does."""
        if self._limiter is not None:
            self._limiter.note_refusal(client.network, loopback=client.loopback)


class ScalingLimit:
    """The CPU time for scaling images: a limit of its own, which the workers of one machine share."""

    def __init__(self, limiter: RateLimiter | None, rate: Rate) -> None:
        self._limiter = limiter
        self._rate = rate

    def check(self, payer: Payer) -> None:
        """Raise Refusal: 429 for a network that has nothing left."""
        if wait := self._spend(payer, 0):
            raise too_many_requests(wait, "user", [])

    def charge_cpu(self, payer: Payer, seconds: float) -> None:
        """Count CPU time that was spent for a network, which may be more than was left."""
        self._spend(payer, seconds * 1000)

    def _spend(self, payer: Payer, milliseconds: float) -> float:
        if self._limiter is None:
            return 0.0
        return self._limiter.spend(_SCALING, self._rate, payer.network, milliseconds, loopback=payer.loopback)


async def send_refusal(scope: Scope, send: Send, problem: Refusal | WorkRefused) -> None:
    """Send a refusal in the API's error shape, which any web page may read."""
    response = refusal_response(refusal_of(problem))
    headers = [*response.headers, *_HEADERS, (b"content-length", b"%d" % len(response.body))]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else response.body})
