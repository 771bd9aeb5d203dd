"""A WebSocket peer in memory, and a world that the gateway reads from without a database."""

# ruff: noqa: ARG002 - the world answers a protocol, and needs less than it is told

import asyncio
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import zstandard
from msgspec import Raw

from moothall.bus import Audience, Envelope
from moothall.bus.local import LocalBus
from moothall.gateway.guild_view import ChannelView, GuildView, MemberView
from moothall.gateway.hooks import Hooks
from moothall.gateway.node import GatewayNode
from moothall.gateway.ready import Identity
from moothall.gateway.session import Session
from moothall.gateway.settings import GatewaySettings
from moothall.objects.ids import RoleId, Snowflake, UserId
from moothall.objects.intents import Intent
from moothall.objects.member import Member
from moothall.objects.permissions import Permissions
from moothall.objects.user import User

VIEW = int(Permissions.VIEW_CHANNEL)
GUILD = 1 << 22
TOWN, CRYPT = GUILD + 10, GUILD + 11
CAPTAIN = GUILD + 20
ALICE, BOB, BOT = 101, 102, 103
PRIVILEGED_FLAGS = 1 << 12 | 1 << 14 | 1 << 18


class Closed(Exception):
    """The server closed the connection."""

    def __init__(self, code: int) -> None:
        super().__init__(str(code))
        self.code = code


class Peer:
    """One WebSocket client: `say` sends, `hear` gives the next payload. `stall` stops reading."""

    def __init__(self, node: GatewayNode, query: str = "v=10&encoding=json") -> None:
        self._inbound: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._heard: asyncio.Queue[Any] = asyncio.Queue()
        self._reads = asyncio.Event()
        self._reads.set()
        self._inflate: Any = None
        if "zlib-stream" in query:
            self._inflate = zlib.decompressobj().decompress
        elif "zstd-stream" in query:
            self._inflate = zstandard.ZstdDecompressor().decompressobj().decompress
        self.seq = 0
        self.closed = 0
        self.transport = self
        self.aborted = False
        self.accepted = False
        scope = {"type": "websocket", "path": "/gateway", "query_string": query.encode()}
        self._inbound.put_nowait({"type": "websocket.connect"})
        self.task = asyncio.get_running_loop().create_task(node.serve(scope, self._inbound.get, self._send))

    def abort(self) -> None:
        """What the server does to a transport that it gives up."""
        self.aborted = True
        self._heard.put_nowait(Closed(1006))
        self._inbound.put_nowait({"type": "websocket.disconnect", "code": 1006})

    async def _send(self, event: Any) -> None:
        await self._reads.wait()
        if event["type"] == "websocket.accept":
            self.accepted = True
        elif event["type"] == "websocket.close":
            self._heard.put_nowait(Closed(event["code"]))
            self._inbound.put_nowait({"type": "websocket.disconnect", "code": event["code"]})
        else:
            self._heard.put_nowait(event.get("text", event.get("bytes")))

    def stall(self) -> None:
        """Stop reading."""
        self._reads.clear()

    def read_on(self) -> None:
        """Read again."""
        self._reads.set()

    def say(self, payload: Any) -> None:
        """Send a payload, or text or bytes as they are."""
        kind = "bytes" if isinstance(payload, bytes) else "text"
        text = payload if isinstance(payload, str | bytes) else json.dumps(payload)
        self._inbound.put_nowait({"type": "websocket.receive", kind: text})

    def drop(self, code: int = 1006) -> None:
        """Lose the socket."""
        self._inbound.put_nowait({"type": "websocket.disconnect", "code": code})

    def end(self) -> None:
        """Nothing more will come: what `heard_until_closed` waits for if the server did not close."""
        self._heard.put_nowait(Closed(0))

    async def dropped(self, code: int = 1006) -> None:
        """Lose the socket and wait until the server knows."""
        self.drop(code)
        await self.task

    async def hear(self) -> dict[str, Any]:
        """The next payload. Raises Closed."""
        async with asyncio.timeout(5):
            message = await self._heard.get()
        if isinstance(message, Closed):
            raise message
        if isinstance(message, bytes):
            message = self._inflate(message) if self._inflate is not None else zlib.decompress(message)
        payload: dict[str, Any] = json.loads(message)
        if payload["s"] is not None:
            self.seq = payload["s"]
        return payload

    async def all_heard(self) -> list[dict[str, Any]]:
        """What has arrived up to now and in the next moments."""
        found = []
        await settle()
        while not self._heard.empty():
            found.append(await self.hear())
        return found

    async def dispatches(self) -> list[tuple[str, Any]]:
        """As `all_heard`: names and data of dispatches only."""
        return [(payload["t"], payload["d"]) for payload in await self.all_heard() if payload["op"] == 0]

    async def names(self) -> list[str]:
        """As `dispatches`, the names alone."""
        return [name for name, _ in await self.dispatches()]

    async def heard_until_closed(self) -> list[dict[str, Any]]:
        """Everything up to the end of the connection, whose code is `closed` then."""
        found = []
        try:
            while True:
                found.append(await self.hear())
        except Closed as closed:
            self.closed = closed.code
            return found

    async def close_code(self) -> int:
        """The code with which the server closes, whatever comes before it."""
        await self.heard_until_closed()
        return self.closed

    async def identify(self, token: str = "alice", **fields: Any) -> dict[str, Any]:
        """Identify; the `d` of READY. GUILD_CREATE of each guild is still to be heard."""
        assert (await self.hear())["op"] == 10
        self.say({"op": 2, "d": {"token": token, "properties": {}, **fields}})
        ready = await self.hear()
        assert ready["t"] == "READY"
        found: dict[str, Any] = ready["d"]
        return found


async def settle() -> None:
    """Let everything that is ready to run do so."""
    for _ in range(20):
        await asyncio.sleep(0)


class World:
    """One guild with two channels, a role that may see the second one, two people and a bot."""

    embedded = True

    def __init__(self) -> None:
        self.flags = PRIVILEGED_FLAGS
        self.roles = {GUILD: VIEW, CAPTAIN: 0}
        self.channels: dict[int, ChannelView] = {
            TOWN: ChannelView(0, {}, "town"),
            CRYPT: ChannelView(0, {GUILD: (0, VIEW), CAPTAIN: (VIEW, 0)}, "crypt"),
        }
        self.members: dict[int, tuple[int, ...]] = {ALICE: (), BOB: (), BOT: ()}
        self.guilds = [GUILD]
        self.loads = 0
        self.pause: asyncio.Event | None = None

    async def _read(self) -> None:
        self.loads += 1
        if self.pause is not None:
            await self.pause.wait()

    async def identity(self, token: str) -> Identity | None:
        user_id = {"alice": ALICE, "bob": BOB, "bot": BOT}.get(token)
        if user_id is None:
            return None
        bot = user_id == BOT
        return Identity(user_id, bot, BOT if bot else 0, self.flags if bot else 0, token.encode())

    async def current_user(self, user_id: int) -> bytes:
        return json.dumps({"id": str(user_id), "username": "someone"}).encode()

    async def guild_ids(self, user_id: int) -> list[int]:
        return list(self.guilds) if user_id in self.members else []

    def use_presences(self, presences_of: Any) -> None:
        self.presences_of = presences_of

    async def view(self, guild_id: int) -> GuildView | None:
        await self._read()
        return GuildView(guild_id, 1, self.roles, self.channels)

    async def member(self, guild_id: int, user_id: int) -> MemberView | None:
        await self._read()
        return (
            MemberView(user_id, self.members[user_id], pending=False, timed_out_until=0, sessions=[])
            if user_id in self.members
            else None
        )

    async def guild_create(
        self, view: GuildView, member: MemberView, visible: frozenset[int], session: Session, *, joined: bool
    ) -> bytes | None:
        await self._read()
        made: dict[str, Any] = {
            "id": str(view.id),
            "channels": [{"id": str(c)} for c in sorted(visible)],
        }
        return json.dumps(made if joined else made | {"unavailable": False}).encode()

    async def channel_objects(self, guild_id: int, channel_ids: Iterable[int]) -> dict[int, bytes]:
        await self._read()
        return {c: json.dumps({"id": str(c), "type": 0}).encode() for c in channel_ids if c in self.channels}

    async def threaded(self, channel_ids: frozenset[int]) -> frozenset[int]:
        return frozenset()

    async def threads(self, view: GuildView, member: MemberView, channel_ids: frozenset[int]) -> bytes | None:
        return None

    async def private_threaded(self, channel_ids: frozenset[int]) -> frozenset[int]:
        return frozenset()

    async def threads_now(self, view: GuildView, member: MemberView, channel_ids: frozenset[int]) -> bytes:
        return b"{}"

    async def gatherings(self, view: GuildView, channel_ids: frozenset[int]) -> list[tuple[str, bytes]]:
        del view, channel_ids
        return []

    async def voice(self, view: GuildView, channel_ids: frozenset[int]) -> list[bytes]:
        return []

    async def sounds(self, guild_id: int) -> bytes:
        return b"[]"

    async def member_count(self, guild_id: int) -> int:
        return len(self.members)

    async def members_page(self, guild_id: int, after: int, maximum: int) -> list[Member]:
        found = sorted(user_id for user_id in self.members if user_id > after)[:maximum]
        return [_member(user_id) for user_id in found]

    async def members_named(self, guild_id: int, prefix: str, maximum: int) -> list[Member]:
        return [m for m in map(_member, sorted(self.members)) if m.user.username.startswith(prefix.lower())][:maximum]  # type: ignore[union-attr]

    async def members_by_id(self, guild_id: int, user_ids: Sequence[int]) -> list[Member]:
        return [_member(user_id) for user_id in user_ids if user_id in self.members]


def _member(user_id: int) -> Member:
    return Member(
        user=User(id=UserId(Snowflake(user_id)), username=f"user{user_id}"),
        roles=[RoleId(Snowflake(CAPTAIN))],
        joined_at=None,
    )


def node_of(world: Any, hooks: Hooks | None = None, **settings: Any) -> tuple[GatewayNode, LocalBus]:
    """A node over a world, and its bus."""
    bus = LocalBus()
    return GatewayNode(GatewaySettings(**settings), bus, world, hooks), bus


def event(name: str, data: Any = None, **routing: Any) -> Envelope:
    """An envelope for the guild unless told otherwise."""
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


def message(text: str, channel_id: int = TOWN) -> Envelope:
    """MESSAGE_CREATE."""
    return event(
        "MESSAGE_CREATE",
        {"content": text},
        stripped={"content": ""},
        audience=Audience.CHANNEL,
        channel_id=channel_id,
        intent=Intent.GUILD_MESSAGES,
    )
