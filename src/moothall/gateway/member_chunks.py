"""Request Guild Members (opcode 8): the members asked for, in chunks of a thousand."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from msgspec import UNSET, Raw, Struct, UnsetType

from moothall.gateway.commands import MembersCommand
from moothall.gateway.connection import Connection
from moothall.gateway.frames import Encoding, Frame
from moothall.gateway.hub import Hub
from moothall.gateway.opcodes import CloseCode, Closing
from moothall.gateway.presence import Presences
from moothall.gateway.session import Session
from moothall.objects.ids import Snowflake
from moothall.objects.intents import Intent
from moothall.objects.member import Member
from moothall.objects.presence import Presence
from moothall.objects.wire import encode

CHUNK: Final = 1_000
_PAGE: Final = 100
"""Members read and encoded without giving others their turn: about a millisecond."""

_LARGE: Final = 65_536
"""Bytes of a chunk from which it is compressed off the event loop."""

_MAX_FOUND: Final = 100
_MAX_NONCE: Final = 32


class MemberSource(Protocol):
    """Reads members in amounts that do not hold up others."""

    async def member_count(self, guild_id: int) -> int:
        """How many there are."""

    async def members_page(self, guild_id: int, after: int, maximum: int) -> list[Member]:
        """Those whose user id is above `after`, lowest first."""

    async def members_named(self, guild_id: int, prefix: str, maximum: int) -> list[Member]:
        """Those whose username or nick begins with a prefix, whatever its case."""

    async def members_by_id(self, guild_id: int, user_ids: Sequence[int]) -> list[Member]:
        """Those of the users named who are members."""


class _Chunk(Struct):
    guild_id: str
    members: Raw
    chunk_index: int
    chunk_count: int
    not_found: list[str] | UnsetType = UNSET
    presences: list[Presence] | UnsetType = UNSET
    nonce: str | UnsetType = UNSET


async def send_member_chunks(
    hub: Hub,
    source: MemberSource,
    presences: Presences,
    connection: Connection,
    session: Session,
    command: MembersCommand,
) -> None:
    """Send GUILD_MEMBERS_CHUNK dispatches until all that match are out, at the pace at which the peer reads.

    A guild that the session does not hear is not answered, nor is the whole list without the
    GUILD_MEMBERS intent. Raises Closing for a command that asks for nothing.
    """
    guild_id = _guild_id(command)
    user_ids = _user_ids(command.user_ids)
    if user_ids is None and not isinstance(command.query, str):
        raise Closing(CloseCode.DECODE_ERROR, "Either query or user_ids is needed.")
    if guild_id not in session.guilds:
        return
    sender = _Sender(hub, presences, connection, session, guild_id, command)
    if user_ids is not None:
        wanted = user_ids[:_MAX_FOUND]
        found = await source.members_by_id(guild_id, wanted)
        known = {int(m.user.id) for m in found if m.user is not UNSET}
        await sender.send(found, not_found=[str(u) for u in wanted if u not in known])
        return
    query, limit = str(command.query), command.limit if isinstance(command.limit, int) else 0
    if query or limit:
        maximum = min(limit or _MAX_FOUND, _MAX_FOUND)
        await sender.send(await source.members_named(guild_id, query, maximum))
        return
    if not session.intents & Intent.GUILD_MEMBERS:
        return
    count = max(1, -(-await source.member_count(guild_id) // CHUNK))
    after = 0
    for index in range(count):
        # Members may come and go meanwhile. The count told at first stays: late ones are told by events.
        pages: list[bytes] = []
        ids: list[int] = []
        for _ in range(CHUNK // _PAGE):
            page = await source.members_page(guild_id, after, _PAGE)
            if not page:
                break
            pages.append(encode(page)[1:-1])
            ids += _ids(page)
            after = ids[-1]
            await asyncio.sleep(0)
        await sender.send_encoded(b"[" + b",".join(pages) + b"]", ids, index, count)
        await connection.outbox.drained()
        if connection.outbox.closed:
            break


class _Sender:
    def __init__(
        self,
        hub: Hub,
        presences: Presences,
        connection: Connection,
        session: Session,
        guild_id: int,
        command: MembersCommand,
    ) -> None:
        self._hub = hub
        self._connection = connection
        self._presences = presences if command.presences and session.intents & Intent.GUILD_PRESENCES else None
        self._session = session
        self._guild_id = guild_id
        nonce = command.nonce
        fits = isinstance(nonce, str) and len(nonce.encode("utf-8", "surrogatepass")) <= _MAX_NONCE
        self._nonce: str | UnsetType = nonce if fits else UNSET

    async def send(self, members: list[Member], not_found: list[str] | UnsetType = UNSET) -> None:
        """Everything in one chunk."""
        await self.send_encoded(encode(members), _ids(members), 0, 1, not_found)

    async def send_encoded(
        self, members: bytes, ids: list[int], index: int, count: int, not_found: list[str] | UnsetType = UNSET
    ) -> None:
        """One chunk of several."""
        presences = self._presences
        chunk = _Chunk(
            guild_id=str(self._guild_id),
            members=Raw(members),
            chunk_index=index,
            chunk_count=count,
            not_found=not_found or UNSET,
            presences=UNSET if presences is None else presences.presences(self._guild_id, ids),
            nonce=self._nonce,
        )
        frame = Frame("GUILD_MEMBERS_CHUNK", encode(chunk))
        if frame.size > _LARGE:
            # Half a megabyte takes ten milliseconds to compress, in which others would wait.
            await asyncio.to_thread(_compress, self._connection.encoding, frame)
        self._hub.send_frame(self._session, frame)


def _compress(encoding: Encoding, frame: Frame) -> None:
    """Let a frame remember what sending and keeping it will ask for."""
    encoding.dispatch(0, frame)
    frame.zstd  # noqa: B018 remembered


def _ids(members: Iterable[Member]) -> list[int]:
    return [int(member.user.id) for member in members if member.user is not UNSET]


def _guild_id(command: MembersCommand) -> int:
    asked = _ids_of(command.guild_id)
    if len(asked) != 1:
        raise Closing(CloseCode.DECODE_ERROR, "One guild at a time.")
    return asked[0]


def _user_ids(given: Any) -> list[int] | None:
    """None if there is no such key."""
    return None if given is UNSET or given is None else _ids_of(given)


def _ids_of(given: Any) -> list[int]:
    """One id or a list of them. Raises Closing."""
    try:
        return [int(Snowflake.from_wire(item)) for item in (given if isinstance(given, list) else [given])]
    except ValueError:
        raise Closing(CloseCode.DECODE_ERROR, "Error while decoding payload.") from None
