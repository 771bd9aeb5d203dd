"""The control API of the test server: `/_test/...`, JSON in and out, described by `/_test/openapi.json`.

It has no authentication: it is served on the loopback interface only, refuses other clients, and refuses requests that
a browser makes for a page of another origin.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, Literal
from urllib.parse import parse_qs

import msgspec
from msgspec import Meta, Struct, field

from moothall import __version__
from moothall.activities.relay import RELAY_PATH
from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.api.request.http_request import is_loopback
from moothall.demo.community import (
    Community,
    InvalidCommunity,
    LoadedBot,
    LoadedCommunity,
    LoadedPerson,
    add_bot,
    create_bot,
    create_person,
    dump_community,
)
from moothall.demo.requests import RequestRunner
from moothall.gateway.sessions.connection import Connection
from moothall.objects.clock import CLOCK
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, Snowflake
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import Timestamp
from moothall.pages.paths import CLIENT_FOLDER
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.test_server.faults import ActiveFault, Fault, RoughSeas
from moothall.test_server.gateway_socket import GatewaySocket
from moothall.test_server.person_voice import NotConnected, PersonVoices, VoiceServer
from moothall.test_server.server import START, ControlledServer
from moothall.test_server.trace_page import TRACE_SCRIPT, trace_page
from moothall.test_server.transcript import Entry
from moothall.test_server.transcript_lines import line_of
from moothall.test_server.transcript_page import transcript_page

PREFIX: Final = "/_test"
_MAX_BODY: Final = 8 * 1024 * 1024
_MAX_WAIT: Final = 60.0
_NUMBERS: Final = frozenset({"after", "wait"})
"""Parameters of queries that are numbers."""
_LOCK: Final = Snowflake(4)
Id = Annotated[str, Meta(pattern=r"\A[0-9]{1,20}\Z")]


class SaidFrames(Struct, forbid_unknown_fields=True):
    """What a person says."""

    person: str
    frames: list[bytes]
    """Of Opus, 20 ms each, in Base64."""


class HeardFrames(Struct):
    """What a person has heard since they joined voice."""

    frames: dict[str, int]
    """By the id of the user who said them; silence does not count."""


class Listeners(Struct):
    """Who receives what a person says in voice."""

    user_ids: list[str]


class ControlError(Exception):
    """A request that cannot be done, with its status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ServerInfo(Struct):
    """The server: its addresses, and what its fixture created."""

    version: str
    url: str
    api_url: str
    gateway_url: str
    control_url: str
    has_client: bool
    """Whether it has the client for people, in which Activities are shown."""
    relay_path: str
    """In the URL of every frame in which the client shows an Activity."""
    now: str
    people: dict[str, LoadedPerson]
    bots: dict[str, LoadedBot]
    guilds: list[Any]


class TimeInfo(Struct):
    """The platform's time."""

    now: str
    offset: float
    """Seconds ahead of real time."""


class Advance(Struct, forbid_unknown_fields=True):
    """How far the clock moves."""

    seconds: Annotated[float, Meta(ge=0, le=10 * 366 * 86_400)]
    total: Annotated[float, Meta(ge=0)] | None = None
    """Where a longer way is made in steps, its length with the last step and 0 with the others."""


class NewPerson(Struct, forbid_unknown_fields=True):
    """A person to create."""

    name: Annotated[str, Meta(min_length=2, max_length=32)]
    global_name: str | None = None
    guild_id: Id | None = None
    """A guild of a known person that the new one joins."""


class NewBot(Struct, forbid_unknown_fields=True):
    """A bot to create."""

    name: Annotated[str, Meta(min_length=1, max_length=32)]
    owner: str | None = None
    """A known person; else the first one."""
    guild_ids: list[Id] = field(default_factory=list)
    permissions: list[str] = field(default_factory=lambda: ["ADMINISTRATOR"])
    intents: list[str] = field(default_factory=lambda: ["GUILD_PRESENCES", "GUILD_MEMBERS", "MESSAGE_CONTENT"])
    """The privileged intents that it may identify with."""


class BotError(Struct, forbid_unknown_fields=True):
    """An error that a bot's code did not handle."""

    actor: Annotated[str, Meta(max_length=64)]
    """The name of the bot."""
    text: Annotated[str, Meta(max_length=100_000)]
    """Its traceback."""
    names: Annotated[list[str], Meta(max_length=200)] = field(default_factory=list)
    """The names of its classes, by which a test can expect it."""
    known: bool = False
    """Whether the tests know of it already, as of one in their own process."""


class GatewayFault(Struct, forbid_unknown_fields=True):
    """Something that happens to open gateway connections."""

    action: Literal["reconnect", "invalid_session", "drop", "half_open", "ignore_heartbeats", "close"]
    actor: str | None = None
    """The name or id of a bot or person; else all bots."""
    resumable: bool = False
    """Of `invalid_session`."""
    code: Annotated[int, Meta(ge=4000, le=4999)] = 4000
    """Of `close`."""


class GuildOutage(Struct, forbid_unknown_fields=True):
    """A guild that is unavailable, or is again."""

    guild_id: Id


class SnapshotName(Struct, forbid_unknown_fields=True):
    """A snapshot."""

    name: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{1,64}\Z")] = START


class Connections(Struct):
    """How many connections a fault was applied to."""

    connections: int


class GatewaySession(Struct):
    """A session of a gateway connection that is open."""

    id: str
    actor: str
    """The name of the person or bot."""
    bot: bool


class SessionList(Struct):
    """The sessions of open gateway connections."""

    sessions: list[GatewaySession]


class FaultList(Struct):
    """The faults that are set."""

    faults: list[ActiveFault]
    rough_seas: RoughSeas | None


class TranscriptPage(Struct):
    """Entries after a number, oldest first."""

    entries: list[Entry]
    last: int
    """To be sent as `after` of the next request."""


class Route(Struct, frozen=True):
    """One row of the API."""

    method: str
    path: str
    handler: Callable[..., Awaitable[Any]]
    body: Any = None
    answer: Any = None
    query: tuple[str, ...] = ()
    status: int = 200


class ControlApi:
    """Answers requests under `/_test`."""

    def __init__(self, server: ControlledServer) -> None:
        self._server = server
        self._voices = PersonVoices()
        self._routes = {(route.method, route.path): route for route in self._table()}

    def _table(self) -> list[Route]:
        return [
            Route("GET", "", self.describe, answer=ServerInfo),
            Route("GET", "/openapi.json", self.openapi, answer=dict),
            Route("GET", "/time", self.time, answer=TimeInfo),
            Route("POST", "/time", self.advance, Advance, TimeInfo),
            Route("POST", "/people", self.create_person, NewPerson, LoadedPerson, status=201),
            Route("POST", "/bots", self.create_bot, NewBot, LoadedBot, status=201),
            Route("POST", "/guilds", self.add_guilds, answer=LoadedCommunity, status=201),
            Route("POST", "/load", self.load, Community, LoadedCommunity, status=201),
            Route("GET", "/dump", self.dump, answer=Community),
            Route("POST", "/snapshots", self.take_snapshot, SnapshotName, status=204),
            Route("POST", "/restore", self.restore, SnapshotName, ServerInfo),
            Route("GET", "/faults", self.faults, answer=FaultList),
            Route("POST", "/faults", self.add_fault, Fault, ActiveFault, status=201),
            Route("DELETE", "/faults", self.clear_faults, status=204),
            Route("POST", "/gateway", self.break_gateway, GatewayFault, Connections),
            Route("POST", "/voice", self.connect_voice, VoiceServer, status=204),
            Route("POST", "/voice/say", self.say, SaidFrames, status=204),
            Route("GET", "/voice/heard", self.heard, answer=HeardFrames, query=("person",)),
            Route("GET", "/voice/listeners", self.listeners, answer=Listeners, query=("person_id",)),
            Route("DELETE", "/voice", self.disconnect_voice, status=204, query=("person",)),
            Route("GET", "/sessions", self.sessions, answer=SessionList),
            Route("POST", "/outages", self.begin_outage, GuildOutage, status=204),
            Route("POST", "/outages/end", self.end_outage, GuildOutage, status=204),
            Route("POST", "/rough-seas", self.set_seas, RoughSeas, status=204),
            Route("DELETE", "/rough-seas", self.calm_seas, status=204),
            Route("POST", "/errors", self.add_error, BotError, status=204),
            Route("GET", "/transcript", self.transcript, answer=TranscriptPage, query=("after", "wait")),
            Route("DELETE", "/transcript", self.clear_transcript, status=204),
            Route("GET", "/transcript.html", self.transcript_html, answer=str),
            Route("POST", "/trace", self.begin_trace, status=204),
            Route("GET", "/trace.html", self.trace_html, answer=str, query=("title", "outcome")),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request whose path begins with `/_test`."""
        try:
            _require_local(scope)
            body = await _read_body(receive)
            status, answer = await self._answer(scope, body)
        except ControlError as error:
            status, answer = error.status, {"message": str(error)}
        except NotConnected as error:
            status, answer = 409, {"message": str(error)}
        except Refusal as refusal:
            status, answer = refusal.status, refusal.body()
        except InvalidCommunity as error:
            status, answer = 400, {"message": str(error)}
        html = isinstance(answer, str)
        data = b"" if answer is None else answer.encode() if html else msgspec.json.encode(answer)
        headers = [(b"content-length", b"%d" % len(data))]
        if data:
            headers.append((b"content-type", b"text/html; charset=utf-8" if html else b"application/json"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": data})

    async def _answer(self, scope: Scope, body: bytes) -> tuple[int, Any]:
        path = scope["path"].removeprefix(PREFIX).rstrip("/")
        route = self._routes.get((scope["method"], path))
        if route is None:
            if any(each.path == path for each in self._routes.values()):
                raise ControlError(405, f"{scope['method']} is not for {PREFIX}{path}")
            raise ControlError(404, f"there is no {PREFIX}{path}")
        arguments: list[object] = []
        if route.body is not None:
            try:
                arguments.append(msgspec.json.decode(body or b"{}", type=route.body))
            except msgspec.MsgspecError as error:
                raise ControlError(400, str(error)) from None
        if route.query:
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            arguments += [query.get(name, [""])[0] for name in route.query]
        return route.status, await route.handler(*arguments)

    # The server

    async def describe(self) -> ServerInfo:
        """The server's addresses, and the people, bots and guilds that were created here."""
        server = self._server
        return ServerInfo(
            version=__version__,
            url=server.url,
            api_url=f"{server.url}/api/v10",
            gateway_url=server.url.replace("http", "ws", 1) + "/gateway",
            control_url=server.url + PREFIX,
            has_client=(CLIENT_FOLDER / "index.html").exists(),
            relay_path=RELAY_PATH,
            now=Timestamp.now().wire(),
            people=server.people.people,
            bots=server.people.bots,
            guilds=list(server.people.guilds),
        )

    async def openapi(self) -> JsonObject:
        """This description."""
        return openapi_document(list(self._routes.values()), self._server.url)

    async def time(self) -> TimeInfo:
        """The platform's time."""
        return TimeInfo(Timestamp.now().wire(), CLOCK.offset)

    async def advance(self, body: Advance) -> TimeInfo:
        """Move the clock forward; returns once everything that is due by then has happened."""
        await self._server.advance(body.seconds, total=body.total)
        return await self.time()

    # People

    async def create_person(self, body: NewPerson) -> LoadedPerson:
        """Create a person, who may join a guild."""
        server = self._server

        async def work(ctx: Context) -> LoadedPerson:
            person = await create_person(ctx, body.name, body.global_name)
            if body.guild_id is not None:
                await self._join(ctx, person, body.guild_id)
            return person

        person = await unit_of_work.run(server.app.services, ANONYMOUS, work, lock=_LOCK)
        server.people.people[person.name] = person
        server.know()
        await server.tracing.add(server.app, person)
        return person

    async def _join(self, ctx: Context, person: LoadedPerson, guild_id: str) -> None:
        guild = next((each for each in self._server.people.guilds if each.id == guild_id), None)
        if guild is None or not guild.channels:
            raise ControlError(404, f"no guild of the fixture with a channel has the id {guild_id}")
        owner, runner = self._server.people.people[guild.owner], RequestRunner(ctx)
        channel_id = next(iter(guild.channels.values()))
        invite = await runner.request(owner.token, "POST", f"/channels/{channel_id}/invites", {"unique": True})
        await runner.request(person.token, "POST", f"/invites/{invite['code']}")

    async def create_bot(self, body: NewBot) -> LoadedBot:
        """Create a bot with its application, and add it to guilds."""
        server = self._server
        people = server.people.people
        owner = next(iter(people.values()), None) if body.owner is None else people.get(body.owner)
        if owner is None:
            raise ControlError(404, f"there is no person {body.owner or ''}")

        async def work(ctx: Context) -> LoadedBot:
            runner = RequestRunner(ctx)
            bot = await create_bot(runner, owner.token, body.name, body.intents)
            for guild_id in body.guild_ids:
                await add_bot(runner, owner.token, bot, guild_id, body.permissions)
            return bot

        bot = await unit_of_work.run(server.app.services, ANONYMOUS, work, lock=_LOCK)
        server.people.bots[bot.name] = bot
        server.know()
        return bot

    # Snapshots

    async def load(self, body: Community) -> LoadedCommunity:
        """Create a community beside what is there."""
        return await self._server.load(body)

    async def add_guilds(self) -> LoadedCommunity:
        """Create the guilds of the server's community once more, empty, with the same people and bots."""
        return await self._server.add_guilds()

    async def dump(self) -> Community:
        """The community of the people and bots that were created here."""
        people = self._server.people

        async def work(ctx: Context) -> Community:
            return await dump_community(ctx, people)

        return await unit_of_work.run(self._server.app.services, ANONYMOUS, work, lock=_LOCK)

    async def take_snapshot(self, body: SnapshotName) -> None:
        """Save the state under a name."""
        await self._server.take_snapshot(body.name)

    async def restore(self, body: SnapshotName) -> ServerInfo:
        """Return to a snapshot; gateway connections are closed, faults and transcript are cleared."""
        if body.name not in self._server.snapshots:
            raise ControlError(404, f"there is no snapshot {body.name}")
        await self._voices.close()
        await self._server.restore(body.name)
        return await self.describe()

    # Voice

    async def connect_voice(self, body: VoiceServer) -> None:
        """Connect a person to voice, where their gateway session has been told to."""
        person = self._server.people.people.get(body.person)
        if person is None:
            raise ControlError(404, f"there is no person {body.person}")
        await self._voices.connect(self._server.url, person.id, body)

    async def say(self, body: SaidFrames) -> None:
        """Let a person say frames; returns once all are said."""
        await self._voices.of(body.person).say(body.frames)

    async def heard(self, person: str) -> HeardFrames:
        """What a person has heard."""
        return HeardFrames(dict(self._voices.of(person).heard))

    async def listeners(self, person_id: str) -> Listeners:
        """Who receives what a person says now: no one while they may not speak."""
        names = [each.name for each in self._server.people.people.values() if each.id == person_id]
        voice, states = self._voices.of(names[0] if names else person_id), self._server.app.voice
        if states is None or not states.may_speak(voice.guild_id, int(person_id)):
            return Listeners([])
        return Listeners([each for each in voice.connected if states.may_hear(voice.guild_id, int(each))])

    async def disconnect_voice(self, person: str) -> None:
        """Disconnect a person from voice."""
        await self._voices.disconnect(person)

    # Faults

    async def faults(self) -> FaultList:
        """The faults that are set."""
        return FaultList(self._server.faults.active, self._server.faults.seas)

    async def add_fault(self, body: Fault) -> ActiveFault:
        """Set a fault of requests or events."""
        return self._server.faults.add(body)

    async def clear_faults(self) -> None:
        """Remove every fault, calm the seas, end the outages."""
        self._server.faults.clear()
        for guild_id in list(self._server.outages):
            await self._server.end_outage(guild_id)

    async def set_seas(self, body: RoughSeas) -> None:
        """Start random faults."""
        self._server.faults.set_seas(body)

    async def calm_seas(self) -> None:
        """End random faults."""
        self._server.faults.set_seas(None)

    async def break_gateway(self, body: GatewayFault) -> Connections:
        """Let something happen to open gateway connections."""
        matching = self._server.connections(body.actor)
        for socket, connection in matching:
            self._server.transcript.add("fault", actor=socket.actor, name=body.action, text="gateway connection")
            await self._break(socket, connection, body)
        return Connections(len(matching))

    async def _break(self, socket: GatewaySocket, connection: Connection, body: GatewayFault) -> None:
        if body.action == "reconnect":
            connection.send_reconnect()
        elif body.action == "drop":
            socket.drop()
        elif body.action == "half_open":
            socket.silent = True
        elif body.action == "ignore_heartbeats":
            socket.ignores_heartbeats = True
        elif body.action == "close":
            connection.close(body.code, "A test closes the connection.")
        else:
            session = connection.session
            if session is not None and not body.resumable:
                await self._server.app.gateway.ends.end(session)
                connection.session = None
            connection.send_invalid_session(resumable=body.resumable)

    async def sessions(self) -> SessionList:
        """The gateway sessions of people and bots."""
        return SessionList(
            [GatewaySession(session.id, socket.actor, socket.bot) for socket, session in self._server.sessions()]
        )

    async def begin_outage(self, body: GuildOutage) -> None:
        """Make a guild unavailable to those who are connected."""
        await self._server.begin_outage(GuildId(Snowflake(body.guild_id)))

    async def end_outage(self, body: GuildOutage) -> None:
        """Make a guild available again."""
        if not await self._server.end_outage(GuildId(Snowflake(body.guild_id))):
            raise ControlError(404, "the guild has no outage")

    # Transcript

    async def transcript(self, after: str, wait: str) -> TranscriptPage:
        """The entries after a number; `wait` is for how many seconds to wait until there are any."""
        try:
            number, seconds = int(after or 0), min(float(wait or 0), _MAX_WAIT)
        except ValueError:
            raise ControlError(400, "after is a number, wait a number of seconds") from None
        transcript = self._server.transcript
        entries = await transcript.wait(number, seconds)
        for entry in entries:
            entry.line = line_of(entry)
        return TranscriptPage(entries, transcript.last_number)

    async def add_error(self, body: BotError) -> None:
        """Write an error of a bot into the transcript, where tests see it at once."""
        data = {"names": body.names, "known": body.known}
        self._server.transcript.add("error", actor=body.actor, bot=True, text=body.text, data=data)

    async def clear_transcript(self) -> None:
        """Forget all entries."""
        await self._server.clear_transcript()

    async def transcript_html(self) -> str:
        """The transcript as a page."""
        return transcript_page(self._server.transcript.entries)

    async def begin_trace(self) -> None:
        """Keep what the people of the fixture see, at most ten of them, for the page of each test."""
        if not TRACE_SCRIPT.is_file():
            raise ControlError(409, "a trace needs the client for people, which this installation has not: make client")
        await self._server.trace()

    async def trace_html(self, title: str, outcome: str) -> str:
        """The test as a page: what people see step by step, beside the transcript. It needs trace.js and trace.css."""
        views = await self._server.tracing.views()
        entries = list(self._server.transcript.entries)
        for entry in entries:
            entry.line = line_of(entry)
        return trace_page(title, outcome, self._server.url, entries, views)


def _require_local(scope: Scope) -> None:
    """Refuse clients of other machines, and pages of other origins, which could name this server."""
    client = scope.get("client")
    if client is None or not is_loopback(client[0]):
        raise ControlError(403, "the control API is for this machine only")
    headers = dict(scope["headers"])
    host = headers.get(b"host", b"").decode("latin-1").rpartition(":")[0].strip("[]")
    if b"origin" in headers or host not in {"localhost", "127.0.0.1", "::1"}:
        raise ControlError(403, "the control API is not for web pages")


async def _read_body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _MAX_BODY:
            raise ControlError(413, "the body is too large")
        if not message.get("more_body"):
            return bytes(body)


def openapi_document(routes: list[Route], url: str) -> JsonObject:
    """The description of the control API in OpenAPI 3.1."""
    kinds = {kind for route in routes for kind in (route.body, route.answer) if _is_struct(kind)}
    ordered = sorted(kinds, key=lambda kind: str(kind.__name__))
    schemas, components = msgspec.json.schema_components(ordered, ref_template="#/components/schemas/{name}")
    references = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, JsonObject] = {}
    for route in routes:
        operation: JsonObject = {
            "operationId": route.handler.__name__,
            "summary": (route.handler.__doc__ or "").strip(),
            "responses": {str(route.status): {"description": "Done."}},
        }
        if _is_struct(route.body):
            operation["requestBody"] = {"content": {"application/json": {"schema": references[route.body]}}}
        if route.answer is not None:
            schema = references.get(route.answer, {"type": "string" if route.answer is str else "object"})
            media = "text/html" if route.answer is str else "application/json"
            operation["responses"][str(route.status)]["content"] = {media: {"schema": schema}}
        if route.query:
            operation["parameters"] = [
                {
                    "name": name,
                    "in": "query",
                    "schema": {"type": "number" if name in _NUMBERS else "string"},
                    "required": False,
                }
                for name in route.query
            ]
        paths.setdefault(f"{PREFIX}{route.path}", {})[route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "Control API of the Moothall test server", "version": __version__},
        "servers": [{"url": url}],
        "paths": paths,
        "components": {"schemas": components},
    }


def _is_struct(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)
