"""Gateways that serve WebSockets on a port."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

import uvicorn

from moothall.bus.local import LocalBus
from moothall.gateway.node import GatewayNode
from moothall.server.http_protocol import BoundedHttp
from moothall.server.websocket_protocol import GatewayWebSocket
from tests.gateway.peer import World, create_node


@contextlib.asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[tuple[GatewayNode, LocalBus, str]]:
    """A node, its bus, and its URL."""
    node, bus = create_node(World(), **settings)
    async with serving_application(node.serve) as (host, port):
        try:
            yield node, bus, f"ws://{host}:{port}/gateway?v=10&encoding=json"
        finally:
            await node.close()


@contextlib.asynccontextmanager
async def serving_application(application: Any) -> AsyncIterator[tuple[str, int]]:
    """The address at which an ASGI application is served as the program serves its own."""
    config = uvicorn.Config(
        application,
        http=BoundedHttp,
        ws=GatewayWebSocket,
        ws_per_message_deflate=False,
        interface="asgi3",
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            await task
