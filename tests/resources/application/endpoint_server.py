"""An interactions endpoint that verifies signatures with PyNaCl, or fails to in a chosen manner."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey


class EndpointServer:
    """A server that records the interactions it receives and answers in a chosen manner."""

    def __init__(self, verify_key: str, manner: str) -> None:
        self.key = VerifyKey(bytes.fromhex(verify_key))
        self.manner = manner
        self.requests: list[Any] = []
        self.url = ""
        self.stop: Callable[[], Awaitable[None]]
        """Close the port."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        signed = request.headers["X-Signature-Timestamp"].encode() + body
        try:
            self.key.verify(signed, bytes.fromhex(request.headers["X-Signature-Ed25519"]))
        except BadSignatureError:
            if self.manner != "believes anything":
                return web.Response(status=401)
        self.requests.append(await request.json())
        if self.manner == "says something else":
            return web.json_response({"type": 5})
        if self.manner == "is redirected":
            return web.Response(status=302, headers={"location": self.url})
        if self.manner == "fails":
            return web.Response(status=500)
        return web.json_response({"type": 1})


@asynccontextmanager
async def endpoint(verify_key: str, manner: str = "is right") -> AsyncIterator[EndpointServer]:
    """A running endpoint."""
    server = EndpointServer(verify_key, manner)
    application = web.Application()
    application.router.add_post("/interactions", server.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    server.url = f"http://127.0.0.1:{port}/interactions"
    server.stop = site.stop
    try:
        yield server
    finally:
        await runner.cleanup()
