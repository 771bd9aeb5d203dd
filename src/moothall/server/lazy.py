"""ASGI applications that are imported and built by their first request."""

from collections.abc import Awaitable, Callable

from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.lifecycle import Lazy

Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class LazyApplication:
    """An ASGI application that `build` returns; it is called once, on a thread, since it imports."""

    def __init__(self, build: Callable[[], Application]) -> None:
        self._application = Lazy(build)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, building the application first if this is the first one."""
        application = await self._application.get()
        await application(scope, receive, send)
