"""The first messages of threads as JSON, kept until a message of their thread changes."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from moothall.objects.clock import stopwatch
from moothall.objects.ids import ChannelId, Snowflake
from moothall.resources.message.people import UserCache
from moothall.resources.message.queries import MESSAGES_TABLE, ShownRow, select_first
from moothall.resources.message.rendering import Viewer, encode_rows
from moothall.runtime.cache import Cache
from moothall.storage.database import Database, Reader

_MAX_BYTES: Final = 4 * 1024 * 1024
_MAX_SECONDS: Final = 1.0
"""Changes made with another database client show within this time."""
_ENTRY_BYTES: Final = 200
"""About what an entry takes beside its JSON."""
_NO_CHANNEL: Final = ChannelId(Snowflake(0))
_NONE: Final = b""
"""Kept for a thread without a first message."""


class FirstMessages:
    """First messages for lists of threads, kept for a database that no other process changes.

    Those with reactions, files or other parts and replies differ by viewer or need rows of their own: they are read for
    each list. So are all of them for a bot that may not read their text.
    """

    def __init__(self, database: Database, users: UserCache) -> None:
        self._users = users
        self._users_generation = users.generation
        self._messages: Cache[int, bytes] = Cache(_MAX_BYTES, weigh=_bytes_of)
        """By thread."""
        self._expires = 0.0
        self._enabled = database.watch_values(MESSAGES_TABLE, self._handle_write)

    async def get(self, reader: Reader, thread_ids: Sequence[ChannelId], viewer: Viewer) -> list[bytes]:
        """The first messages of those threads that have one, in the order of the threads."""
        messages = await self.by_thread(reader, thread_ids, viewer)
        return [message for thread_id in thread_ids if (message := messages.get(thread_id))]

    async def by_thread(self, reader: Reader, thread_ids: Sequence[ChannelId], viewer: Viewer) -> dict[int, bytes]:
        """The first messages of several threads by thread; of one that has none, it has no value or an empty one."""
        keeps = self._enabled and reader.committed and viewer.reads_all
        cached = self._current() if keeps else {}
        messages: dict[int, bytes] = {thread_id: cached[thread_id] for thread_id in thread_ids if thread_id in cached}
        if missing := [thread_id for thread_id in thread_ids if thread_id not in messages]:
            # Where they are kept, nothing suspends here: no commit comes between these reads.
            messages |= await self._read(reader, missing, viewer, keeps=keeps)
        return messages

    def _current(self) -> Mapping[int, bytes]:
        now = stopwatch()
        if now > self._expires or self._users_generation != self._users.generation:
            self._messages.forget_all()
            self._expires = now + _MAX_SECONDS
            self._users_generation = self._users.generation
        return self._messages

    async def _read(
        self, reader: Reader, thread_ids: Sequence[ChannelId], viewer: Viewer, *, keeps: bool
    ) -> dict[int, bytes]:
        users = self._users if reader.committed else None
        rows = {row[0]: row for row in await select_first(reader, thread_ids)}
        # Messages with only text are encoded together, since they need nothing of their channel.
        plain = [row for row in rows.values() if _is_plain(row)]
        messages = await encode_rows(reader, _NO_CHANNEL, plain, viewer, users)
        encoded = {row[0]: message for row, message in zip(plain, messages, strict=True)}
        if keeps:
            unknown = {thread_id: _NONE for thread_id in thread_ids if thread_id not in rows}
            for thread_id, message in (encoded | unknown).items():
                self._messages.keep(thread_id, message)
        for thread_id in thread_ids:
            if thread_id in rows and thread_id not in encoded:
                # Reactions and files are selected by channel: at most once for each of the 25 threads of a page.
                encoded[thread_id] = (await encode_rows(reader, thread_id, [rows[thread_id]], viewer, users))[0]
        return encoded

    def _handle_write(self, values: Mapping[str, Any]) -> None:
        thread_id = values.get("channel_id")
        if thread_id is None:
            # The statement names its messages in another way, as those of a banned user.
            self._messages.forget_all()
        else:
            self._messages.forget(thread_id)


def _bytes_of(message: bytes) -> int:
    return _ENTRY_BYTES + len(message)


def _is_plain(row: ShownRow) -> bool:
    _, _, _, reacted, _, replied_id, _, parts = row
    return not reacted and not parts and replied_id is None
