"""Server processes of the simulation: the real application, with clients that call it in memory.

Alone, a process does everything. In a cluster, as `moothall serve --workers` starts it, the process with number 0
writes and the others answer clients; they are connected by the real bus and the real relay of requests, over `streams`.
"""

import asyncio
import base64
import json
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec
from uvicorn.server import ServerState

from moothall.api.shared_windows import SharedWindows
from moothall.app.application import App
from moothall.app.cluster import ClusterRole, WorkerCluster
from moothall.app.server import http_config
from moothall.bus.local import LocalBus
from moothall.server.writer_relay import IDLE_SECONDS, RelayedRequests
from moothall.settings import Settings
from moothall.storage.sqlite.commit_counters import CommitCounters
from tests.simulation.streams import Listening, StreamLoop

_OUTBOX_SECONDS: Final = 0.5
_INDEX_SECONDS: Final = 3.0
KEY: Final = base64.b64encode(bytes(32)).decode()


class Lost(Exception):
    """The connection was lost before the response: whether the request was carried out is unknown."""


class Reply(msgspec.Struct):
    """A response."""

    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        """The body, decoded from JSON."""
        return msgspec.json.decode(self.body) if self.body else None


class SimulatedCluster(WorkerCluster):
    """What the processes of one machine share."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.commits = CommitCounters()
        self.windows = SharedWindows(workers + 1)
        self.folder = folder
        self.requests_path = folder / "requests"
        self.events_path = folder / "events"
        self.events = Listening(self.events_path)  # type: ignore[assignment]  # the loop knows it


class Server:
    """One process, from its start to its end. `number` is its own, `role` that in a cluster."""

    def __init__(
        self,
        loop: StreamLoop,
        number: int,
        folder: Path,
        *,
        cluster: SimulatedCluster | None = None,
        role: int = 0,
        **settings: Any,
    ) -> None:
        self.loop = loop
        self.number = number
        self.role = role
        self._cluster = cluster
        self.settings = Settings(
            data=folder,
            secret_key=KEY,
            rate_limits=False,
            link_previews=False,
            verification_requires_email=False,
            slow_turn_ms=0,
            voice=False,
            worker_id=number % 32,
            process_id=role,
            **settings,
        )
        self.app: App | None = None
        self.serving = False
        self.dead = False
        self.death: asyncio.Future[None] = loop.create_future()
        self.errors: list[BaseException] = []
        """What a request raised to the server, which answers nothing then."""
        self.sockets: list[Socket] = []

    async def start(self) -> None:
        """Start the application. Raises what that raises, and Lost if the process ends meanwhile."""
        self.app = self.loop.run_in(self.number, self._build)
        await self._await(self.loop.start_in(self.number, self.app.start()))
        self.serving = True
        if self._cluster is not None and not self.role:
            self.loop.run_in(self.number, self._listen, self.app, self._cluster)

    @property
    def has_clients(self) -> bool:
        """Whether clients connect to it: the one that writes has none in a cluster."""
        return self._cluster is None or self.role > 0

    def _build(self) -> App:
        """The application. It looks seldom for what others left in the database, and hears of its own at once."""
        if self._cluster is None:
            app = App(self.settings, local_bus=LocalBus())
        else:
            app = App(self.settings, role=ClusterRole(self._cluster, self.role))
        app.relay._seconds, app.indexer._seconds = _OUTBOX_SECONDS, _INDEX_SECONDS
        return app

    def _listen(self, app: App, cluster: SimulatedCluster) -> None:
        """Serve the requests that workers pass on."""
        config = http_config(RelayedRequests(app), shutdown_seconds=1, timeout_keep_alive=IDLE_SECONDS)
        config.load()
        state = ServerState()

        def protocol() -> Any:
            return config.http_protocol_class(
                config=config,
                server_state=state,
                app_state={},
                _loop=self.loop,  # type: ignore[call-arg]
            )

        self.loop.listen(str(cluster.requests_path), protocol)

    async def stop(self) -> None:
        """Stop the application as at SIGTERM."""
        self.serving = False
        try:
            if self.app is not None:
                await self._await(self.loop.start_in(self.number, self.app.stop()))
        finally:
            self.end()

    def end(self) -> None:
        """End the process at once: all connections are lost."""
        if self.dead:
            return
        self.serving, self.dead = False, True
        self.loop.kill(self.number)
        if not self.death.done():
            self.death.set_result(None)
        for socket in self.sockets:
            socket.lose()

    async def _await(self, task: "asyncio.Task[Any]") -> Any:
        await asyncio.wait([task, self.death], return_when=asyncio.FIRST_COMPLETED)
        if self.dead or not task.done():
            if task.done() and not task.cancelled():
                task.exception()  # the process is dead
            raise Lost
        return task.result()

    async def request(
        self,
        method: str,
        path: str,
        body: Any = msgspec.UNSET,
        *,
        token: str = "",
        reason: str | None = None,
        query: dict[str, Any] | None = None,
        raw: bytes | None = None,
        content_type: str = "application/json",
        proof: str = "",
        aborts_after: float | None = None,
    ) -> Reply:
        """Send a request, with a fresh proof of a second factor if there is one.

        Raises Lost; the client may disconnect `aborts_after` so many seconds.
        """
        data = raw if raw is not None else b"" if body is msgspec.UNSET else json.dumps(body).encode()
        headers = [(b"host", b"localhost"), (b"content-length", str(len(data)).encode())]
        if token:
            headers.append((b"authorization", token.encode()))
        if data:
            headers.append((b"content-type", content_type.encode()))
        if proof:
            headers.append((b"x-discord-mfa-authorization", proof.encode()))
        if reason is not None:
            headers.append((b"x-audit-log-reason", quote(reason).encode()))
        scope = {
            "type": "http",
            "http_version": "1.1",
            "scheme": "http",
            "method": method,
            "path": f"/api/v10{path}",
            "raw_path": f"/api/v10{path}".encode(),
            "query_string": urlencode(query or {}, doseq=True).encode(),
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 3333),
        }
        exchange = _Exchange(self, data)
        task = self.loop.start_in(self.number, exchange.serve(scope))
        done, _ = await asyncio.wait([task, self.death], timeout=aborts_after, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            exchange.disconnect()
            raise Lost
        if self.dead or exchange.reply is None:
            raise Lost
        return exchange.reply

    def connect(
        self, on_message: Callable[[str], None], on_close: Callable[[int], None], delay: Callable[[], float]
    ) -> "Socket":
        """Open a WebSocket to the gateway."""
        socket = Socket(self, on_message, on_close, delay)
        self.sockets.append(socket)
        return socket


class _Exchange:
    """One request with its response."""

    def __init__(self, server: Server, data: bytes) -> None:
        self._server = server
        self._data: bytes | None = data
        self._disconnected: asyncio.Future[None] = server.loop.create_future()
        self._start: dict[str, Any] = {}
        self._body: list[bytes] = []
        self.reply: Reply | None = None

    def disconnect(self) -> None:
        if not self._disconnected.done():
            self._disconnected.set_result(None)

    async def serve(self, scope: dict[str, Any]) -> None:
        try:
            await self._server.app(scope, self._receive, self._send)  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 the auditor judges it
            if not self._server.dead:
                self._server.errors.append(error)

    async def _receive(self) -> dict[str, Any]:
        data, self._data = self._data, None
        if data is not None:
            return {"type": "http.request", "body": data, "more_body": False}
        await self._disconnected
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if self._server.dead or self._disconnected.done():
            return
        if message["type"] == "http.response.start":
            self._start = message
        else:
            self._body.append(bytes(message.get("body", b"")))
            if not message.get("more_body", False):
                headers = {name.decode().lower(): value.decode("latin-1") for name, value in self._start["headers"]}
                self.reply = Reply(self._start["status"], b"".join(self._body), headers)


class Socket:
    """A WebSocket between a client and the gateway. What was sent before a loss may still arrive."""

    def __init__(
        self,
        server: Server,
        on_message: Callable[[str], None],
        on_close: Callable[[int], None],
        delay: Callable[[], float],
    ) -> None:
        self._server = server
        self._loop = server.loop
        self._on_message = on_message
        self._on_close = on_close
        self._delay = delay
        self._inbound: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._inbound.put_nowait({"type": "websocket.connect"})
        self._arrives_at = self._sends_at = 0.0
        self.open = True
        self.transport = self
        self._context = copy_context()
        """That of the client: what reaches it belongs to no process."""
        scope = {
            "type": "websocket",
            "path": "/gateway",
            "query_string": b"v=10&encoding=json",
            "headers": [(b"host", b"localhost")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 3333),
        }
        self._serving = self._loop.start_in(server.number, self._serve(scope))

    def abort(self) -> None:
        """Abort the connection, as the server does with one whose client does not read."""
        self.lose()

    async def _serve(self, scope: dict[str, Any]) -> None:
        try:
            await self._server.app(scope, self._inbound.get, self._send)  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 the auditor judges it
            if not self._server.dead:
                self._server.errors.append(error)

    async def _send(self, message: Any) -> None:
        if self._server.dead or not self.open:
            return
        if message["type"] == "websocket.close":
            self._later(self._closed, message.get("code", 1000))
            self._inbound.put_nowait({"type": "websocket.disconnect", "code": message.get("code", 1000)})
        elif message["type"] == "websocket.send":
            self._later(self._arrive, message.get("text") or bytes(message["bytes"]).decode())

    def _later(self, callback: Callable[..., None], *args: Any) -> None:
        # In order, as TCP delivers.
        self._arrives_at = max(self._loop.time() + self._delay(), self._arrives_at + 1e-5)
        self._loop.call_at(self._arrives_at, callback, *args, context=self._context)

    def _arrive(self, text: str) -> None:
        if self.open:
            self._on_message(text)

    def _closed(self, code: int) -> None:
        if self.open:
            self.open = False
            self._on_close(code)

    def send(self, payload: Any) -> None:
        """Send a payload to the server."""
        if self.open:
            self._sends_at = max(self._loop.time() + self._delay(), self._sends_at + 1e-5)
            message = {"type": "websocket.receive", "text": json.dumps(payload)}
            self._loop.call_at(self._sends_at, self._inbound.put_nowait, message)

    def close(self, code: int) -> None:
        """Close the connection from the client's side."""
        if self.open:
            self.open = False
            self._inbound.put_nowait({"type": "websocket.disconnect", "code": code})
            self._loop.call_soon(self._on_close, code, context=self._context)

    def lose(self) -> None:
        """Lose the connection: both sides hear of it."""
        self.close(1006)
