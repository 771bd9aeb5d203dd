"""A client that follows the protocol: it identifies, mirrors what it is sent, resumes, and identifies anew if told."""

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.intents import ALL, Intent
from tests.gateway.list_mirror import ListMirror, row_id
from tests.gateway.mirror import Mirror
from tests.simulation.gateway.model import Channel, Guild, SentMessage, World
from tests.simulation.gateway.transport import SimulatedSocket
from tests.simulation.loop import SimulatedLoop
from tests.simulation.randomness import Choices

CLIENT_STATE_V2: Final = 1 << 10
_NOT_RESUMABLE: Final = frozenset({1000, 1001, 4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014})


_MAX_DELAY: Final = 3.0
"""Seconds from the publication of a message to its arrival at a client that reads, unless reads are late."""
_JOIN_SECONDS: Final = 6.0
"""Seconds for which messages may be late after a guild was received, as its events since are sent then."""
_START_SECONDS: Final = 20.0
"""Seconds after READY until which a session may not be complete, so that it ends with its connection."""
_RESUME_SECONDS: Final = 30.0
"""Seconds for which a session certainly can be resumed."""

CONNECTING: Final = "connecting"
IDENTIFYING: Final = "identifying"
RESUMING: Final = "resuming"
RECEIVING_GUILDS: Final = "receiving guilds"
LIVE: Final = "live"
DETACHED: Final = "detached"
STATES: Final = (CONNECTING, IDENTIFYING, RESUMING, RECEIVING_GUILDS, LIVE)
"""The states of a client with a connection."""


class Violation(AssertionError):
    """The gateway broke a promise."""


class Dialer(Protocol):
    """Opens WebSockets to nodes."""

    def connect(
        self, node: str | None, name: str, on_message: Callable[[str], None], on_close: Callable[[int], None]
    ) -> tuple[str, SimulatedSocket] | None:
        """A WebSocket to a node, to any if it is gone or None, with the name of the node; None if there is no node."""

    def late_seconds(self, node: str, guild_id: GuildId, since: float) -> float:
        """How long events of a guild may be late at a node because of late reads of it since a time."""

    def ends_of_sessions(self, node: str) -> int | None:
        """How much has happened at a node that ends sessions; None if it is not known."""


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
        self.ready_at = 0.0
        self.ends: int | None = None
        """What `Dialer.ends_of_sessions` was at READY."""
        self.gap = ""
        """How an event was missed, after which the client has to be told to identify anew, if one was."""
        self.since: dict[GuildId, int] = {}
        """The position at which the client had each guild whole."""
        self.since_time: dict[GuildId, float] = {}
        self.awaited: set[str] = set()
        """Guilds of READY that are not sent yet."""
        self.lists: dict[GuildId, ListMirror] = {}
        self.subscriptions: dict[GuildId, list[int]] = {}
        """Channels whose member lists it has subscribed to."""
        self.messages: dict[MessageId, Received] = {}
        self.last_order: dict[GuildId, int] = {}
        self.marks: set[int] = set()
        """The marks of the events that it has received."""
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
        self.status = "online"
        """The status that it states, by IDENTIFY and later."""
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
        self._healthy_since = math.inf
        """When the current connection had READY or RESUMED; infinite before, while missed events are replayed."""
        self._authenticated = False
        self._lost_at = 0.0
        """When the last connection was lost."""
        self.trap: tuple[str, Callable[[], None]] | None = None
        """A state, and what happens to the client soon after it has entered it next."""
        self.on_fault: Callable[[str, str], None] = lambda _kind, _state: None
        """Called with the kind of each fault, and the state in which it strikes the client."""
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
        self.socket.on_fault = self._note_fault
        self._spring_trap()

    def _note_fault(self, kind: str) -> None:
        self.on_fault(kind, self.life)

    @property
    def life(self) -> str:
        """The state in which the client is."""
        if self.socket is None:
            return DETACHED
        if not self._authenticated:
            return CONNECTING
        if not self.identified:
            return IDENTIFYING if self.record is None else RESUMING
        return RECEIVING_GUILDS if self.record is not None and self.record.awaited else LIVE

    def _spring_trap(self) -> None:
        """Let happen what was set for the state that the client is in now, at a moment of it."""
        if self.trap is not None and self.trap[0] == self.life:
            (_, action), self.trap = self.trap, None
            connection = self._connections

            def act() -> None:
                if connection == self._connections and self.socket is not None:
                    action()

            self._loop.call_later(self._choices.delay(0.003, 0.05), act)

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
            self._note_fault("reset" if code == 1006 else "close")
            if code == 1006:
                self.socket.reset()
                return
            self.socket.client_close(code)
            self._closed(self._connections, code)

    def read_slowly(self, seconds: float) -> None:
        """Read nothing for a while."""
        if self.socket is not None:
            self._note_fault("slow reader")
            self.socket.stop_reading(seconds)

    def _drop_socket(self) -> None:
        if self.identified:
            self._lost_at = self._loop.time()
        self.socket, self.identified, self._authenticated = None, False, False
        self._healthy_since = math.inf
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
                self._check_reason()
                self.record = None
                self.invalidated += 1
            self.socket.client_close(4000)
            self._closed(connection, 4000)
        self._spring_trap()

    def _check_reason(self) -> None:
        """Fail if a session cannot be resumed although nothing has happened that would end it."""
        record = self.record
        if record is None or self.life != RESUMING or record.ends is None:
            return
        is_new = self._lost_at - record.ready_at < _START_SECONDS
        is_old = self._loop.time() - self._lost_at > _RESUME_SECONDS
        if not is_new and not is_old and record.ends == self._dialer.ends_of_sessions(record.node):
            raise Violation(f"client {self.number} has to identify anew without a reason")

    def _authenticate(self) -> None:
        self._authenticated = True
        record = self.record
        if record is None:
            presence = {"status": self.status, "since": 0, "activities": [], "afk": False}
            identify: dict[str, Any] = {
                "token": self.token,
                "properties": {},
                "large_threshold": 250,
                "presence": presence,
            }
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
            self.record.ready_at, self.record.ends = self._loop.time(), self._dialer.ends_of_sessions(self._node)
            self.records += 1
        record = self.record
        if record is None:
            if seq == 1:
                raise Violation(f"client {self.number} received {name} before READY")
            return  # READY was missed, of which it has to be told as well
        if seq > record.seq + 1 and not record.gap:
            record.gap = f"received {name} with number {seq} after {record.seq}"
        elif seq <= record.seq or (record.gap and name == "RESUMED"):
            raise Violation(f"client {self.number} received {name} with number {seq} after {record.seq} {record.gap}")
        record.seq = seq
        if not record.gap:
            self._take(record, seq, name, data)

    def _take(self, record: SessionRecord, seq: int, name: str, data: Any) -> None:
        if name in {"READY", "RESUMED"}:
            self._begin(record)
        self.on_event(self, name, seq)
        self._check_mark(record, name, data)
        if not self.silent and self._choices.chance(0.05):
            self._send(1, seq)
        handlers = {
            "GUILD_CREATE": self._hold,
            "MESSAGE_CREATE": self._hold_message,
            "GUILD_MEMBER_LIST_UPDATE": self._apply_list,
        }
        if name in handlers:
            handlers[name](record, data)
        else:
            self._mirror(record, name, data)

    def _check_mark(self, record: SessionRecord, name: str, data: Any) -> None:
        """Fail if the session has received an event twice."""
        mark = data.get("mark") if isinstance(data, dict) else None
        if mark in record.marks:
            raise Violation(f"client {self.number} received {name} twice: {data}")
        if mark is not None:
            record.marks.add(mark)

    def _begin(self, record: SessionRecord) -> None:
        """The connection has a session from now on; commands before may not have arrived."""
        self.identified, self._healthy_since = True, self._loop.time()
        self._send_status()
        for guild_id in record.subscriptions:
            self._send_subscription(guild_id)

    def _mirror(self, record: SessionRecord, name: str, data: Any) -> None:
        if name == "GUILD_DELETE":
            guild_id = GuildId(Snowflake(int(data["id"])))
            for by_guild in (record.since, record.since_time, record.lists, record.subscriptions):
                by_guild.pop(guild_id, None)
            record.awaited.discard(data["id"])
            if data["id"] not in record.mirror.guilds:
                return  # one of READY that was deleted, or that the user left, before it was sent
        try:
            record.mirror.apply(name, data)
        except KeyError as error:
            raise Violation(f"client {self.number} received {name} of what it does not know: {data}") from error
        for guild in data["guilds"] if name == "READY" else ():
            if guild.get("unavailable"):
                record.awaited.add(guild["id"])
            else:
                self._hold(record, guild)

    def _hold(self, record: SessionRecord, data: dict[str, Any]) -> None:
        guild = data | data.get("properties", {})
        guild.pop("properties", None)
        guild.setdefault("soundboard_sounds", [])
        record.mirror.apply("GUILD_CREATE", guild)
        guild_id = GuildId(Snowflake(int(guild["id"])))
        record.since[guild_id] = self._world.position
        record.since_time[guild_id] = self._loop.time() + _JOIN_SECONDS
        record.awaited.discard(guild["id"])
        if not self.bot and self._choices.chance(0.5):
            channel_ids = [int(channel["id"]) for channel in guild["channels"]]
            record.subscriptions[guild_id] = self._choices.sample(channel_ids, 2)
            self._send_subscription(guild_id)
        self._check_channels(guild_id, {ChannelId(Snowflake(int(channel["id"]))) for channel in guild["channels"]})

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
        self._check_delay(record, guild_id, message)
        if not self._world.reached_late(self.user_id, guild_id, message):
            self._check_visible(guild_id, message.channel_id, message.known, f"message {message_id}")

    def _check_delay(self, record: SessionRecord, guild_id: GuildId, message: SentMessage) -> None:
        """Fail if a message was late although neither this client nor its guild gave a reason."""
        assert self.socket is not None
        started = max(self._healthy_since, self.socket.read_again_at + 0.1, record.since_time[guild_id])
        delay = self._loop.time() - message.published_at
        if message.published_at <= started or delay <= _MAX_DELAY:
            return
        if delay > _MAX_DELAY + self._dialer.late_seconds(record.node, guild_id, message.published_at):
            raise Violation(f"client {self.number} received message {message.id} {delay:.1f} s after its publication")

    # Presences

    def set_status(self, status: str) -> None:
        """State another status."""
        self.status = status
        if self.identified:
            self._send_status()

    def _send_status(self) -> None:
        self._send(3, {"status": self.status, "since": 0, "activities": [], "afk": False})

    def presences(self) -> dict[int, dict[int, str]]:
        """The statuses of the others who are not offline, by guild and user; without those who have left unheard."""
        assert self.record is not None
        statuses: dict[int, dict[int, str]] = {}
        for guild_id, guild in self.record.mirror.guilds.items():
            stayed = self._stayed(GuildId(Snowflake(int(guild_id))))
            statuses[int(guild_id)] = {
                int(user_id): presence["status"]
                for user_id, presence in guild["presences"].items()
                if int(user_id) != self.user_id and (self.hears_counts or UserId(Snowflake(int(user_id))) in stayed)
            }
        return statuses

    def expected_presences(self, statuses: Mapping[UserId, str]) -> dict[int, dict[int, str]]:
        """What `presences` has to be, by the statuses of all who are not offline."""
        return {
            int(guild.id): {
                int(user_id): statuses[user_id]
                for user_id in guild.members
                if user_id in statuses
                and user_id != self.user_id
                and self.hears_presences
                and (self.hears_counts or user_id in self._stayed(guild.id))
            }
            for guild in self._world.guilds.values()
            if self.user_id in guild.members
        }

    def _stayed(self, guild_id: GuildId) -> set[UserId]:
        """The members of a guild who have not left since the client received it, if only to join again."""
        assert self.record is not None
        world = self._world
        versions = world.between(guild_id, self.record.since.get(guild_id, world.position), world.position)
        members = [set(guild.members) for guild in versions if guild is not None]
        return set.intersection(*members) if members else set()

    @property
    def hears_presences(self) -> bool:
        """Whether presences are announced to it."""
        return bool(self.intents & Intent.GUILD_PRESENCES)

    # Member lists

    def _send_subscription(self, guild_id: GuildId) -> None:
        record = self.record
        assert record is not None
        channels = {str(channel_id): [[0, 99]] for channel_id in record.subscriptions[guild_id]}
        self._send(37, {"subscriptions": {str(guild_id): {"channels": channels}}})

    @staticmethod
    def _apply_list(record: SessionRecord, data: Any) -> None:
        # Also of a guild without a subscription: the command may have crossed GUILD_DELETE, and the user joined again.
        guild_id = GuildId(Snowflake(int(data["guild_id"])))
        record.lists.setdefault(guild_id, ListMirror()).apply(data)

    def lists(self) -> dict[tuple[int, int], list[str]]:
        """The rows of the lists that it has subscribed to and may see, by guild and channel, in the model's form."""
        record = self.record
        assert record is not None
        shown: dict[tuple[int, int], list[str]] = {}
        for guild_id, guild, channel in self._listed(record):
            mirror = record.lists.get(guild_id) or ListMirror()
            rows = [row for row in mirror.rows.get(guild.list_id(channel), []) if row is not None]
            shown[guild_id, channel.id] = [_list_row(row, guild) for row in rows]
        return shown

    def expected_lists(self, statuses: Mapping[UserId, str]) -> dict[tuple[int, int], list[str]]:
        """What `lists` has to be."""
        assert self.record is not None
        return {
            (guild_id, channel.id): guild.listed_by(channel.id, statuses)
            for guild_id, guild, channel in self._listed(self.record)
        }

    def _listed(self, record: SessionRecord) -> list[tuple[GuildId, Guild, Channel]]:
        guilds = [(guild_id, self._world.guilds.get(guild_id)) for guild_id in record.subscriptions]
        return [
            (guild_id, guild, guild.channels[ChannelId(Snowflake(each))])
            for guild_id, guild in guilds
            if guild is not None and self.user_id in guild.members
            for each in record.subscriptions[guild_id]
            if guild.sees(self.user_id, ChannelId(Snowflake(each)))
        ]

    def _check_visible(self, guild_id: GuildId, channel_id: int, position: int, what: str) -> None:
        """Fail unless the user could see a channel at some time from a position to now."""
        versions = self._world.between(guild_id, position, self._world.position)
        if not any(guild is not None and guild.sees(self.user_id, channel_id) for guild in versions):  # type: ignore[arg-type]
            raise Violation(f"client {self.number} received {what} that its user may not see")

    def _check_channels(self, guild_id: GuildId, channel_ids: set[ChannelId]) -> None:
        """Fail unless GUILD_CREATE has what one version of the guild shows, but for channels deleted since."""
        versions = [guild for _, guild in self._world.versions[guild_id] if guild is not None]
        deleted: set[ChannelId] = set()
        for guild in reversed(versions):
            seen = {channel_id for channel_id in guild.channels if guild.sees(self.user_id, channel_id)}
            if channel_ids <= seen and seen - channel_ids <= deleted:
                return
            deleted |= self._created_before(guild_id, guild) - guild.channels.keys()
        raise Violation(f"client {self.number} received channels of a guild that no version of it shows to its user")

    def _created_before(self, guild_id: GuildId, guild: Guild) -> set[ChannelId]:
        earlier = (other for _, other in self._world.versions[guild_id] if other is not None)
        return {channel_id for other in earlier if other.version <= guild.version for channel_id in other.channels}

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
        return self.hears_counts and self.hears_presences

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


def _list_row(row: Any, guild: Guild) -> str:
    """A row, without roles that were deleted since: of these clients hear by GUILD_ROLE_DELETE."""
    if "group" in row:
        return f"[{row_id(row)}]"
    member = row["member"]
    name = member["nick"] or member["user"]["username"]
    role_ids = sorted(role_id for role_id in map(int, member["roles"]) if role_id in guild.roles)
    return f"{row_id(row)} {name} {member['presence']['status']} {role_ids}"
