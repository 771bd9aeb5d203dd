"""Serving the platform with uvicorn: its configuration, sockets, and start and end of a process."""

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from types import FrameType
from typing import Any, Final, cast

import uvicorn
from msgspec import structs

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 both register endpoints
from moothall.app.application import App
from moothall.app.cluster import ClusterRole
from moothall.runtime.sockets import bind_all
from moothall.server.handover import Handover, WorkerHttp, accept_passed_on
from moothall.server.http_protocol import BoundedHttp
from moothall.server.metrics_page import MetricsPage
from moothall.server.websocket_protocol import GatewayWebSocket
from moothall.server.writer_relay import IDLE_SECONDS, RelayedRequests
from moothall.settings import Settings
from moothall.storage.sqlite.files import serving_alone

_ACCEPTED_IN_TURN: Final = 16
"""Connections that a turn of the event loop accepts from one socket."""

log = logging.getLogger("moothall")


def _is_no_repetition(record: logging.LogRecord) -> bool:
    """Whether a line of uvicorn says more than that the application did not start: the application has said why."""
    return record.msg != "Application startup failed. Exiting."


def http_config(app: Any, *, shutdown_seconds: int, **address: Any) -> uvicorn.Config:
    """How uvicorn serves an ASGI application here: our HTTP bounds, the gateway's WebSockets, no log of its own."""
    logging.getLogger("uvicorn.error").addFilter(_is_no_repetition)
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=BoundedHttp,
        ws=GatewayWebSocket,
        ws_max_size=65_536,
        ws_per_message_deflate=False,
        ws_ping_interval=None,
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=shutdown_seconds,
        **address,
    )


def several_acceptors(sockets: list[socket.socket] | None) -> list[socket.socket] | None:
    """The sockets, each several times over, so that a turn of the event loop accepts several connections of each.

    libuv accepts one connection a turn from each socket that it watches. While many clients connect, those who come
    after them would wait for as many turns as there are clients before them.
    """
    if sockets is None:
        return None
    return [copy for bound in sockets for copy in (bound, *(bound.dup() for _ in range(_ACCEPTED_IN_TURN - 1)))]


class Server(uvicorn.Server):
    """uvicorn's server. It prints a greeting once it is ready, and closes gateway connections with a resumable code."""

    def __init__(self, config: uvicorn.Config, app: App) -> None:
        super().__init__(config)
        self._app = app

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start accepting connections and print the greeting on standard output."""
        await super().startup(several_acceptors(sockets))
        if self.started:
            if self._app.settings.metrics_listen is not None:
                log.info("metrics are at http://%s%s", self._app.settings.metrics_listen, MetricsPage.PATH)
            print(self._app.greeting(), flush=True)  # noqa: T201 for the operator, not for the log

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down gracefully, with exit code 0; at a second SIGINT immediately."""
        del frame  # unlike uvicorn's own handler, this does not raise the signal again at the end
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        """Stop accepting connections, close those of the gateway with a resumable code, and finish running requests."""
        for server in self.servers:
            server.close()
        if self._app.routes.activities is not None:
            self._app.routes.activities.end_event_streams()
        await self._app.gateway.close()
        await super().shutdown(sockets)


class RoleServer(Server):
    """The server of one process of several on this machine. It reports its greeting once it is ready.

    It stops at SIGTERM. SIGINT is for the supervisor.
    """

    def __init__(self, config: uvicorn.Config, app: App, role: ClusterRole, report: Callable[[str], None]) -> None:
        super().__init__(config, app)
        self._role = role
        self._handover = Handover(role.cluster.handovers, role.number)
        self._accepting: set[asyncio.Task[None]] = set()
        if not role.writes:
            # uvicorn calls it like a class.
            config.http = cast("type[asyncio.Protocol]", partial(WorkerHttp, handover=self._handover))
        self._report = report

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start accepting connections, in the process that writes those of workers too."""
        await uvicorn.Server.startup(self, several_acceptors(sockets))
        loop = asyncio.get_running_loop()
        if self._role.writes:
            self.servers.append(
                await loop.create_unix_server(
                    self._make_protocol,
                    sock=self._role.cluster.requests,
                )
            )
            if self._app.settings.metrics_listen is not None:
                log.info("metrics are at http://%s%s", self._app.settings.metrics_listen, MetricsPage.PATH)
        else:
            loop.add_reader(self._handover.receiving, self._accept_passed_on)
        self._report(self._app.greeting())

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down gracefully at SIGTERM."""
        if sig == signal.SIGTERM:
            super().handle_exit(sig, frame)

    def _accept_passed_on(self) -> None:
        task = asyncio.get_running_loop().create_task(accept_passed_on(self._handover, self._make_protocol))
        self._accepting.add(task)
        task.add_done_callback(self._accepting.discard)

    def _make_protocol(self) -> asyncio.Protocol:
        make: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        return make(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)


def bind(host: str, port: int, *, shared: bool = False) -> list[socket.socket]:
    """Bind sockets at all addresses of a host, with one port; 0 is any free port. Raises OSError.

    Several processes may bind `shared` ones; each connection then reaches one of those that listen.
    """

    def prepare(unbound: socket.socket) -> None:
        unbound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            unbound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)

    return bind_all(host, port, socket.SOCK_STREAM, prepare=prepare, purpose="listen")


def bind_metrics(settings: Settings) -> tuple[Settings, list[socket.socket]]:
    """Bind the address of the metrics, if they have one; the settings with its port. Raises OSError."""
    if settings.metrics_address is None:
        return settings, []
    host = settings.metrics_address[0]
    sockets = bind(*settings.metrics_address)
    shown = f"[{host}]" if ":" in host else host
    return structs.replace(settings, metrics_listen=f"{shown}:{sockets[0].getsockname()[1]}"), sockets


def _end_with(lifeline: int) -> None:
    """End this process at once when the supervisor has ended, whose end of the pipe closes with it.

    It was killed: a server that is started again must find the port and the database free. What was acknowledged is
    on the disk.
    """
    while os.read(lifeline, 1):
        pass
    os._exit(1)


def serve_role(
    settings: Settings, role: ClusterRole, metrics: list[socket.socket], report: Callable[[str], None], *, lifeline: int
) -> int:
    """Run one of several processes of this machine; returns its exit status. Raises OSError.

    `report` is called with the greeting once it serves. The process ends when `lifeline`, a descriptor, is closed.
    """
    threading.Thread(target=_end_with, args=(lifeline,), name="moothall-lifeline", daemon=True).start()
    app = App(settings, role=role)
    config = http_config(
        RelayedRequests(app) if role.writes else app,
        shutdown_seconds=settings.shutdown_seconds,
        host=settings.host,
        port=settings.port,
        **({"timeout_keep_alive": IDLE_SECONDS} if role.writes else {}),
    )
    server = RoleServer(config, app, role, report)
    server.run(metrics if role.writes else bind(settings.host, settings.port, shared=True))
    return 0 if server.started else 3


def serve(settings: Settings) -> None:
    """Run the platform until SIGINT or SIGTERM.

    Exits with status 3 if it cannot start. Raises OSError if the port is in use, and if another server uses the same
    SQLite file.
    """
    sockets = bind(settings.host, settings.port)
    settings, metrics = bind_metrics(structs.replace(settings, port=sockets[0].getsockname()[1]))
    sockets += metrics
    app = App(settings)
    config = http_config(app, shutdown_seconds=settings.shutdown_seconds, host=settings.host, port=settings.port)
    server = Server(config, app)
    with nullcontext() if settings.database_path is None else serving_alone(settings.database_path):
        server.run(sockets)
    if not server.started:
        raise SystemExit(3)
