"""Member objects and lists of them as JSON, kept until a member or user changes."""

from collections.abc import Callable, Coroutine, Hashable, Sequence
from typing import Final

from moothall.objects.wire import Timestamp, encode
from moothall.resources.member.queries import TABLES, member_objects
from moothall.runtime.cache import Cache
from moothall.runtime.single_flight import SingleFlight
from moothall.storage.bulk import map_batches
from moothall.storage.database import Database, Reader
from moothall.storage.rows import MemberRow
from moothall.storage.shared_reads import SharedReads

_MAX_BYTES: Final = 16 * 1024 * 1024
_CACHE_MS: Final = 1_000
_ENTRY_BYTES: Final = 200
"""About what an entry takes beside its JSON."""
_BATCH: Final = 50
"""Members that are read and encoded at once: about half a millisecond."""


class EncodedMembers:
    """JSON by what was requested, at most `_MAX_BYTES` of it.

    Where other processes write to the database too, nothing is kept: requests of the same JSON at the same time share
    what is read after all of them have come. Else everything is forgotten at the first commit of this process about any
    member or user, before its response, and after a second at most, in which only an operator at the database's own
    prompt could change them unnoticed.
    """

    def __init__(self, database: Database) -> None:
        self._entries: Cache[Hashable, tuple[int, bytes]] = Cache(_MAX_BYTES, weigh=_bytes_of)
        self._entries.watch(database, *TABLES)
        self._running: SingleFlight[Hashable, bytes] = SingleFlight()
        self._shared = SharedReads()

    def forget(self) -> None:
        """Forget everything, also what is being read."""
        self._entries.forget_all()

    async def get(
        self, reader: Reader, key: Hashable, now: Timestamp, read: Callable[[], Coroutine[object, None, bytes]]
    ) -> bytes:
        """The JSON for a key: kept, or read now, once for all who request it at the same time."""
        if not reader.committed:
            return await read()
        if not self._entries.enabled:
            return await self._shared.read(key, read)
        entry = self._entries.get(key)
        if entry is not None and entry[0] > now:
            return entry[1]
        generation = self._entries.generation
        data = await self._running.get((generation, key), read)
        self._entries.keep(key, (now + _CACHE_MS, data), generation=generation)
        return data


def _bytes_of(entry: tuple[int, bytes]) -> int:
    return len(entry[1]) + _ENTRY_BYTES


async def encode_members(reader: Reader, rows: Sequence[MemberRow]) -> bytes:
    """The member objects of rows, as JSON."""

    async def encode_batch(batch: Sequence[MemberRow]) -> tuple[bytes]:
        return (encode(await member_objects(reader, batch))[1:-1],)

    return b"[%b]" % b",".join(await map_batches(reader, encode_batch, rows, _BATCH))
