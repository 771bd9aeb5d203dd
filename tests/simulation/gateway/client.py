"""A client that follows the protocol: it identifies, mirrors what it is sent, resumes, and identifies anew if told."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final, Protocol

from moothall.objects.ids import GuildId, MessageId, Snowflake, UserId
from moothall.objects.intents import ALL, Intent
from tests.gateway.mirror import Mirror
from tests.simulation.gateway.model import World
from tests.simulation.gateway.transport import SimulatedSocket
from tests.simulation.loop import SimulatedLoop
from tests.simulation.randomness import Choices

CLIENT_STATE_V2: Final = 1 << 10
_NOT_RESUMABLE: Final = frozenset({1000, 1001, 4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014})


class Violation(AssertionError):
    """The gateway broke a promise."""


class Dialer(Protocol):
    """Opens WebSockets to nodes."""

    def connect(
        self, node: str | None, name: str, on_message: Callable[[str], None], on_close: Callable[[int], None]
    ) -> tuple[str, SimulatedSocket] | None:
        """A WebSocket to a node, to any if it is gone or None, with the name of the node; None if there is no node."""


class Received:
    """A message that a session received."""

    __slots__ = ("position", "time")

    def __init__(self, position: int, time: float) -> None:
        self.position = position
        self.time = time


class SessionRecord:
    """What one session has received, from READY until the client identifies anew."""

    def __init__(self, session_id: str, node: str) -> None:
        self.id = session_id
        self.node = node
        self.seq = 0
        self.since: dict[GuildId, int] = {}
        """The position at which the client had each guild whole."""
        self.messages: dict[MessageId, Received] = {}
        self.last_order: dict[GuildId, int] = {}
        self.mirror = Mirror()


class Client:
    """One device of a user."""

    def __init__(
        self, number: int, user_id: UserId, loop: SimulatedLoop, choices: Choices, world: World, dialer: Dialer
    ) -> None:
        self.number = number
        self.user_id = user_id
        self.bot = user_id % 2 == 0
        self._loop = loop
        self._choices = choices
        self._world = world
        self._dialer = dialer
        self.intents = ALL
        if self.bot and choices.chance(0.4):
            self.intents = ALL & ~choices.choice((Intent.GUILD_MEMBERS, Intent.GUILD_PRESENCES))
        self.capabilities = 0 if self.bot or choices.chance(0.4) else CLIENT_STATE_V2
        self.record: SessionRecord | None = None
        self.records = 0
        self.socket: SimulatedSocket | None = None
        self.identified = False
        """Whether the current connection has had READY or RESUMED."""
        self.silent = False
        self.stopped = False
        self._heartbeat: asyncio.TimerHandle | None = None
        self._reconnect: asyncio.TimerHandle | None = None
        self._connections = 0
        self.invalidated = 0
        self.on_event: Callable[[Client, str, int], None] = lambda _client, _name, _seq: None

    # The connection

    def connect(self) -> None:
        """Open a connection, to the node of the session if there is one."""
        self._reconnect = None
        if self.stopped or self.socket is not None:
            return
        self._connections += 1
        connection = self._connections
        node = None if self.record is None else self.record.node
        opened = self._dialer.connect(
            node,
            f"socket{self.number}.{connection}",
            lambda text: self._receive(connection, text),
            lambda code: self._closed(connection, code),
        )
        if opened is None:
            self._connect_later()
            return
        self._node, self.socket = opened

    def _connect_later(self) -> None:
        if self._reconnect is None and not self.stopped:
            self._reconnect = self._loop.call_later(self._choices.delay(0.5, 10.0), self.connect)

    def stop(self, code: int | None = None) -> None:
        """End the client; with a code it closes its connection, else it is gone without a word."""
        self.stopped = True
        if self.socket is not None:
            if code is None:
                self.socket.reset()
            else:
                self.socket.client_close(code)
        self._drop_socket()

    def drop(self, code: int) -> None:
        """Close the connection and connect again soon."""
        if self.socket is not None:
            if code == 1006:
                self.socket.reset()
                return
            self.socket.client_close(code)
            self._closed(self._connections, code)

    def _drop_socket(self) -> None:
        self.socket, self.identified = None, False
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            self._heartbeat = None

    def _closed(self, connection: int, code: int) -> None:
        if connection != self._connections or self.socket is None:
            return
        self._drop_socket()
        if code in _NOT_RESUMABLE:
            self.record = None
        self._connect_later()

    def _send(self, op: int, data: Any) -> None:
        if self.socket is not None:
            self.socket.client_send(json.dumps({"op": op, "d": data}))

    @property
    def token(self) -> str:
        """The token of the user."""
        return f"{'bot' if self.bot else 'user'}-{self.user_id}"

    def _beat(self, interval: float) -> None:
        if self.socket is None:
            return
        if not self.silent:
            self._send(1, None if self.record is None else self.record.seq)
        self._heartbeat = self._loop.call_later(interval, self._beat, interval)

    # Payloads

    def _receive(self, connection: int, text: str) -> None:
        if connection != self._connections or self.socket is None:
            return
        payload = json.loads(text)
        op, data = payload["op"], payload["d"]
        if op == 10:
            interval = data["heartbeat_interval"] / 1000
            self._heartbeat = self._loop.call_later(interval * self._choices.uniform(0.1, 1), self._beat, interval)
            self._authenticate()
        elif op == 0:
            self._dispatch(payload["s"], payload["t"], data)
        elif op == 1:
            self._send(1, None if self.record is None else self.record.seq)
        elif op == 7:
            self.socket.client_close(4000)
            self._closed(connection, 4000)
        elif op == 9:
            if not data:
                self.record = None
                self.invalidated += 1
            self.socket.client_close(4000)
            self._closed(connection, 4000)

    def _authenticate(self) -> None:
        record = self.record
        if record is None:
            identify: dict[str, Any] = {"token": self.token, "properties": {}, "large_threshold": 250}
            if self.bot:
                identify["intents"] = self.intents
            else:
                identify["capabilities"] = self.capabilities
            self._send(2, identify)
        else:
            self._send(6, {"token": self.token, "session_id": record.id, "seq": record.seq})

    def _dispatch(self, seq: int, name: str, data: Any) -> None:
        if name == "READY":
            if self.record is not None:
                raise Violation(f"client {self.number} received READY in a session")
            self.record = SessionRecord(data["session_id"], self._node)
            self.records += 1
        record = self.record
        if record is None:
            raise Violation(f"client {self.number} received {name} before READY")
        if seq != record.seq + 1:
            raise Violation(f"client {self.number} received {name} with number {seq} after {record.seq}")
        record.seq = seq
        self.identified = self.identified or name in {"READY", "RESUMED"}
        self.on_event(self, name, seq)
        if not self.silent and self._choices.chance(0.05):
            self._send(1, seq)
        if name == "GUILD_CREATE":
            self._hold(record, data)
        elif name == "MESSAGE_CREATE":
            self._hold_message(record, data)
        else:
            self._mirror(record, name, data)

    def _mirror(self, record: SessionRecord, name: str, data: Any) -> None:
        if name == "GUILD_DELETE":
            record.since.pop(GuildId(Snowflake(int(data["id"]))), None)
            if data["id"] not in record.mirror.guilds:
                return  # one of READY that was deleted, or that the user left, before it was sent
        try:
            record.mirror.apply(name, data)
        except KeyError as error:
            raise Violation(f"client {self.number} received {name} of what it does not know: {data}") from error
        for guild in data["guilds"] if name == "READY" else ():
            if not guild.get("unavailable"):
                self._hold(record, guild)

    def _hold(self, record: SessionRecord, data: dict[str, Any]) -> None:
        guild = data | data.get("properties", {})
        guild.pop("properties", None)
        guild.setdefault("soundboard_sounds", [])
        record.mirror.apply("GUILD_CREATE", guild)
        guild_id = GuildId(Snowflake(int(guild["id"])))
        record.since[guild_id] = self._world.position
        everyone = self._world.versions[guild_id]
        for channel in guild["channels"]:
            self._check_visible(guild_id, int(channel["id"]), everyone[0][0], "a channel of GUILD_CREATE")

    def _hold_message(self, record: SessionRecord, data: dict[str, Any]) -> None:
        message_id = MessageId(Snowflake(int(data["id"])))
        guild_id, message = self._world.message_by_id[message_id]
        if message_id in record.messages:
            raise Violation(f"client {self.number} received message {message_id} twice")
        if message.order < record.last_order.get(guild_id, 0):
            raise Violation(f"client {self.number} received message {message_id} out of order")
        if str(guild_id) not in record.mirror.guilds:
            raise Violation(f"client {self.number} received message {message_id} of a guild that it does not know")
        record.last_order[guild_id] = message.order
        record.messages[message_id] = Received(message.position, self._loop.time())
        self._check_visible(guild_id, message.channel_id, message.known, f"message {message_id}")

    def _check_visible(self, guild_id: GuildId, channel_id: int, position: int, what: str) -> None:
        """Fail unless the user could see a channel at some time from a position to now."""
        versions = self._world.between(guild_id, position, self._world.position)
        if not any(guild is not None and guild.sees(self.user_id, channel_id) for guild in versions):  # type: ignore[arg-type]
            raise Violation(f"client {self.number} received {what} that its user may not see")

    # The state

    def state(self) -> dict[int, Any]:
        """The mirrored guilds, in the form of `Guild.seen_by`."""
        assert self.record is not None
        guilds = self.record.mirror.guilds
        return {int(guild_id): self._guild_state(guild) for guild_id, guild in guilds.items()}

    def expected_state(self) -> dict[int, Any]:
        """What the mirror has to be."""
        return {
            int(guild.id): guild.seen_by(self.user_id, members=self.hears_members, count=self.hears_counts)
            for guild in self._world.guilds.values()
            if self.user_id in guild.members
        }

    @property
    def hears_counts(self) -> bool:
        """Whether members who join and leave are announced to it."""
        return bool(self.intents & Intent.GUILD_MEMBERS)

    @property
    def hears_members(self) -> bool:
        """Whether it has all members of small guilds."""
        return self.hears_counts and bool(self.intents & Intent.GUILD_PRESENCES)

    def _guild_state(self, guild: dict[str, Any]) -> dict[str, Any]:
        members = guild["members"] if self.hears_members else {}
        own = {key: value for key, value in guild["members"].items() if key == str(self.user_id)}
        channels = guild["channels"].values()
        state = {
            "name": guild["name"],
            "owner_id": int(guild["owner_id"]),
            "roles": {int(role["id"]): int(role["permissions"]) for role in guild["roles"].values()},
            "channels": {int(c["id"]): (c["name"], _overwrites(c["permission_overwrites"])) for c in channels},
            "threads": {int(t["id"]): (int(t["parent_id"]), t["name"]) for t in guild["threads"].values()},
            "members": {
                int(user_id): (member["nick"], frozenset(int(role_id) for role_id in member["roles"]))
                for user_id, member in (members or own).items()
            },
        }
        return state | ({"member_count": guild["member_count"]} if self.hears_counts else {})


def _overwrites(overwrites: list[Any]) -> dict[int, tuple[int, int]]:
    return {int(each["id"]): (int(each["allow"]), int(each["deny"])) for each in overwrites}
