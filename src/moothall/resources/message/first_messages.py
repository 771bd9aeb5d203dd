"""The first messages of threads as JSON, kept until a message of their thread changes."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from moothall.objects.clock import stopwatch
from moothall.objects.ids import ChannelId, Snowflake
from moothall.resources.message.people import UserCache
from moothall.resources.message.queries import MESSAGES_TABLE, ShownRow, select_first
from moothall.resources.message.rendering import Viewer, encode_rows
from moothall.storage.database import Database, Reader

_MAX_BYTES: Final = 4 * 1024 * 1024
_MAX_SECONDS: Final = 1.0
"""Changes made with another database client show within this time."""
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
        self._kept: dict[int, bytes] = {}
        """By thread."""
        self._kept_bytes = 0
        self._expires = 0.0
        self._enabled = database.watch_values(MESSAGES_TABLE, self._handle_write)

    async def get(self, reader: Reader, thread_ids: Sequence[ChannelId], viewer: Viewer) -> list[bytes]:
        """The first messages of those threads that have one, in the order of the threads."""
        keeps = self._enabled and reader.committed and viewer.reads_all
        kept = self._current() if keeps else {}
        if missing := [thread_id for thread_id in thread_ids if thread_id not in kept]:
            # Where they are kept, nothing suspends here: no commit comes between these reads.
            kept = kept | await self._read(reader, missing, viewer, keeps=keeps)
        return [message for thread_id in thread_ids if (message := kept.get(thread_id))]

    def _current(self) -> dict[int, bytes]:
        now = stopwatch()
        if now > self._expires or self._users_generation != self._users.generation or self._kept_bytes > _MAX_BYTES:
            self._forget_all()
            self._expires = now + _MAX_SECONDS
            self._users_generation = self._users.generation
        return self._kept

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
            self._kept |= encoded | {thread_id: _NONE for thread_id in thread_ids if thread_id not in rows}
            self._kept_bytes += sum(map(len, messages))
        for thread_id in thread_ids:
            if thread_id in rows and thread_id not in encoded:
                # Reactions and files are selected by channel: at most once for each of the 25 threads of a page.
                encoded[thread_id] = (await encode_rows(reader, thread_id, [rows[thread_id]], viewer, users))[0]
        return encoded

    def _handle_write(self, values: Mapping[str, Any]) -> None:
        thread_id = values.get("channel_id")
        if thread_id is None:
            # The statement names its messages in another way, as those of a banned user.
            self._forget_all()
        else:
            self._kept_bytes -= len(self._kept.pop(thread_id, _NONE))

    def _forget_all(self) -> None:
        self._kept.clear()
        self._kept_bytes = 0


def _is_plain(row: ShownRow) -> bool:
    _, _, _, reacted, _, replied_id, _, parts = row
    return not reacted and not parts and replied_id is None
