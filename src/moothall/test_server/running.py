"""Runs the test server in this process until it is stopped, or its parent process ends."""

import asyncio
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

import msgspec
import uvicorn

from moothall.app.server import bind, http_config
from moothall.demo.community import Community
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.settings import Settings
from moothall.test_server.control import PREFIX, ControlApi, ServerInfo
from moothall.test_server.server import ControlledServer

log = logging.getLogger("moothall.test_server")

_LOOK_SECONDS: Final = 0.25
"""Between two looks whether the parent process is still there."""
_IDLE_SECONDS: Final = 86_400
"""A test's next request must not meet a connection that the server is just closing, as one after five seconds did."""
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 a folder of a random name is made in it


def data_folder() -> Path:
    """A new temporary folder, in memory where the system has such folders."""
    in_memory = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)
    return Path(tempfile.mkdtemp(prefix="moothall-test-", dir=_MEMORY if in_memory else None))


def run(
    community: Community,
    announce: Callable[[ServerInfo], None],
    is_ended: Callable[[], bool] = lambda: False,
    *,
    port: int = 0,
    **settings: Any,
) -> None:
    """Serve a community at 127.0.0.1 until SIGINT or SIGTERM, or until the parent process ends.

    `announce` is called once everything is ready. `is_ended` says whether a signal came before there was a server that
    handles signals. `settings` are those of the server. Raises OSError if the port is in
    use, and SystemExit if the community cannot be loaded.
    """
    folder = data_folder()
    try:
        sockets = bind("127.0.0.1", port)
        server = ControlledServer(
            Settings(
                host="127.0.0.1",
                port=sockets[0].getsockname()[1],
                data=folder,
                demo=False,
                allow_private_addresses=True,
                # As where boosts are sold: what a bot may do there without them.
                guild_features=(),
                guild_level=0,
                **settings,
            ),
            community,
        )
        application = _Application(server, announce)
        config = http_config(application, shutdown_seconds=1, timeout_keep_alive=_IDLE_SECONDS)
        process = _Process(config, application, is_ended)
        process.run(sockets)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if application.failure is not None:
        sys.exit(f"moothall: {application.failure}")


class _Application:
    """The platform and its control API as one ASGI application."""

    def __init__(self, server: ControlledServer, announce: Callable[[ServerInfo], None]) -> None:
        self.server = server
        self.control = ControlApi(server)
        self.announce = announce
        self.failure: Exception | None = None

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http" and (scope["path"] == PREFIX or scope["path"].startswith(f"{PREFIX}/")):
            await self.control(scope, receive, send)
        else:
            await self.server(scope, receive, send)

    async def _live(
        self,
        receive: Receive,
        send: Send,
    ) -> None:
        await receive()
        try:
            await self.server.start()
        except Exception as problem:
            self.failure = problem
            log.debug("the test server cannot start", exc_info=problem)
            await send({"type": "lifespan.startup.failed", "message": str(problem)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.server.stop()
        await send({"type": "lifespan.shutdown.complete"})


class _Process(uvicorn.Server):
    """uvicorn's server, which announces that it is ready and ends with its parent."""

    def __init__(self, config: uvicorn.Config, application: _Application, is_ended: Callable[[], bool]) -> None:
        super().__init__(config)
        self._is_ended = is_ended
        self._application = application
        self._parent = os.getppid()
        self._watch: asyncio.Task[None] | None = None

    async def startup(self, sockets: Any = None) -> None:
        """Start accepting connections and announce them."""
        if self._is_ended():
            self.should_exit = True
            return
        await super().startup(sockets)
        if self.started:
            self._application.announce(await self._application.control.describe())
            self._watch = asyncio.create_task(self._watch_parent())

    async def _watch_parent(self) -> None:
        while os.getppid() == self._parent:  # noqa: ASYNC110 no event tells of it
            await asyncio.sleep(_LOOK_SECONDS)
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End gracefully, with exit code 0; at a second SIGINT immediately."""
        del frame
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop accepting connections and close those that are open; requests under way end without an answer.

        uvicorn's own waits for them, a tenth of a second at least.
        """
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        await self._application.server.app.gateway.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await self.lifespan.shutdown()


def as_line(info: ServerInfo) -> str:
    """The server as one line of JSON."""
    return msgspec.json.encode(info).decode()
