"""A proxy that stands in front of a server, rightly or wrongly configured."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

_HOP = {"connection", "transfer-encoding", "content-length", "date", "server"}


class Front:
    """Handles requests for a server at `target`."""

    def __init__(
        self,
        target: str,
        *,
        tells_addresses: bool = True,
        passes_sockets: bool = True,
        socket_paths: Collection[str] = ("/gateway", "/"),
    ) -> None:
        """`socket_paths` are those of WebSockets that are passed on, if any are."""
        self._target = target
        self._forwarding = {"X-Forwarded-For": "203.0.113.7"} if tells_addresses else {}
        self._passes_sockets = passes_sockets
        self._socket_paths = socket_paths

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if "Upgrade" in request.headers:
            passes = self._passes_sockets and request.path in self._socket_paths
            return await self._socket(request) if passes else web.Response(status=400)
        headers = {**request.headers, **self._forwarding}
        async with (
            aiohttp.ClientSession() as session,
            session.request(request.method, self._target + request.path_qs, headers=headers) as response,
        ):
            kept = {name: value for name, value in response.headers.items() if name.lower() not in _HOP}
            return web.Response(status=response.status, headers=kept, body=await response.read())

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        client = web.WebSocketResponse()
        await client.prepare(request)
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(self._target + request.path_qs, headers=self._forwarding) as server,
        ):
            await client.send_str(await server.receive_str())
            await client.receive()
        return client


async def redirect(_request: web.Request) -> web.StreamResponse:
    """Lead everything elsewhere."""
    raise web.HTTPMovedPermanently("https://elsewhere.example/healthz")


async def bad_gateway(_request: web.Request) -> web.StreamResponse:
    """Say what a proxy says that does not reach its server."""
    return web.Response(status=502, text="<h1>Bad Gateway</h1>")


async def welcome(_request: web.Request) -> web.StreamResponse:
    """Say what a new web server says."""
    return web.Response(text="<h1>It works!</h1>")


async def stranger(_request: web.Request) -> web.StreamResponse:
    """Answer as another Moothall."""
    return web.json_response({"status": "ok"})


@asynccontextmanager
async def listening(handler: object) -> AsyncIterator[str]:
    """Serve with a handler of aiohttp; the URL."""
    server = web.Server(handler)  # type: ignore[arg-type]
    listener = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    finally:
        listener.close()
        await server.shutdown(0.1)
