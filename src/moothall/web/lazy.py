"""ASGI applications that are imported and built by their first request."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class LazyApplication:
    """An ASGI application that `build` returns; it is called once, on a thread, since it imports."""

    def __init__(self, build: Callable[[], Application]) -> None:
        self._build = build
        self._lock = asyncio.Lock()
        self._application: Application | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, building the application first if this is the first one."""
        if self._application is None:
            async with self._lock:
                if self._application is None:
                    self._application = await asyncio.to_thread(self._build)
        await self._application(scope, receive, send)
