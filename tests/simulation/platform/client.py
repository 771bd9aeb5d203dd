"""A gateway client of the simulation: it identifies, keeps a mirror, resumes, and identifies anew if told.

It checks each event as it arrives: sequence numbers have no hole, messages arrive once and only from channels that the
mirror shows to the user.
"""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any, Final

from tests.gateway.mirror import Mirror
from tests.simulation.platform.server import Server, Socket
from tests.simulation.processes import ProcessLoop
from tests.simulation.randomness import Choices

MARKER: Final = re.compile(r"w\d{5}q")
"""A text that is sent in one request only."""
VIEW: Final = 1 << 10
ADMINISTRATOR: Final = 1 << 3
_NOT_RESUMABLE: Final = frozenset({1000, 1001, 4004, 4007, 4009})
_COUNT_SECONDS: Final = 5.0
"""Seconds by which an event may come later than the thread that counts its message."""
_THREADS: Final = frozenset({10, 11, 12})


class Violation(AssertionError):
    """The platform broke a promise."""


def may_view(record: "Record", user_id: str, guild_id: str, channel_id: str) -> bool:
    """Whether a session's state lets its user view a channel, computed as the public reference describes it."""
    guild = record.mirror.guilds.get(guild_id)
    if guild is None:
        return False
    thread = guild["threads"].get(channel_id) or record.archived.get(channel_id)
    channel = guild["channels"].get(channel_id if thread is None else thread["parent_id"])
    return channel is not None and shows(guild, user_id, channel)


def shows(guild: Any, user_id: str, channel: Any) -> bool:
    """Whether the roles and members of a guild let a user view a channel."""
    member, guild_id = guild["members"].get(user_id), guild["id"]
    if member is None:
        return False
    if guild["owner_id"] == user_id:
        return True
    roles = guild["roles"]
    own = [role for role in member["roles"] if role in roles]
    permissions = int(roles[guild_id]["permissions"])
    for role in own:
        permissions |= int(roles[role]["permissions"])
    if permissions & ADMINISTRATOR:
        return True
    overwrites = {each["id"]: each for each in channel["permission_overwrites"]}
    if guild_id in overwrites:
        permissions = permissions & ~int(overwrites[guild_id]["deny"]) | int(overwrites[guild_id]["allow"])
    allow = deny = 0
    for role in own:
        if role in overwrites:
            allow |= int(overwrites[role]["allow"])
            deny |= int(overwrites[role]["deny"])
    permissions = permissions & ~deny | allow
    if user_id in overwrites:
        permissions = permissions & ~int(overwrites[user_id]["deny"]) | int(overwrites[user_id]["allow"])
    return bool(permissions & VIEW)


class Record:
    """What one session has received from READY on."""

    def __init__(self, session_id: str, ready_at: float) -> None:
        self.id = session_id
        self.ready_at = ready_at
        self.seq = 0
        self.worker = 0
        """The worker that has the session; 0 where there is only one process."""
        self.mirror = Mirror()
        self.announced: frozenset[str] = frozenset()
        """The ids of the guilds that READY named."""
        self.messages: dict[str, list[str]] = {}
        """Ids of created messages by channel, in the order of their events."""
        self.texts: dict[str, dict[str, str]] = {}
        """Contents by channel and message, as of the newest event; without deleted ones."""
        self.archived: dict[str, Any] = {}
        """Threads that the session knew when they were archived."""
        self.listed: set[str] = set()
        """The guilds of READY."""
        self.threads_at: dict[str, float] = {}
        """When the session received each thread last."""
        self.recounted: set[str] = set()
        """Threads with a message that came just after the thread, which may have counted it already."""
        self.changed_at: dict[str, float] = {}
        """When what the user may view of a guild or channel changed last."""

    def unchanged_since(self, guild_id: str, channel_id: str) -> float:
        """Since when the user could or could not view a channel all the time."""
        thread = self.mirror.guilds.get(guild_id, {"threads": {}})["threads"].get(channel_id, {})
        keys = (guild_id, channel_id, thread.get("parent_id"))
        return max(self.ready_at, *(self.changed_at.get(key, 0.0) for key in keys if key))


class Client:
    """One device of a user."""

    def __init__(
        self,
        name: str,
        user_id: str,
        token: Callable[[], str],
        loop: ProcessLoop,
        choices: Choices,
        server: Callable[[Choices, int], Server | None],
    ) -> None:
        self.name = name
        self.user_id = user_id
        self._token = token
        self._loop = loop
        self._choices = choices
        self._server = server
        self._socket: Socket | None = None
        self._beat: asyncio.TimerHandle | None = None
        self.record: Record | None = None
        self.stopped = False
        self.identified = False
        self.resumed = self.events = 0
        self.refused = 0
        """The code with which the gateway refused to let it identify."""
        self.closed: list[tuple[float, int]] = []
        """When which code closed a connection."""
        self.violations: list[str] = []
        self.markers: set[str] = set()
        """The markers in what it received."""
        self.on_interaction: Callable[[Any], None] = lambda _data: None
        self.on_event: Callable[[Client, str, int], None] = lambda _client, _name, _seq: None

    def connect(self) -> None:
        """Open a connection, if there is none."""
        if self.stopped or self._socket is not None:
            return
        server = self._server(self._choices, 0 if self.record is None else self.record.worker)
        if server is None or not server.serving:
            self._connect_later()
            return
        self.identified = False
        opened: list[Socket] = []
        # Messages of an earlier connection, which are still under way, are lost.
        self._socket = socket = server.connect(
            lambda text: self._receive(text) if opened and opened[0] is self._socket else None,
            lambda code: self._closed(code) if opened and opened[0] is self._socket else None,
            lambda: self._choices.delay(0.005, 0.3),
        )
        opened.append(socket)

    def _connect_later(self) -> None:
        self._loop.call_later(self._choices.delay(0.3, 4.0), self.connect)

    def drop(self, code: int = 1006) -> None:
        """Lose the connection; the client resumes soon."""
        if self._socket is not None:
            self._socket.close(code)

    def stop(self) -> None:
        """End the client."""
        self.stopped = True
        self.drop(1000)

    def send(self, op: int, data: Any) -> None:
        """Send a payload."""
        if self._socket is not None:
            self._socket.send({"op": op, "d": data})

    def _closed(self, code: int) -> None:
        self._socket, self.identified = None, False
        self.closed.append((self._loop.time(), code))
        if self._beat is not None:
            self._beat.cancel()
        if code in _NOT_RESUMABLE:
            self.record = None
        if code in {4004, 4014}:
            self.refused = code
            return
        self._connect_later()

    def _heartbeat(self, interval: float) -> None:
        self.send(1, self.record.seq if self.record is not None else None)
        self._beat = self._loop.call_later(interval, self._heartbeat, interval)

    def _receive(self, text: str) -> None:
        self.markers.update(MARKER.findall(text))
        frame = json.loads(text)
        op = frame["op"]
        if op == 10:
            interval = frame["d"]["heartbeat_interval"] / 1000
            self._beat = self._loop.call_later(interval * self._choices.uniform(0, 1), self._heartbeat, interval)
            self._hello()
        elif op == 0:
            self._dispatch(frame["t"], frame["d"], frame["s"])
        elif op == 9:
            if not frame["d"]:
                self.record = None
            self._loop.call_later(self._choices.uniform(0, 1), self._hello)
        elif op == 7:
            self.drop(4000)

    def _hello(self) -> None:
        if self.record is not None:
            self.send(6, {"token": self._token(), "session_id": self.record.id, "seq": self.record.seq})
        else:
            self.send(2, {"token": self._token(), "properties": {}, "large_threshold": 250, "intents": 53608447})

    def _dispatch(self, name: str, data: Any, seq: int) -> None:
        self.events += 1
        self.on_event(self, name, seq)
        if name == "INTERACTION_CREATE":
            self.on_interaction(data)
        if name == "READY":
            self.record = Record(data["session_id"], self._loop.time())
            worker = data["resume_gateway_url"].rpartition("/gateway")[2].strip("/")
            self.record.worker = int(worker) if worker else 0
            self.record.announced = frozenset(guild["id"] for guild in data["guilds"])
            if seq != 1:
                self.violations.append(f"{self.name}: READY has number {seq}")
        record = self.record
        if record is None:
            self.violations.append(f"{self.name}: {name} before READY")
            return
        if seq != record.seq + 1:
            self.violations.append(f"{self.name}: {name} has number {seq} after {record.seq}")
        record.seq = seq
        if name == "RESUMED":
            self.resumed += 1
        if name in {"READY", "RESUMED"}:
            self.identified = True
        self._check(record, name, data)
        if name == "READY":
            record.listed = {guild["id"] for guild in data["guilds"]}
        if name == "GUILD_DELETE" and data["id"] in record.listed - record.mirror.guilds.keys():
            return  # one of READY that the user left before it was sent
        self._mirror(record, name, data)
        self._note_changes(record, name, data)
        self._note_threads(record, name, data)

    def _mirror(self, record: Record, name: str, data: Any) -> None:
        if name == "THREAD_UPDATE":
            known = record.mirror.guilds.get(data["guild_id"], {}).get("threads", {})
            if data["thread_metadata"]["archived"] and (data["id"] in known or data["id"] in record.archived):
                record.archived[data["id"]] = data
            else:
                record.archived.pop(data["id"], None)
        try:
            record.mirror.apply(name, data)
        except KeyError as error:
            # A guild that READY named may be deleted before its GUILD_CREATE. Else the client was never told of it.
            if name != "GUILD_DELETE" or data["id"] not in record.announced:
                self.violations.append(f"{self.name}: {name} names {error}, which the session has not: {data}")

    def _check(self, record: Record, name: str, data: Any) -> None:
        if not name.startswith("MESSAGE_") or "guild_id" not in data:
            return
        guild_id, channel_id = data["guild_id"], data["channel_id"]
        if not may_view(record, self.user_id, guild_id, channel_id):
            self.violations.append(f"{self.name}: {name} {data.get('id')} of channel {channel_id} that is hidden")
        texts = record.texts.setdefault(channel_id, {})
        if name == "MESSAGE_CREATE":
            order = record.messages.setdefault(channel_id, [])
            if data["id"] in order:
                self.violations.append(f"{self.name}: {name} {data['id']} twice")
            order.append(data["id"])
            texts[data["id"]] = data["content"]
        elif name == "MESSAGE_UPDATE" and data["id"] in texts and "content" in data:
            texts[data["id"]] = data["content"]
        elif name == "MESSAGE_DELETE":
            texts.pop(data["id"], None)
        elif name == "MESSAGE_DELETE_BULK":
            for message_id in data["ids"]:
                texts.pop(message_id, None)

    def _note_threads(self, record: Record, name: str, data: Any) -> None:
        """Note of which threads a message may be counted twice: in the thread, and by its event."""
        now = self._loop.time()
        threads = data["threads"] if name in {"GUILD_CREATE", "THREAD_LIST_SYNC"} else []
        if name in {"THREAD_CREATE", "THREAD_UPDATE"}:
            threads = [data]
        for thread in threads:
            record.threads_at[thread["id"]] = now
            record.recounted.discard(thread["id"])
        if name in {"MESSAGE_CREATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK"}:
            channel_id = data["channel_id"]
            if now - record.threads_at.get(channel_id, -_COUNT_SECONDS) < _COUNT_SECONDS:
                record.recounted.add(channel_id)

    def _note_changes(self, record: Record, name: str, data: Any) -> None:
        now = self._loop.time()
        if name in {"GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE"}:
            record.changed_at[data["id"]] = now
        elif name.startswith("GUILD_ROLE_") or (
            name in {"GUILD_MEMBER_UPDATE", "GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE"}
            and data["user"]["id"] == self.user_id
        ):
            record.changed_at[data["guild_id"]] = now
        elif name in {"CHANNEL_CREATE", "CHANNEL_UPDATE", "CHANNEL_DELETE"}:
            record.changed_at[data["id"]] = now
        elif name == "THREAD_LIST_SYNC" or name.startswith("THREAD_"):
            record.changed_at[data.get("id", data["guild_id"])] = now
