"""Request Guild Members (opcode 8): GUILD_MEMBERS_CHUNK, a thousand members each."""

import asyncio
from collections.abc import Iterable
from typing import Final

from msgspec import UNSET, Raw, Struct, UnsetType

from moothall.gateway.delivery.hub import Hub
from moothall.gateway.presence.local import Presences
from moothall.gateway.protocol.commands import RequestGuildMembersCommand
from moothall.gateway.protocol.frames import Frame
from moothall.gateway.protocol.opcodes import CloseCode, CloseConnection, Opcode
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.session import Session
from moothall.gateway.snapshot.source import MemberSource
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.intents import Intent
from moothall.objects.member import Member
from moothall.objects.presence import Presence
from moothall.objects.wire import encode
from moothall.runtime.fair_slots import FairSlots
from moothall.runtime.turns import yield_turn

CHUNK: Final = 1_000
_PAGE: Final = 100
"""Members read and encoded without a break for other tasks: about a millisecond."""

_MAX_RESULTS: Final = 100
_MAX_NONCE: Final = 32


class _Chunk(Struct):
    guild_id: GuildId
    members: Raw
    chunk_index: int
    chunk_count: int
    not_found: list[UserId] | UnsetType = UNSET
    presences: list[Presence] | UnsetType = UNSET
    nonce: str | UnsetType = UNSET


class _RateLimitMeta(Struct):
    guild_id: GuildId
    nonce: str | UnsetType = UNSET


class _RateLimited(Struct):
    """RATE_LIMITED: `retry_after` in seconds."""

    opcode: int
    retry_after: float
    meta: _RateLimitMeta


async def send_member_chunks(
    hub: Hub,
    source: MemberSource,
    presences: Presences,
    reads: FairSlots,
    connection: Connection,
    session: Session,
    command: RequestGuildMembersCommand,
    *,
    list_seconds: float = 0.0,
) -> None:
    """Send GUILD_MEMBERS_CHUNK dispatches with all matching members, no faster than the client reads.

    An account's sessions read one after another, by `reads`, so that many of them cost others no more than one.
    Sends nothing for a guild that the session has not joined, nor for the whole list without the GUILD_MEMBERS
    intent. A session that requests the whole list of a guild again within `list_seconds` receives RATE_LIMITED instead.
    Raises CloseConnection 4002 for a command without `query` and `user_ids`.
    """
    guild_id = _guild_id(command)
    user_ids = _user_ids(command.user_ids)
    if user_ids is None and not isinstance(command.query, str):
        raise CloseConnection(CloseCode.DECODE_ERROR, "Either query or user_ids is needed.")
    if guild_id not in session.guild_ids:
        return
    sender = _ChunkSender(hub, presences, connection, session, guild_id, command)
    if user_ids is not None:
        requested_ids = user_ids[:_MAX_RESULTS]
        async with reads.slot(session.user_id):
            await yield_turn()
            members = await source.members_by_id(guild_id, requested_ids)
            member_ids = set(_ids(members))
            await sender.send(members, not_found=[user_id for user_id in requested_ids if user_id not in member_ids])
        return
    query, limit = str(command.query), command.limit if isinstance(command.limit, int) else 0
    if query or limit:
        limit = min(limit or _MAX_RESULTS, _MAX_RESULTS)
        async with reads.slot(session.user_id):
            await yield_turn()
            await sender.send(await source.members_by_prefix(guild_id, query, limit))
        return
    if not session.intents & Intent.GUILD_MEMBERS or sender.limit_list(list_seconds):
        return
    count = max(1, -(-await source.member_count(guild_id) // CHUNK))
    after: UserId | None = None
    for index in range(count):
        # The chunk count stays the same although members may join and leave meanwhile: their events follow.
        pages: list[bytes] = []
        ids: list[UserId] = []
        async with reads.slot(session.user_id):
            for _ in range(CHUNK // _PAGE):
                await yield_turn()
                page = await source.members_page(guild_id, after, _PAGE)
                if not page:
                    break
                pages.append(encode(page)[1:-1])
                ids += _ids(page)
                after = ids[-1]
            await sender.send_encoded(b"[" + b",".join(pages) + b"]", ids, index, count)
        await connection.send_queue.drain()
        if connection.send_queue.closed:
            break


def _count_list_request(session: Session, guild_id: GuildId, list_seconds: float) -> float:
    """Count a request of a whole list; returns the seconds until the session may send it, 0 if it may now."""
    if not list_seconds:
        return 0.0
    if session.member_list_times is None:
        session.member_list_times = {}
    times, now = session.member_list_times, asyncio.get_running_loop().time()
    allowed_at = times.get(guild_id, now)
    if allowed_at > now:
        return allowed_at - now
    for expired in [each for each, time in times.items() if time <= now]:
        del times[expired]
    times[guild_id] = now + list_seconds
    return 0.0


class _ChunkSender:
    def __init__(
        self,
        hub: Hub,
        presences: Presences,
        connection: Connection,
        session: Session,
        guild_id: GuildId,
        command: RequestGuildMembersCommand,
    ) -> None:
        self._hub = hub
        self._connection = connection
        self._presences = presences if command.presences and session.intents & Intent.GUILD_PRESENCES else None
        self._session = session
        self._guild_id = guild_id
        nonce = command.nonce
        valid = isinstance(nonce, str) and len(nonce.encode("utf-8", "surrogatepass")) <= _MAX_NONCE
        self._nonce: str | UnsetType = nonce if valid else UNSET

    def limit_list(self, list_seconds: float) -> bool:
        """Count a request of the whole list; sends RATE_LIMITED and returns True if it comes too early."""
        retry_after = _count_list_request(self._session, self._guild_id, list_seconds)
        if not retry_after:
            return False
        meta = _RateLimitMeta(self._guild_id, self._nonce)
        limited = _RateLimited(Opcode.REQUEST_GUILD_MEMBERS, round(retry_after, 3), meta)
        self._hub.send_frame(self._session, Frame("RATE_LIMITED", encode(limited)))
        return True

    async def send(self, members: list[Member], not_found: list[UserId] | UnsetType = UNSET) -> None:
        """Send all members in one chunk."""
        await self.send_encoded(encode(members), _ids(members), 0, 1, not_found)

    async def send_encoded(
        self, members: bytes, ids: list[UserId], index: int, count: int, not_found: list[UserId] | UnsetType = UNSET
    ) -> None:
        """Send one chunk of several; `members` is a JSON list."""
        presences = self._presences
        chunk = _Chunk(
            guild_id=self._guild_id,
            members=Raw(members),
            chunk_index=index,
            chunk_count=count,
            not_found=not_found or UNSET,
            presences=UNSET if presences is None else presences.presences(self._guild_id, ids),
            nonce=self._nonce,
        )
        frame = Frame("GUILD_MEMBERS_CHUNK", encode(chunk))
        await self._connection.prepare(frame)
        self._hub.send_frame(self._session, frame)


def _ids(members: Iterable[Member]) -> list[UserId]:
    return [member.user.id for member in members if member.user is not UNSET]


def _guild_id(command: RequestGuildMembersCommand) -> GuildId:
    guild_ids = _read_ids(command.guild_id)
    if len(guild_ids) != 1:
        raise CloseConnection(CloseCode.DECODE_ERROR, "One guild at a time.")
    return GuildId(guild_ids[0])


def _user_ids(value: object) -> list[UserId] | None:
    """`user_ids` of the command; None if it is absent or null."""
    return None if value is UNSET or value is None else [UserId(user_id) for user_id in _read_ids(value)]


def _read_ids(value: object) -> list[Snowflake]:
    """Read one id or a list of ids. Raises CloseConnection 4002."""
    try:
        return [Snowflake.from_wire(item) for item in (value if isinstance(value, list) else [value])]
    except ValueError:
        raise CloseConnection(CloseCode.DECODE_ERROR, "Error while decoding payload.") from None
