"""Threads as JSON, kept for the next list that shows them.

A list of threads is requested far more often than one of its threads changes. On a database that only this process
writes, the storage reports the changed rows of each commit before its response, and exactly what depends on them is
read again. Elsewhere rows are read for each list, or for all who request the same one meanwhile, and only the encoding
of unchanged rows is kept.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, structs

from moothall.objects.channel import ThreadMember
from moothall.objects.channel_types import THREADS, ChannelType
from moothall.objects.clock import stopwatch
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.wire import Timestamp, encode
from moothall.resources.channel.queries import select_own_memberships
from moothall.resources.channel.thread_activity import queries
from moothall.resources.channel.thread_activity.queries import ShownThread
from moothall.runtime.cache import Cache
from moothall.runtime.single_flight import SingleFlight
from moothall.storage.bulk import map_batches
from moothall.storage.database import Database, Reader
from moothall.storage.rows import ThreadRow, thread_from_row
from moothall.storage.shared_reads import SharedReads

_MAX_THREADS: Final = 10_000
_BATCH: Final = 100
"""Threads that are read at once: a fraction of a millisecond."""
_MAX_LISTS: Final = 200
_MAX_PAGES: Final = 100
"""Pages of one list, and of one channel, that are kept."""
_MAX_PAGE_BYTES: Final = 8 * 1024 * 1024
"""JSON of the pages of all channels that is kept."""
_MAX_MEMBERS: Final = 10_000
_MAX_MEMBERSHIPS: Final = 2_000
"""Pages whose thread members of one user are kept."""
_MAX_CHANGED: Final = 1_000
"""Changed rows after which everything is read again."""
_MAX_SECONDS: Final = 1.0
"""For how long rows are kept: an operator at the database's own prompt may change them unnoticed."""

_WITHOUT_MEMBERS: Final = b',"members":[],"has_more":false}'
"""The end of a list for a caller who has joined none of its threads."""

_decode_ids = msgspec.json.Decoder(list[int]).decode


class EncodedThread(Struct, frozen=True):
    """A thread with its JSON."""

    id: ChannelId
    guild_id: GuildId | None
    parent_id: ChannelId | None
    private: bool
    data: bytes


class ActiveThreads(Struct, frozen=True, eq=False):
    """The active threads of a guild, newest first."""

    threads: list[EncodedThread]
    ids: frozenset[int]
    """Those of the threads: the same object until one of them becomes active or ceases to be."""
    any_private: bool
    pages: Cache[Hashable, bytes]
    """JSON of those that viewers see, by what the viewers may see, without thread members."""


class ThreadPage(Struct, frozen=True):
    """A page of a list of a channel's threads, or of the results of a search."""

    thread_ids: tuple[ChannelId, ...]
    threads: bytes
    """They, as a JSON array."""
    has_more: bool
    total: int = 0
    """How many there are on all pages of a search."""


class ThreadCache:
    """Encoded threads, lists of active threads, and pages of the threads of a channel."""

    def __init__(self, database: Database) -> None:
        self._encoded: Cache[int, tuple[ShownThread, EncodedThread]] = Cache(_MAX_THREADS)
        self._current: dict[int, EncodedThread] = {}
        self._active: dict[int, ActiveThreads] = {}
        self._pages: dict[int, dict[Hashable, ThreadPage]] = {}
        self._page_bytes = 0
        """Bytes of JSON of the pages that were kept since all were dropped."""
        self._stale: dict[int, set[int]] = {}
        """The threads of each guild that have changed since its list was read."""
        self._reading: SingleFlight[tuple[int, int], None] = SingleFlight()
        self._shared = SharedReads()
        self._generation = 0
        """How often everything was dropped."""
        self._joined: Cache[tuple[int, int], tuple[frozenset[int], dict[ChannelId, ThreadMember]]] = Cache(_MAX_MEMBERS)
        self._memberships: Cache[tuple[UserId, tuple[ChannelId, ...]], bytes] = Cache(_MAX_MEMBERSHIPS)
        self._changed: set[int] = set()
        self._expires = 0.0
        watched = [database.watch_rows(table, self._note) for table in ("channels", "channel_activity")]
        self._enabled = all(watched) and database.watch("thread_members", self._drop_members)

    async def get(self, reader: Reader, thread_ids: Iterable[int]) -> dict[int, EncodedThread]:
        """Threads by id; ids of other channels are left out."""
        ids = set(thread_ids)
        if not await self._synchronize(reader):
            rows = await queries.select_shown_threads(reader, ids) if ids else []
            return {thread.id: thread for thread in map(self._encode, rows)}
        current = self._current
        if missing := ids.difference(current):
            if len(current) + len(missing) > _MAX_THREADS:
                current.clear()
                missing = ids
            for row in await queries.select_shown_threads(reader, missing):
                current[row[0]] = self._encode(row)
        return {thread_id: current[thread_id] for thread_id in ids if thread_id in current}

    async def active(self, reader: Reader, guild_id: GuildId) -> ActiveThreads:
        """The active threads of a guild."""
        if not await self._synchronize(reader):
            read = partial(self._read_active, reader, guild_id)
            return await self._shared.read(guild_id, read) if reader.committed else await read()
        active = self._active.get(guild_id)
        if active is None:
            key = self._generation, guild_id
            await self._reading.get(key, partial(self._read_and_keep_active, reader, guild_id))
            active = self._active.get(guild_id)
            if active is None or self._generation != key[0]:
                # It was dropped meanwhile, and with it which threads had changed before this request.
                return await self._read_active(reader, guild_id)
        if changed := self._stale[guild_id]:
            # Nothing suspends here: no commit comes between these lines.
            rows = await queries.select_shown_active(reader, changed)
            active = self._active[guild_id] = _with_changed(active, changed, list(map(self._encode, rows)))
            self._stale[guild_id] = set()
        return active

    async def _read_active(self, reader: Reader, guild_id: GuildId) -> ActiveThreads:
        async def read_batch(ids: Sequence[int]) -> Iterable[EncodedThread]:
            return map(self._encode, await queries.select_shown_active(reader, ids))

        ids = await queries.select_active_ids(reader, guild_id)
        return _active_threads(await map_batches(reader, read_batch, ids, _BATCH))

    async def _read_and_keep_active(self, reader: Reader, guild_id: GuildId) -> None:
        generation = self._generation
        self._stale[guild_id] = set()
        active = await self._read_active(reader, guild_id)
        if self._generation == generation:
            if len(self._active) >= _MAX_LISTS:
                oldest = next(iter(self._active))
                del self._active[oldest], self._stale[oldest]
            self._active[guild_id] = active

    async def joined(
        self, reader: Reader, guild_id: GuildId, active: ActiveThreads, user_id: UserId
    ) -> dict[ChannelId, ThreadMember]:
        """A user's thread members in active threads of a guild, by thread."""
        cached = self._joined.get((guild_id, user_id)) if reader.committed else None
        if cached is not None and cached[0] is active.ids:
            return cached[1]
        joined = await select_own_memberships(reader, user_id, [thread.id for thread in active.threads])
        if self._active.get(guild_id) is active and reader.committed:
            self._joined.keep((guild_id, user_id), (active.ids, joined))
        return joined

    async def memberships(self, reader: Reader, user_id: UserId, thread_ids: tuple[ChannelId, ...]) -> bytes:
        """A user's thread members in those of a page of threads that they have joined, as a JSON array."""
        keeps = await self._synchronize(reader)
        key = user_id, thread_ids
        encoded = self._memberships.get(key) if keeps else None
        if encoded is None:
            members = await select_own_memberships(reader, user_id, thread_ids)
            encoded = encode([members[thread_id] for thread_id in thread_ids if thread_id in members])
            if keeps:
                self._memberships.keep(key, encoded)
        return encoded

    @staticmethod
    def list_active(
        active: ActiveThreads, key: Hashable, threads: Iterable[EncodedThread], members: Sequence[ThreadMember]
    ) -> bytes:
        """A list of some active threads as JSON, kept by a key of what selects them; `members` are the caller's."""
        page = active.pages.get(key)
        if page is None:
            page = b'{"threads":%b%b' % (json_array(threads), _WITHOUT_MEMBERS)
            active.pages.keep(key, page)
        if not members:
            # It may have half a megabyte, which takes as long to copy as everything else.
            return page
        return page.removesuffix(_WITHOUT_MEMBERS) + b',"members":%b,"has_more":false}' % encode(members)

    async def pages(self, reader: Reader, parent_id: ChannelId) -> dict[Hashable, ThreadPage]:
        """Where pages of a channel's threads are kept by what they list, until one of its threads changes."""
        if not await self._synchronize(reader):
            return {}
        if len(self._pages) >= _MAX_LISTS or self._page_bytes > _MAX_PAGE_BYTES:
            self._drop_pages()
        pages = self._pages.setdefault(parent_id, {})
        if len(pages) >= _MAX_PAGES:
            pages.clear()
        return pages

    def keep(self, pages: dict[Hashable, ThreadPage], key: Hashable, page: ThreadPage) -> None:
        """Keep a page among those that `pages` returned."""
        pages[key] = page
        self._page_bytes += len(page.threads)

    def _note(self, row_ids: Collection[int] | None) -> None:
        if row_ids is None:
            self._expires = 0.0
        else:
            self._changed.update(row_ids)

    async def _synchronize(self, reader: Reader) -> bool:
        """Drop what the commits since the last call have changed; return whether anything may be kept."""
        if not self._enabled or not reader.committed:
            return False
        now = stopwatch()
        if now > self._expires or len(self._changed) > _MAX_CHANGED:
            self._drop_all()
            self._changed.clear()
            self._expires = now + _MAX_SECONDS
        elif self._changed:
            changed, self._changed = self._changed, set()
            for thread_id in changed:
                self._current.pop(thread_id, None)
            existing = await queries.select_parents(reader, changed)
            if len(existing) < len(changed):
                # Of deleted ones it is unknown where they were.
                self._drop_all()
            for thread_id, guild_id, parent_id, kind in existing:
                if kind in THREADS:
                    if (stale := self._stale.get(guild_id or 0)) is not None:
                        stale.add(thread_id)
                    self._pages.pop(parent_id or 0, None)
        return True

    def _drop_members(self) -> None:
        self._joined.forget_all()
        self._memberships.forget_all()

    def _drop_all(self) -> None:
        self._current.clear()
        self._active.clear()
        self._stale.clear()
        self._generation += 1
        self._drop_pages()
        self._drop_members()

    def _drop_pages(self) -> None:
        self._pages.clear()
        self._page_bytes = 0

    def _encode(self, row: ShownThread) -> EncodedThread:
        known = self._encoded.get(row[0])
        if known is not None and known[0] == row:
            return known[1]
        thread = _encoded(row)
        self._encoded.keep(row[0], (row, thread))
        return thread


def _active_threads(threads: list[EncodedThread], ids: frozenset[int] | None = None) -> ActiveThreads:
    threads.sort(key=lambda thread: thread.id, reverse=True)
    if ids is None:
        ids = frozenset(thread.id for thread in threads)
    return ActiveThreads(threads, ids, any(thread.private for thread in threads), Cache(_MAX_PAGES))


def _with_changed(active: ActiveThreads, changed: set[int], threads: list[EncodedThread]) -> ActiveThreads:
    """Active threads after some have changed, of which `threads` are active now."""
    now_active = {thread.id for thread in threads}
    ids = active.ids if now_active == active.ids & changed else active.ids - changed | now_active
    return _active_threads([*(thread for thread in active.threads if thread.id not in changed), *threads], ids)


def json_array(threads: Iterable[EncodedThread]) -> bytes:
    """Threads as a JSON array."""
    return b"[%b]" % b",".join([thread.data for thread in threads])


def _encoded(row: ShownThread) -> EncodedThread:
    *columns, last_message_id, last_pin = row
    thread = thread_from_row(_thread_row(columns))
    shown = structs.replace(
        thread,
        last_message_id=None if last_message_id is None else MessageId(Snowflake(last_message_id)),
        last_pin_timestamp=UNSET if last_pin is None else Timestamp(last_pin),
    )
    guild_id = None if thread.guild_id is UNSET else thread.guild_id
    parent_id = None if thread.parent_id is UNSET else thread.parent_id
    return EncodedThread(thread.id, guild_id, parent_id, thread.type == ChannelType.PRIVATE_THREAD, encode(shown))


def _thread_row(columns: Sequence[Any]) -> ThreadRow:
    row = ThreadRow(*columns)
    return structs.replace(
        row,
        id=ChannelId(Snowflake(row.id)),
        guild_id=None if row.guild_id is None else GuildId(Snowflake(row.guild_id)),
        parent_id=None if row.parent_id is None else ChannelId(Snowflake(row.parent_id)),
        owner_id=None if row.owner_id is None else UserId(Snowflake(row.owner_id)),
        thread_metadata=_decode(row.thread_metadata),
        archived=bool(row.archived),
        applied_tags=[Snowflake(tag) for tag in _decode_ids(str(columns[10]))],
    )


def _decode(column: Any) -> Any:
    return None if column is None else msgspec.json.decode(column)
