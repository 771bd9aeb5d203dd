"""What the people of a test see: a gateway session of each, whose dispatches are kept for the page of the test.

The sessions are in this process and invisible, so that neither bots nor other people notice them.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Final

import msgspec
from msgspec import Struct, field

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.app.application import App
from moothall.demo.community import LoadedPerson
from moothall.demo.requests import RequestRunner
from moothall.objects.errors import Refusal
from moothall.objects.json_object import JsonObject
from moothall.runtime.asgi import Scope
from moothall.test_server.transcript import Transcript

MAX_VIEWERS: Final = 10
"""People beyond these have no view on a page, as each is a session with all events."""
_MAX_FRAMES: Final = 20_000
_LATEST: Final = 100
"""Entries among which the event of a dispatch is looked for."""
_IDENTITY: Final = ("id", "message_id", "channel_id", "guild_id", "user_id", "nonce")
_PAGE: Final = "limit=50"
_WITHIN: Final = 10.0
_DISPATCH, _HEARTBEAT, _IDENTIFY, _HELLO, _HEARTBEAT_ACK = 0, 1, 2, 10, 11


class Frame(Struct):
    """A dispatch that a person's client received."""

    after: int
    """The number of the transcript's entry that it is of; of the newest one where none is known."""
    name: str
    data: JsonObject


class View(Struct):
    """What a person's client knows: the messages at the beginning, and all dispatches since, READY first."""

    name: str
    user_id: str
    frames: list[Frame] = field(default_factory=list)
    messages: dict[str, list[JsonObject]] = field(default_factory=dict)
    """By channel, the newest first."""


class _Viewer:
    """An invisible gateway session of a person, from `start` to `stop`."""

    def __init__(self, person: LoadedPerson, app: App, transcript: Transcript) -> None:
        self.view = View(person.name, person.id)
        self._token = person.token
        self._app = app
        self._transcript = transcript
        self._commands: asyncio.Queue[Scope] = asyncio.Queue()
        self._seen: dict[str, int] = {}
        """The last event of each name that has arrived."""
        self._missing: set[str] | None = None
        """The guilds of READY whose GUILD_CREATE has not come; None before READY."""
        self._began = asyncio.Event()
        self._acknowledged = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Connect, wait for the guilds, and read the newest messages of their channels."""
        self._commands.put_nowait({"type": "websocket.connect"})
        scope: Scope = {"type": "websocket", "path": "/gateway", "query_string": b"v=10", "headers": [], "client": None}
        self._task = asyncio.create_task(self._app.gateway.serve(scope, self.receive, self.send))
        async with asyncio.timeout(_WITHIN):
            await self._began.wait()
        self.view.messages = await unit_of_work.run(self._app.services, ANONYMOUS, self._read_messages)

    async def stop(self) -> None:
        """Disconnect. Does nothing the second time."""
        if self._task is not None:
            self._commands.put_nowait({"type": "websocket.disconnect", "code": 1000})
            await self._task
            self._task = None

    async def catch_up(self) -> None:
        """Wait until everything that was sent to the session has arrived."""
        self._acknowledged.clear()
        self._command(_HEARTBEAT, None)
        with suppress(TimeoutError):
            async with asyncio.timeout(_WITHIN):
                await self._acknowledged.wait()

    async def receive(self) -> Scope:
        """The client's next message (ASGI)."""
        return await self._commands.get()

    async def send(self, message: Scope) -> None:
        """Take a message of the gateway (ASGI)."""
        if message["type"] == "websocket.close":
            self._commands.put_nowait({"type": "websocket.disconnect", "code": message.get("code", 1000)})
        if message["type"] != "websocket.send":
            return
        payload = msgspec.json.decode(message.get("text") or message["bytes"])
        if payload["op"] == _HELLO:
            properties = {"os": "linux", "browser": "moothall", "device": ""}
            presence: JsonObject = {"status": "invisible", "activities": [], "since": None, "afk": False}
            self._command(_IDENTIFY, {"token": self._token, "properties": properties, "presence": presence})
        elif payload["op"] == _HEARTBEAT:
            self._command(_HEARTBEAT, None)
        elif payload["op"] == _HEARTBEAT_ACK:
            self._acknowledged.set()
        elif payload["op"] == _DISPATCH:
            self._add(payload["t"], payload["d"])

    def _command(self, op: int, data: JsonObject | None) -> None:
        self._commands.put_nowait(
            {"type": "websocket.receive", "text": msgspec.json.encode({"op": op, "d": data}).decode()}
        )

    def _add(self, name: str, data: JsonObject) -> None:
        if len(self.view.frames) < _MAX_FRAMES:
            self.view.frames.append(Frame(self._cause(name, data), name, data))
        if self._began.is_set():
            return
        if name == "READY":
            self._missing = {guild["id"] for guild in data["guilds"]}
        elif name == "GUILD_CREATE" and self._missing is not None:
            self._missing.discard(data["id"])
        if self._missing is not None and not self._missing:
            self._began.set()

    def _cause(self, name: str, data: JsonObject) -> int:
        """The number of the event that a dispatch is of: sessions may receive it after later entries."""
        cause, seen = self._transcript.last_number, self._seen.get(name, 0)
        for entry in islice(reversed(self._transcript.entries), _LATEST):
            if entry.number <= seen:
                break
            if entry.kind == "event" and entry.name == name and _is_same(entry.data, data):
                cause = entry.number
        self._seen[name] = cause
        return cause

    async def _read_messages(self, ctx: Context) -> dict[str, list[JsonObject]]:
        """The newest messages of every channel that the person can read, by channel."""
        runner, pages = RequestRunner(ctx), {}
        for channel_id in _channels(self.view.frames):
            with suppress(Refusal):  # they cannot read it, or it is none with messages
                pages[channel_id] = await runner.request(
                    self._token, "GET", f"/channels/{channel_id}/messages", query=_PAGE
                )
        return pages


def _is_same(event: JsonObject, dispatch: JsonObject) -> bool:
    """Whether an event and a dispatch are about the same thing."""
    return all(event.get(key) == dispatch.get(key) for key in _IDENTITY if key in event and key in dispatch)


def _channels(frames: Iterable[Frame]) -> list[str]:
    """The channels that the first frames of a session name."""
    ids = []
    for frame in frames:
        listed = [frame.data.get(key) or () for key in ("private_channels", "channels", "threads")]
        ids += [channel["id"] for channels in listed for channel in channels]
    return ids


class Tracing:
    """The views of the people of a test; none until `begin`."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._viewers: dict[str, _Viewer] = {}
        self._on = False

    async def begin(self, app: App, people: Iterable[LoadedPerson]) -> None:
        """Look at the platform as each of the people does, from now on."""
        self._on = True
        await self.restart(app, people)

    async def restart(self, app: App, people: Iterable[LoadedPerson]) -> None:
        """Forget what was seen, and begin anew; does nothing where there is no tracing."""
        await self.pause()
        for person in people:
            await self.add(app, person)

    async def add(self, app: App, person: LoadedPerson) -> None:
        """Look as one more person does, unless there are `MAX_VIEWERS`; does nothing where there is no tracing."""
        if self._on and len(self._viewers) < MAX_VIEWERS and person.name not in self._viewers:
            viewer = self._viewers[person.name] = _Viewer(person, app, self._transcript)
            await viewer.start()

    async def pause(self) -> None:
        """End all sessions, until `restart`."""
        viewers, self._viewers = self._viewers, {}
        for viewer in viewers.values():
            await viewer.stop()

    async def views(self) -> list[View]:
        """What each person has seen."""
        for viewer in self._viewers.values():
            await viewer.catch_up()
        return [viewer.view for viewer in self._viewers.values()]
