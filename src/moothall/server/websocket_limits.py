"""How many WebSockets a network may open, and how many frames without a message it may send."""

from collections.abc import Callable
from typing import Final

from moothall.api.pipeline import refusal_response, too_many_requests
from moothall.api.ratelimit import Rate, RateLimiter
from moothall.objects.errors import Refusal
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.websocket_frames import NetworkFrames, frame_budget

OPENED: Final = Rate(300, 10.0)
"""WebSockets that a network may open: a handshake costs as much as a request, and needs no token."""


class WebSocketLimits:
    """The limits of all networks. `network_of` returns the network of a client, "" for loopback."""

    def __init__(self, limiter: RateLimiter | None, network_of: Callable[[Scope], str]) -> None:
        self._limiter = limiter
        self._network_of = network_of
        self.frames = NetworkFrames()

    async def admit(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Count a WebSocket for its network; False if it was refused, with 429, as one too many."""
        network = self._network_of(scope)
        if self._limiter is not None:
            wait = self._limiter.spend("websockets", OPENED, network, loopback=not network)
            if wait:
                await receive()
                await _refuse(send, too_many_requests(wait, "user", []))
                return False
        if (budget := frame_budget(scope)) is not None:
            budget.join(self.frames, network)
        return True


async def _refuse(send: Send, refusal: Refusal) -> None:
    """Answer a handshake with a refusal of the API, which is no WebSocket."""
    response = refusal_response(refusal)
    headers = [*response.headers, (b"content-length", b"%d" % len(response.body))]
    await send({"type": "websocket.http.response.start", "status": response.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": response.body})
