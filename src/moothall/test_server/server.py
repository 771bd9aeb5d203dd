"""The platform of the test server: an App that can be replaced by a fresh one, with faults in front of it."""

import asyncio
import gc
import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import apsw
import msgspec
from msgspec import Struct

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.jobs.queries import select_next_due
from moothall.api.pipeline import EncodedResponse, refusal_response, too_many_requests
from moothall.app.application import App
from moothall.app.services import base_url
from moothall.app.voice_relay import voice_version
from moothall.demo.community import (
    BotPlan,
    ChannelPlan,
    Community,
    GuildPlan,
    LoadedCommunity,
    PersonPlan,
    load_community,
    load_guilds,
)
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.session import Session
from moothall.objects import errors
from moothall.objects.clock import CLOCK, stopwatch
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, Snowflake
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import Timestamp
from moothall.resources.interaction.operations.deliver import Deliveries
from moothall.resources.interaction.response_timers import ResponseTimers
from moothall.resources.webhook_event.sender import WebhookEventSender
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.lifecycle import in_lifecycle_thread
from moothall.settings import Settings
from moothall.storage.sqlite.files import connect
from moothall.test_server.faults import Fault, Faults
from moothall.test_server.gateway_socket import CLOSE_CODES, GatewaySocket
from moothall.test_server.recording_bus import RecordingBus
from moothall.test_server.tracing import Tracing
from moothall.test_server.transcript import Transcript

Message = Scope

START: Final = "start"
"""The snapshot that every server has: its fixture, before any test."""
_MAX_RECORDED: Final = 65_536
"""Bytes of a body that the transcript shows."""
_COLLECT_EVERY: Final = 50
"""Restored platforms before what is left of them is collected."""
_MAX_STEPS: Final = 1000
"""Jobs of different times that one advance of the clock runs one after another."""

DEFAULT_COMMUNITY: Final = Community(
    people={"alice": PersonPlan("Alice"), "bob": PersonPlan("Bob")},
    bots={"bot": BotPlan(owner="alice")},
    guilds=[
        GuildPlan(
            name="Guild",
            owner="alice",
            channels=[ChannelPlan("general"), ChannelPlan("random"), ChannelPlan("Lounge", type="voice")],
            members={"bob": [], "bot": []},
        )
    ],
)
"""The community of a server without a fixture of its own."""


class Caller(Struct, frozen=True):
    """Who a token belongs to."""

    name: str
    id: str
    bot: bool

    @property
    def names(self) -> frozenset[str]:
        """What a fault may call it."""
        return frozenset((self.name, self.id))


_UNKNOWN: Final = Caller("", "", bot=False)


class Snapshot(Struct):
    """A saved state: the database, the files, who is known, and how far the clock was advanced."""

    database: Path
    files: Path | None
    people: LoadedCommunity
    offset: float


class ControlledServer:
    """The platform as an ASGI application, without the control API. `start` before and `stop` after."""

    def __init__(self, settings: Settings, community: Community) -> None:
        self.settings = settings
        self.community = community
        self.transcript = Transcript()
        self.tracing = Tracing(self.transcript)
        self.faults = Faults()
        self.sockets: set[GatewaySocket] = set()
        self.people = LoadedCommunity()
        self.outages: dict[GuildId, list[Session]] = {}
        self.snapshots: dict[str, Snapshot] = {}
        self._callers: dict[str, Caller] = {}
        self._changing = asyncio.Lock()
        self._restored = 0
        self.app = self._new_app()

    @property
    def url(self) -> str:
        """The URL of the server, without a slash at its end."""
        return base_url(self.settings)

    async def start(self) -> None:
        """Start the platform, load its community and take the first snapshot."""
        await self.app.start()
        await self.load(self.community)
        await self.take_snapshot(START)

    async def stop(self) -> None:
        """Stop the platform."""
        await self.tracing.pause()
        await self.app.stop()

    def _new_app(self) -> App:
        app = App(self.settings, local_bus=RecordingBus(self.transcript, self.faults))
        # The transcript has every event, also those that no session would receive.
        app.services.has_listeners = lambda _guild_id: True
        return app

    # Content

    async def load(self, community: Community) -> LoadedCommunity:
        """Create a community beside what is there. Raises InvalidCommunity and Refusal."""
        work = partial(load_community, community=community, known=self.people)
        loaded = await unit_of_work.run(self.app.services, ANONYMOUS, work, lock=Snowflake(4))
        self.people.people.update(loaded.people)
        self.people.bots.update(loaded.bots)
        self.people.guilds += loaded.guilds
        self.know()
        return loaded

    async def add_guilds(self) -> LoadedCommunity:
        """Create the guilds of this server's community once more, for its people and bots."""
        work = partial(load_guilds, community=self.community, known=self.people)
        loaded = await unit_of_work.run(self.app.services, ANONYMOUS, work, lock=Snowflake(4))
        self.people.guilds += loaded.guilds
        return loaded

    def know(self) -> None:
        """Map the tokens of everyone in `people` to names."""
        self._callers = {
            **{each.token: Caller(each.name, each.id, bot=False) for each in self.people.people.values()},
            **{each.token: Caller(each.name, each.id, bot=True) for each in self.people.bots.values()},
        }

    def caller_of(self, authorization: str) -> Caller:
        """Who an Authorization header or a gateway token belongs to."""
        scheme, _, token = authorization.strip().rpartition(" ")
        caller = self._callers.get(token)
        if caller is None:
            caller = Caller("bot" if scheme.lower() == "bot" else "", "", scheme.lower() == "bot")
        return caller

    def _caller_of_path(self, path: str) -> Caller:
        """The bot that answers an interaction: it has the interaction's token, and sends none of its own."""
        kind, _, rest = path.lstrip("/").partition("/")
        subject = rest.partition("/")[0]
        application_id = self.transcript.application_of(subject) if kind == "interactions" else subject
        if kind in {"interactions", "webhooks"}:
            for bot in self.people.bots.values():
                if bot.application_id == application_id:
                    return Caller(bot.name, bot.id, bot=True)
        return _UNKNOWN

    # Snapshots

    async def take_snapshot(self, name: str) -> None:
        """Save the current state under a name, replacing one of that name."""
        async with self._changing:
            await self.app.database.settled()
            folder = self.settings.data / "snapshots"
            folder.mkdir(exist_ok=True)
            saved = Snapshot(
                database=folder / f"{name}.sqlite3",
                files=folder / f"{name}.files" if self._files.exists() else None,
                people=_copy(self.people),
                offset=CLOCK.offset,
            )
            saved.database.unlink(missing_ok=True)
            await in_lifecycle_thread(partial(_copy_database, self._database, saved.database))
            if saved.files is not None:
                shutil.rmtree(saved.files, ignore_errors=True)
                await in_lifecycle_thread(partial(shutil.copytree, self._files, saved.files))
            self.snapshots[name] = saved

    async def restore(self, name: str) -> None:
        """Return to a snapshot: a fresh platform, without sessions, caches, faults and transcript.

        Raises KeyError if there is none of that name.
        """
        saved = self.snapshots[name]
        async with self._changing:
            self.faults.clear()
            self.outages.clear()
            await self.tracing.pause()
            await self.app.stop()
            for socket in list(self.sockets):
                socket.drop()
            for path in self._database.parent.glob(f"{self._database.name}*"):
                path.unlink()
            shutil.copyfile(saved.database, self._database)
            if self._files.exists():
                shutil.rmtree(self._files)
            if saved.files is not None:
                shutil.copytree(saved.files, self._files)
            CLOCK.reset()
            CLOCK.advance(saved.offset)
            self.people = _copy(saved.people)
            self.know()
            self._restored += 1
            if self._restored % _COLLECT_EVERY == 0:
                gc.unfreeze()
                gc.collect()
            self.app = self._new_app()
            await self.app.start()
            await self.tracing.restart(self.app, self.people.people.values())
            self.transcript.clear()

    async def trace(self) -> None:
        """Keep what the people see, from now on and after every `restore`."""
        async with self._changing:
            await self.tracing.begin(self.app, self.people.people.values())

    async def clear_transcript(self) -> None:
        """Forget all entries, and what the people have seen."""
        self.transcript.clear()
        await self.tracing.restart(self.app, self.people.people.values())

    @property
    def _database(self) -> Path:
        path = self.settings.database_path
        if path is None:
            raise ValueError("the test server keeps its data in a file")
        return path

    @property
    def _files(self) -> Path:
        return self.settings.data / "files"

    # Time

    async def advance(self, seconds: float, *, total: float | None = None) -> None:
        """Move the clock forward, from one due job to the next, and run all that is due by then.

        The transcript names `total` instead of a last step, and passes over steps with 0.
        """
        end, services = CLOCK.monotonic() + seconds, self.app.services
        target = Timestamp(Timestamp.now() + round(seconds * 1000))
        for _ in range(_MAX_STEPS):
            due = await self._next_job(target)
            if due is None:
                break
            CLOCK.advance(max(0.0, min((due - Timestamp.now()) / 1000, end - CLOCK.monotonic())) + 0.001)
            await self._run_due()
        CLOCK.advance(max(0.0, end - CLOCK.monotonic()))
        await self._run_due()
        if total != 0:
            self.transcript.add("clock", text=f"advanced by {seconds if total is None else total:g} s")
        self.app.session_sweeper.wake()
        await services.resources[WebhookEventSender].drain()

    async def _next_job(self, before: Timestamp) -> Timestamp | None:
        async with self.app.database.read() as reader:
            due = await select_next_due(reader)
        return None if due is None or due > before else due

    async def _run_due(self) -> None:
        services = self.app.services
        services.resources[ResponseTimers].expire_due()
        await services.resources[Deliveries].tasks_done()
        await self.app.jobs.drain()

    # Gateway

    def connections(self, actor: str | None = None) -> list[tuple[GatewaySocket, Connection]]:
        """The identified connections of bots, or of the bot or person with a name or id."""
        return [
            (socket, connection)
            for socket, connection, _session in self._identified()
            if (socket.bot if actor is None else actor in socket.names)
        ]

    def sessions(self) -> list[tuple[GatewaySocket, Session]]:
        """The sessions of all identified connections, of bots and people."""
        return [(socket, session) for socket, _connection, session in self._identified()]

    def _identified(self) -> Iterator[tuple[GatewaySocket, Connection, Session]]:
        for connection in self.app.gateway.connections:
            socket, session = connection.send_queue.socket, connection.session
            if isinstance(socket, GatewaySocket) and session is not None:
                yield socket, connection, session

    async def begin_outage(self, guild_id: GuildId) -> None:
        """Make a guild unavailable: its sessions receive GUILD_DELETE, and no event until the outage ends."""
        if guild_id in self.outages:
            return
        hub = self.app.gateway.hub
        self.outages[guild_id] = [session for session in hub.sessions.values() if guild_id in session.guild_ids]
        for session in self.outages[guild_id]:
            hub.withdraw(session, guild_id)

    async def end_outage(self, guild_id: GuildId) -> bool:
        """Make a guild available again: the sessions receive GUILD_CREATE. Returns whether there was an outage."""
        sessions = self.outages.pop(guild_id, None)
        for session in sessions or ():
            if session.id in self.app.gateway.hub.sessions:
                await self.app.gateway.hub.join(session, guild_id, joined=False)
        return sessions is not None

    # ASGI

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request or a WebSocket, with its fault if it has one."""
        if scope["type"] == "websocket" and voice_version(scope) is None:
            await self._serve_socket(scope, receive, send)
        elif scope["type"] == "http" and scope["path"].startswith("/api/"):
            await self._serve_request(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _serve_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = GatewaySocket(scope, receive, send, on_payload=self._note_payload, on_token=self._note_token)
        self.sockets.add(socket)
        try:
            await self.app(scope, socket.receive, socket.send)
        finally:
            self.sockets.discard(socket)
            if socket.actor:
                code = f"closed with {socket.close_code}" if socket.close_code else ""
                self.transcript.add("gateway", actor=socket.actor, bot=socket.bot, name="DISCONNECTED", text=code)
            if socket.close_code in CLOSE_CODES:
                self.transcript.warn("gateway_refused", CLOSE_CODES[socket.close_code], socket.actor)

    def _note_token(self, socket: GatewaySocket, name: str, token: str) -> None:
        caller = self.caller_of(token)
        socket.actor, socket.names, socket.bot = caller.name or "unknown", caller.names, caller.bot
        self.transcript.add("gateway", actor=socket.actor, bot=socket.bot, name=name)

    def _note_payload(self, socket: GatewaySocket, payload: JsonObject) -> None:
        op = payload["op"]
        if op == 0:
            if socket.bot:
                self.transcript.add_dispatch(socket.actor, payload["t"], payload["d"])
                if self.faults.drops_connection():
                    self.transcript.add("fault", actor=socket.actor, name="drop", text="gateway connection")
                    socket.drop()
        elif op in _NAMED_OPS and socket.actor:
            self.transcript.add("gateway", actor=socket.actor, bot=socket.bot, name=_NAMED_OPS[op])

    async def _serve_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = _Exchange(scope, receive, send)
        caller = (
            self.caller_of(exchange.authorization) if exchange.authorization else self._caller_of_path(exchange.path)
        )
        fault = self.faults.for_request(scope["method"], exchange.path, caller.names, bot=caller.bot)
        started = stopwatch()
        if fault is None:
            await self.app(scope, exchange.receive, exchange.send)
        else:
            self.transcript.add("fault", actor=caller.name, name=fault.kind, method=scope["method"], path=exchange.path)
            await self._serve_with_fault(fault, scope, exchange)
        if exchange.status:
            self.transcript.add_request(
                caller.name,
                bot=caller.bot,
                method=scope["method"],
                path=exchange.path,
                status=exchange.status,
                by_fault=fault is not None,
                ms=round((stopwatch() - started) * 1000, 1),
                sent=shown(exchange.sent),
                data=shown(exchange.answered),
            )

    async def _serve_with_fault(self, fault: Fault, scope: Scope, exchange: "_Exchange") -> None:
        if fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
            await self.app(scope, exchange.receive, exchange.send)
        elif fault.kind == "drop":
            exchange.abort()
        elif fault.kind == "hang":
            while (await exchange.receive())["type"] != "http.disconnect":
                pass
        else:
            await exchange.answer(_fault_response(fault))


_NAMED_OPS: Final = {7: "RECONNECT", 9: "INVALID_SESSION"}


def _fault_response(fault: Fault) -> EncodedResponse:
    if fault.kind == "rate_limit":
        headers = [
            (b"x-ratelimit-limit", b"1"),
            (b"x-ratelimit-remaining", b"0"),
            (b"x-ratelimit-reset", b"%.3f" % (CLOCK.now() + fault.seconds)),
            (b"x-ratelimit-reset-after", b"%.3f" % fault.seconds),
            (b"x-ratelimit-bucket", b"test-server"),
            (b"x-ratelimit-scope", fault.scope.encode()),
            *([(b"x-ratelimit-global", b"true")] if fault.scope == "global" else []),
        ]
        return refusal_response(too_many_requests(fault.seconds, fault.scope, headers))
    response = refusal_response(Refusal(errors.UNAVAILABLE))
    response.status = fault.status
    return response


class _Exchange:
    """One request and its answer, as they pass through."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
        self.authorization = next((v.decode("latin-1") for n, v in headers if n == b"authorization"), "")
        self.path = _without_version(scope["path"])
        self._receive, self._send = receive, send
        self.sent, self.answered, self.status = bytearray(), bytearray(), 0

    async def receive(self) -> Message:
        message = await self._receive()
        if len(self.sent) <= _MAX_RECORDED:
            self.sent += message.get("body", b"")
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        # The transcript shows the body as it is sent, hence uncompressed.
        if len(self.answered) <= _MAX_RECORDED:
            self.answered += message.get("body", b"")
        await self._send(message)

    async def answer(self, response: EncodedResponse) -> None:
        """Read the request and answer it."""
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                return
            if not message.get("more_body"):
                break
        headers = [*response.headers, (b"content-length", b"%d" % len(response.body))]
        await self.send({"type": "http.response.start", "status": response.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": response.body})

    def abort(self) -> None:
        """Break the TCP connection without an answer."""
        transport = getattr(getattr(self._send, "__self__", None), "transport", None)
        if transport is not None:
            transport.abort()


def shown(body: bytes | bytearray) -> Any:
    """A body for the transcript: JSON, or its size."""
    if not body:
        return msgspec.UNSET
    if len(body) <= _MAX_RECORDED:
        try:
            return msgspec.json.decode(body)
        except ValueError:
            pass
    return f"{len(body)} bytes"


def _without_version(path: str) -> str:
    """A path below /api, without the version."""
    rest = path.removeprefix("/api")
    if rest.startswith("/v") and "/" in rest[2:]:
        rest = rest[rest.index("/", 2) :]
    return rest


def _copy(people: LoadedCommunity) -> LoadedCommunity:
    return LoadedCommunity(dict(people.people), dict(people.bots), list(people.guilds))


def _copy_database(source: Path, target: Path) -> None:
    reading, writing = connect(source, readonly=True), apsw.Connection(str(target))
    try:
        with writing.backup("main", reading, "main") as backup:
            backup.step()
    finally:
        reading.close()
        writing.close()
