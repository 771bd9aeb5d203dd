"""The transcript of a test: requests, events, what was sent to bots, and warnings about all of these."""

import asyncio
from collections import deque
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from moothall.objects.clock import stopwatch
from moothall.objects.wire import Timestamp

MAX_ENTRIES: Final = 20_000
"""Older entries are dropped."""
_MAX_PENDING: Final = 1000


class Entry(Struct, omit_defaults=True):
    """One thing that happened. Which fields are set depends on `kind`."""

    number: int
    at: str
    """The platform's time."""
    kind: str
    """request, event, dispatch, gateway, fault, clock, warning or error."""
    actor: str | UnsetType = UNSET
    """The name of the person or bot; an id for others."""
    bot: bool | UnsetType = UNSET
    name: str | UnsetType = UNSET
    """Of an event its dispatch name, of a fault its kind, of a warning its category."""
    method: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    """Without /api/v10."""
    status: int | UnsetType = UNSET
    ms: float | UnsetType = UNSET
    sent: Any = UNSET
    """The body of a request as JSON, or its size in bytes."""
    data: Any = UNSET
    """The body of an answer, or the data of an event."""
    user_ids: list[str] | UnsetType = UNSET
    """The users that an event is sent to; all who may receive it otherwise."""
    text: str | UnsetType = UNSET
    """What a warning or a gateway connection has to say; the traceback of an error."""
    line: str | UnsetType = UNSET
    """All of it in a line for people; set where the entry is sent."""


class Transcript:
    """Entries in order; `wait` returns new ones as soon as there are any."""

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=MAX_ENTRIES)
        self._next = 1
        self._changed = asyncio.Event()
        self._contents: dict[str, str] = {}
        """The content of the latest messages, by id, to notice those that a bot received without."""
        self._applications: dict[str, str] = {}
        """The application of the latest interactions, by id."""
        self._lacking_content: set[str] = set()
        """The bots that were warned that they received a message without its content."""

    def application_of(self, interaction_id: str) -> str | None:
        """The application that an interaction was sent to over the gateway; None if it is not known."""
        return self._applications.get(interaction_id)

    @property
    def last_number(self) -> int:
        """The number of the newest entry; 0 if there is none."""
        return self._next - 1

    def add(self, kind: str, **fields: Any) -> Entry:
        """Append an entry."""
        entry = Entry(self._next, Timestamp.now().wire(), kind, **fields)
        self._next += 1
        self.entries.append(entry)
        self._changed.set()
        return entry

    def warn(self, category: str, text: str, actor: str) -> None:
        """Append a warning."""
        self.add("warning", name=category, text=text, actor=actor)

    def clear(self) -> None:
        """Forget all entries. Their numbers are not used again."""
        self.entries.clear()
        self._contents.clear()
        self._applications.clear()
        self._lacking_content.clear()

    async def wait(self, after: int, seconds: float) -> list[Entry]:
        """The entries after a number, once there are any, or none when the time is up (real time)."""
        deadline = stopwatch() + seconds
        while self.last_number <= after:
            self._changed.clear()
            left = deadline - stopwatch()
            if left <= 0:
                break
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                break
        entries = []
        for entry in reversed(self.entries):
            if entry.number <= after:
                break
            entries.append(entry)
        return entries[::-1]

    # What is worth a warning

    def add_request(
        self, actor: str, *, bot: bool, method: str, path: str, status: int, by_fault: bool, **fields: Any
    ) -> None:
        """Append a request with its answer, and a warning if a bot's was refused, unless by a fault."""
        self.add("request", actor=actor, bot=bot, method=method, path=path, status=status, **fields)
        if bot and status >= 400 and not by_fault:
            data = fields.get("data")
            code = data.get("code", 0) if isinstance(data, dict) else 0
            message = data.get("message", "") if isinstance(data, dict) else ""
            category = _category(status, code)
            text = f"{method} {path} was answered with {status} {message}".strip()
            if category == "not_modelled":
                text = f"{method} {path} is no operation that Moothall models (docs/public-operations.md)"
            self.warn(category, text, actor)

    def add_event(self, name: str, data: bytes, user_ids: list[str]) -> None:
        """Append an event that the platform published."""
        content = msgspec.json.decode(data)
        self.add("event", name=name, data=content, user_ids=user_ids or UNSET)
        if name == "MESSAGE_CREATE" and content.get("content"):
            self._contents[content["id"]] = content["content"]
            while len(self._contents) > _MAX_PENDING:
                del self._contents[next(iter(self._contents))]
        elif name == "INTERACTION_CREATE" and "application_id" in content:
            self._applications[content["id"]] = content["application_id"]
            while len(self._applications) > _MAX_PENDING:
                del self._applications[next(iter(self._applications))]
        elif name == "INTERACTION_FAILURE":
            text = f"interaction {content['id']} was not answered in time, or its answer was invalid"
            self.warn("unanswered_interaction", text, "")

    def add_dispatch(self, actor: str, name: str, data: Any) -> None:
        """Append an event that was sent to a bot, and the first time that it lacks a message's content, a warning."""
        self.add("dispatch", actor=actor, bot=True, name=name)
        if actor in self._lacking_content or name != "MESSAGE_CREATE":
            return
        if not data.get("content") and self._contents.get(data.get("id", "")):
            self._lacking_content.add(actor)
            text = f"message {data['id']} was sent without its content: the intent MESSAGE_CONTENT is missing"
            self.warn("missing_intent", text, actor)


def _category(status: int, code: int) -> str:
    """The category of a warning about a refused request."""
    if status == 429:
        return "rate_limited"
    if status >= 500:
        return "server_error"
    if status == 403 and code in {50001, 50013}:
        return "missing_permission"
    if status in {404, 405} and code == 0:
        return "not_modelled"
    return "refused_request"
