"""A WebSocket client in memory, and a source that the gateway reads without a database."""

# ruff: noqa: ARG002 - the source implements a protocol and ignores some parameters

import asyncio
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import zstandard
from msgspec import UNSET, Raw

from moothall.bus import Audience, Envelope
from moothall.bus.local import LocalBus
from moothall.gateway.audience.guild_view import ChannelView, GuildView, MemberView
from moothall.gateway.node import GatewayNode
from moothall.gateway.sessions.callbacks import GatewayCallbacks
from moothall.gateway.sessions.session import Session
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.account_state import NO_STATE, AccountState
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.gateway.snapshot.guild_snapshot import GuildFields, GuildSnapshot
from moothall.gateway.snapshot.ready import Identity
from moothall.gateway.snapshot.source import ListedMember, OnlinePresences
from moothall.objects.activity import EmbeddedActivityInstance
from moothall.objects.call import Call
from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.intents import Intent
from moothall.objects.member import Member
from moothall.objects.permissions import Permissions
from moothall.objects.user import User
from moothall.objects.wire import Timestamp
from moothall.runtime import turns
from tests.conformance.event_schemas import check_dispatch
from tests.gateway import terms
from tools.record_events import RECORDS, record_dispatch

VIEW = int(Permissions.VIEW_CHANNEL)
GUILD = GuildId(Snowflake(1 << 22))
TOWN, CRYPT = ChannelId(Snowflake(GUILD + 10)), ChannelId(Snowflake(GUILD + 11))
CAPTAIN = RoleId(Snowflake(GUILD + 20))
ALICE, BOB, BOT = (UserId(Snowflake(number)) for number in (101, 102, 103))
PRIVILEGED_FLAGS = 1 << 12 | 1 << 14 | 1 << 18


class Closed(Exception):
    """The server closed the connection."""

    def __init__(self, code: int) -> None:
        super().__init__(str(code))
        self.code = code


class Peer:
    """One WebSocket client: `send` sends, `receive` returns the next payload."""

    def __init__(self, node: GatewayNode, query: str = "v=10&encoding=json") -> None:
        self._inbound: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._heard: asyncio.Queue[Any] = asyncio.Queue()
        self._reads = asyncio.Event()
        self._reads.set()
        self._etf = "encoding=etf" in query
        self._inflate: Any = None
        if "zlib-stream" in query:
            self._inflate = zlib.decompressobj().decompress
        elif "zstd-stream" in query:
            self._inflate = zstandard.ZstdDecompressor().decompressobj().decompress
        # What a source in memory says is only as much as its test needs.
        self._judges = isinstance(node._source, DatabaseSource)
        self._bot = False
        self.seq = 0
        self.closed = 0
        self.transport = self
        self.aborted = False
        self.accepted = False
        scope = {"type": "websocket", "path": "/gateway", "query_string": query.encode(), "headers": []}
        self._inbound.put_nowait({"type": "websocket.connect"})
        self.task = asyncio.get_running_loop().create_task(node.serve(scope, self._inbound.get, self._send))

    def abort(self) -> None:
        """Abort the transport, as the server does with one whose client does not read."""
        self.aborted = True
        self._heard.put_nowait(Closed(1006))
        self._inbound.put_nowait({"type": "websocket.disconnect", "code": 1006})

    async def _send(self, event: Any) -> None:
        await self._reads.wait()
        if event["type"] == "websocket.accept":
            self.accepted = True
        elif event["type"] == "websocket.close":
            code = event.get("code", 1000)  # absent where the connection is refused
            self._heard.put_nowait(Closed(code))
            self._inbound.put_nowait({"type": "websocket.disconnect", "code": code})
        else:
            self._heard.put_nowait(event.get("text", event.get("bytes")))

    def stop_reading(self) -> None:
        """Stop reading."""
        self._reads.clear()

    def resume_reading(self) -> None:
        """Read again."""
        self._reads.set()

    def send(self, payload: Any) -> None:
        """Send a payload, or text or bytes as they are."""
        if not isinstance(payload, str | bytes):
            payload = terms.pack(payload) if self._etf else json.dumps(payload)
        kind = "bytes" if isinstance(payload, bytes) else "text"
        self._inbound.put_nowait({"type": "websocket.receive", kind: payload})

    def drop(self, code: int = 1006) -> None:
        """Close the connection from the client's side."""
        self._inbound.put_nowait({"type": "websocket.disconnect", "code": code})

    def end(self) -> None:
        """End `receive_until_closed`, if the server did not close the connection."""
        self._heard.put_nowait(Closed(0))

    async def disconnect(self, code: int = 1006) -> None:
        """Close the connection from the client's side and wait until the server has handled it."""
        self.drop(code)
        await self.task

    async def receive(self) -> dict[str, Any]:
        """The next payload. Raises Closed."""
        async with asyncio.timeout(30):
            message = await self._heard.get()
        if isinstance(message, Closed):
            raise message
        if self._inflate is not None:
            message = self._inflate(message)
        elif isinstance(message, bytes) and not self._etf:
            message = zlib.decompress(message)
        payload: dict[str, Any] = terms.unpack(message)[0] if self._etf else json.loads(message)
        if payload["s"] is not None:
            self.seq = payload["s"]
        if self._judges and payload["op"] == 0:
            self._judge(payload)
        return payload

    def _judge(self, payload: dict[str, Any]) -> None:
        """Check that a bot's library can read a dispatch."""
        name, data = payload["t"], payload["d"]
        if name == "READY":
            self._bot = data["user"].get("bot", False)
        if self._bot:
            check_dispatch(name, json.dumps(data).encode())
            if RECORDS:
                record_dispatch(name, data)

    async def receive_all(self) -> list[dict[str, Any]]:
        """The payloads received until now and in the next event loop iterations."""
        payloads = []
        await run_pending()
        while not self._heard.empty():
            payloads.append(await self.receive())
        return payloads

    async def dispatches(self) -> list[tuple[str, Any]]:
        """As `receive_all`: (name, data) of dispatches only."""
        return [(payload["t"], payload["d"]) for payload in await self.receive_all() if payload["op"] == 0]

    async def names(self) -> list[str]:
        """As `dispatches`: the names only."""
        return [name for name, _ in await self.dispatches()]

    async def receive_until_closed(self) -> list[dict[str, Any]]:
        """The payloads until the connection ends; `closed` is its close code then."""
        payloads = []
        try:
            while True:
                payloads.append(await self.receive())
        except Closed as closed:
            self.closed = closed.code
            return payloads

    async def close_code(self) -> int:
        """The server's close code; payloads before it are dropped."""
        await self.receive_until_closed()
        return self.closed

    async def identify(self, token: str = "alice", **fields: Any) -> dict[str, Any]:
        """Identify; returns the `d` of READY. GUILD_CREATE of each guild is not received yet."""
        assert (await self.receive())["op"] == 10
        self.send({"op": 2, "d": {"token": token, "properties": {}, **fields}})
        ready = await self.receive()
        assert ready["t"] == "READY"
        data: dict[str, Any] = ready["d"]
        return data


async def run_pending() -> None:
    """Run the event loop until no work begins in its turns and pending callbacks are done."""
    loop, calm = asyncio.get_running_loop(), 0
    while calm < 20:
        await asyncio.sleep(0)
        calm = 0 if turns._of_thread.turns._loop is loop else calm + 1


class World:
    """A source with one guild: two channels, a role that may view the second one, two people and a bot."""

    embedded = True

    def __init__(self) -> None:
        self.flags = PRIVILEGED_FLAGS
        self.roles = {RoleId(GUILD): VIEW, CAPTAIN: 0}
        self.channels: dict[ChannelId, ChannelView] = {
            TOWN: ChannelView(0, {}, "town"),
            CRYPT: ChannelView(0, {GUILD: (0, VIEW), CAPTAIN: (VIEW, 0)}, "crypt"),
        }
        self.members: dict[UserId, tuple[RoleId, ...]] = {ALICE: (), BOB: (), BOT: ()}
        self.guilds: list[GuildId] = [GUILD]
        self.loads = 0
        self.pause: asyncio.Event | None = None
        self.state_version: int | None = None
        """The number of the last join or leave, if the source knows it."""

    async def _read(self) -> None:
        self.loads += 1
        if self.pause is not None:
            await self.pause.wait()

    async def identity(self, token: str) -> Identity | None:
        user_id = {"alice": ALICE, "bob": BOB, "bot": BOT}.get(token)
        if user_id is None:
            return None
        bot = user_id == BOT
        return Identity(user_id, bot, ApplicationId(BOT) if bot else None, self.flags if bot else 0, token.encode())

    async def current_user(self, user_id: UserId) -> bytes:
        return json.dumps({"id": str(user_id), "username": "someone"}).encode()

    async def account_state(self, user_id: UserId, *, settings_proto: bool = False) -> AccountState:
        return NO_STATE

    async def guild_ids(self, user_id: UserId) -> list[GuildId]:
        return list(self.guilds) if user_id in self.members else []

    async def guild_view(self, guild_id: GuildId) -> GuildView | None:
        await self._read()
        owner_id = UserId(Snowflake(1))
        return GuildView(guild_id, owner_id, self.roles, self.channels, state_version=self.state_version)

    async def member_view(self, guild_id: GuildId, user_id: UserId) -> MemberView | None:
        await self._read()
        return (
            MemberView(user_id, self.members[user_id], pending=False, timed_out_until=0, sessions=[])
            if user_id in self.members
            else None
        )

    async def guild_snapshot(
        self,
        view: GuildView,
        member: MemberView,
        visible: frozenset[ChannelId],
        session: Session,
        online: OnlinePresences,
    ) -> GuildSnapshot | None:
        await self._read()
        fields = GuildFields(
            hub_type=None,
            profile=None,
            joined_at=None,
            large=False,
            member_count=len(self.members),
            voice_states=[],
            members=[_member(member.user_id, member.role_ids)],
            channels=[Channel(id=channel_id, type=0) for channel_id in sorted(visible)],
            threads=[],
            presences=[],
            stage_instances=[],
            guild_scheduled_events=[],
            soundboard_sounds=UNSET,
            activity_instances=[],
        )
        return GuildSnapshot(view.id, b'{"id":"%d"}' % view.id, fields, self.state_version or 0)

    async def channel_objects(self, guild_id: GuildId, channel_ids: Iterable[ChannelId]) -> dict[ChannelId, bytes]:
        await self._read()
        return {c: json.dumps({"id": str(c), "type": 0}).encode() for c in channel_ids if c in self.channels}

    async def channels_with_threads(self, channel_ids: frozenset[ChannelId]) -> frozenset[ChannelId]:
        return frozenset()

    async def channels_with_private_threads(self, channel_ids: frozenset[ChannelId]) -> frozenset[ChannelId]:
        return frozenset()

    async def thread_list_sync(
        self, view: GuildView, member: MemberView, channel_ids: frozenset[ChannelId], *, allow_empty: bool
    ) -> bytes | None:
        return b"{}" if allow_empty else None

    async def thread_members(
        self, view: GuildView, member: MemberView, thread_id: ChannelId
    ) -> list[ThreadMember] | None:
        return None

    async def stages_and_events(self, view: GuildView, channel_ids: frozenset[ChannelId]) -> list[tuple[str, bytes]]:
        return []

    async def activity_instances(self, guild_id: GuildId) -> dict[ChannelId, list[EmbeddedActivityInstance]]:
        return {}

    async def calls(self, user_id: UserId) -> list[Call]:
        return []

    async def direct_activities(self, user_id: UserId) -> list[EmbeddedActivityInstance]:
        return []

    async def thread_ids(
        self, view: GuildView, member: MemberView, channel_ids: frozenset[ChannelId]
    ) -> frozenset[ChannelId]:
        return frozenset()

    async def voice_states(self, view: GuildView, channel_ids: frozenset[ChannelId]) -> list[bytes]:
        return []

    async def voice_statuses(self, guild_id: GuildId) -> dict[ChannelId, str]:
        return {}

    async def voice_starts(self, guild_id: GuildId) -> dict[ChannelId, Timestamp]:
        return {}

    async def soundboard_sounds(self, guild_id: GuildId) -> bytes:
        return b"[]"

    async def member_count(self, guild_id: GuildId) -> int:
        return len(self.members)

    async def members_page(self, guild_id: GuildId, after: UserId | None, limit: int) -> list[Member]:
        user_ids = sorted(user_id for user_id in self.members if after is None or user_id > after)[:limit]
        return [_member(user_id) for user_id in user_ids]

    async def members_by_prefix(self, guild_id: GuildId, prefix: str, limit: int) -> list[Member]:
        return [m for m in map(_member, sorted(self.members)) if m.user.username.startswith(prefix.lower())][:limit]  # type: ignore[union-attr]

    async def members_by_id(self, guild_id: GuildId, user_ids: Sequence[UserId]) -> list[Member]:
        return [_member(user_id) for user_id in user_ids if user_id in self.members]

    async def listed_members(self, guild_id: GuildId, user_ids: Sequence[UserId]) -> list[ListedMember]:
        return [
            ListedMember(f"user{u}", MemberView(u, self.members[u], pending=False, timed_out_until=0, sessions=[]))
            for u in user_ids
            if u in self.members
        ]

    async def listed_members_page(self, guild_id: GuildId, after: UserId | None, limit: int) -> list[ListedMember]:
        user_ids = sorted(user_id for user_id in self.members if after is None or user_id > after)[:limit]
        return await self.listed_members(guild_id, user_ids)

    async def hoisted_role_ids(self, guild_id: GuildId) -> list[RoleId]:
        return []


def _member(user_id: UserId, role_ids: Sequence[RoleId] = (CAPTAIN,)) -> Member:
    return Member(
        user=User(id=user_id, username=f"user{user_id}"),
        roles=list(role_ids),
        joined_at=None,
    )


def create_node(world: Any, callbacks: GatewayCallbacks | None = None, **settings: Any) -> tuple[GatewayNode, LocalBus]:
    """A node over a source, and its bus."""
    bus = LocalBus()
    return GatewayNode(GatewaySettings(**settings), bus, world, callbacks), bus


def event(name: str, data: Any = None, **routing: Any) -> Envelope:
    """An envelope, for the guild by default."""
    routing.setdefault("audience", Audience.GUILD)
    if routing["audience"] in {Audience.GUILD, Audience.CHANNEL}:
        routing.setdefault("guild_id", GUILD)
    stripped = routing.pop("stripped", None)
    return Envelope(
        name=name,
        data=Raw(json.dumps(data or {}).encode()),
        stripped=None if stripped is None else Raw(json.dumps(stripped).encode()),
        **routing,
    )


def message(text: str, channel_id: ChannelId = TOWN) -> Envelope:
    """MESSAGE_CREATE."""
    return event(
        "MESSAGE_CREATE",
        {"content": text},
        stripped={"content": ""},
        audience=Audience.CHANNEL,
        channel_id=channel_id,
        intent=Intent.GUILD_MESSAGES,
    )
