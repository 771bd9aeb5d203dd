"""A proxy in front of a server that notes what clients send, and what they are answered."""

import asyncio
import contextlib
import json
from typing import Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

_HOP = {"connection", "transfer-encoding", "content-length", "content-encoding", "keep-alive", "upgrade"}


class Exchange:
    """A request and its answer; `frame` of the gateway has no answer."""

    def __init__(self, method: str, path: str, headers: Any, body: bytes) -> None:
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.status = 0
        self.answer: Any = None


class Proxy:
    """Listens on a free port of this machine."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.exchanges: list[Exchange] = []
        self.frames: list[Any] = []
        self.url = ""

    async def start(self) -> None:
        """Begin to listen."""
        self._session = aiohttp.ClientSession(auto_decompress=True)
        application = web.Application(client_max_size=1 << 28)
        application.router.add_route("*", "/{tail:.*}", self._handle)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://localhost:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        """Stop listening."""
        await self._session.close()
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("upgrade", "").lower() == "websocket":
            return await self._forward_socket(request)
        body = await request.read()
        exchange = Exchange(request.method, request.raw_path, request.headers, body)
        self.exchanges.append(exchange)
        headers = CIMultiDict((name, value) for name, value in request.headers.items() if name.lower() not in _HOP)
        headers.pop("accept-encoding", None)
        async with self._session.request(
            request.method, self.server + request.raw_path, headers=headers, data=body or None, allow_redirects=False
        ) as answer:
            content = await answer.read()
            exchange.status = answer.status
            with contextlib.suppress(ValueError):
                exchange.answer = json.loads(content) if content else None
            kept = CIMultiDict((name, value) for name, value in answer.headers.items() if name.lower() not in _HOP)
            return web.Response(status=answer.status, headers=kept, body=content)

    async def _forward_socket(self, request: web.Request) -> web.WebSocketResponse:
        inner = web.WebSocketResponse(max_msg_size=0, compress=False)
        await inner.prepare(request)
        async with self._session.ws_connect(self.server + request.raw_path, max_msg_size=0) as outer:
            tasks = {
                asyncio.create_task(self._copy(inner, outer, True)),
                asyncio.create_task(self._copy(outer, inner, False)),
            }
            _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
            if outer.close_code:
                await inner.close(code=outer.close_code)
        return inner

    async def _copy(self, source: Any, target: Any, sent: bool) -> None:
        async for message in source:
            if message.type is aiohttp.WSMsgType.TEXT:
                if sent:
                    self.frames.append(json.loads(message.data))
                await target.send_str(message.data)
            elif message.type is aiohttp.WSMsgType.BINARY:
                if sent:
                    with contextlib.suppress(ValueError):
                        self.frames.append(json.loads(message.data))
                await target.send_bytes(message.data)
