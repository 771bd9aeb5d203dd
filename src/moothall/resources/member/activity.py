"""When members were last seen, which pruning goes by (api.md, Prune).

Seen means: a gateway session begun, a message or a reaction sent, a voice channel entered. Requests
only note it in memory; what was noted is written every few seconds in one transaction, and a
member's row at most once a day. A crash loses a few seconds of it.
"""

import asyncio
import logging
from typing import Final

from moothall.kernel.context import Context, Services
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.member.queries import select_guilds_of, select_memberships, write_last_seen, write_seen
from moothall.storage.database import Database, StorageError, Transaction

log = logging.getLogger("moothall.activity")

_DAY: Final = 86_400_000
_QUIET: Final = 600_000
"""Milliseconds in which a member who was noted is not noted again."""
_MOST_REMEMBERED: Final = 200_000


class ActivityBook:
    """Notes who was seen, and writes it down every `seconds`. Belongs to one event loop."""

    def __init__(self, database: Database, *, seconds: float = 5.0) -> None:
        self._database = database
        self._seconds = seconds
        self._last: dict[tuple[int, int], int] = {}
        """When each (guild, user) was noted; guild 0 stands for all guilds of a user."""
        self._waiting: set[tuple[int, int]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def seen(self, guild_id: int, user_id: int) -> None:
        """A member did something in a guild."""
        self._note((int(guild_id), int(user_id)))

    def seen_everywhere(self, user_id: int) -> None:
        """Somebody connected: they were seen in every guild that they are in."""
        self._note((0, int(user_id)))

    async def flush(self) -> None:
        """Write what was noted; what cannot be written now is tried again with the next."""
        waiting, self._waiting = self._waiting, set()
        if not waiting:
            return
        try:
            await self._write(waiting)
        except StorageError as problem:
            log.warning("who was seen could not be written: %s", problem)
            self._waiting |= waiting

    async def close(self) -> None:
        """Write the rest and stop."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._task is not None:
            await self._task
        await self.flush()

    def _note(self, who: tuple[int, int]) -> None:
        now = Timestamp.now()
        if now - self._last.get(who, 0) < _QUIET:
            return
        if len(self._last) >= _MOST_REMEMBERED:
            self._last.clear()
        self._last[who] = now
        self._waiting.add(who)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._start)

    def _start(self) -> None:
        self._timer = None
        self._task = asyncio.get_running_loop().create_task(self.flush())

    async def _write(self, waiting: set[tuple[int, int]]) -> None:
        now = Timestamp.now()
        wanted = {(GuildId(Snowflake(g)), UserId(Snowflake(u))) for g, u in waiting if g}
        everywhere = [UserId(Snowflake(u)) for g, u in waiting if not g]
        async with self._database.transaction() as tx:
            # Who left meanwhile is not written down.
            seen = {*await select_memberships(tx, wanted), *await select_guilds_of(tx, everywhere)}
            await write_seen(tx, sorted(seen), now, stale=Timestamp(now - _DAY))


def activity_of(services: Services) -> ActivityBook:
    """The activity book of a running platform, begun when it is first asked for."""
    book = services.extra.get(ActivityBook)
    if not isinstance(book, ActivityBook):
        book = services.extra[ActivityBook] = ActivityBook(services.database)
    return book


def touch_seen(ctx: Context, guild_id: GuildId, user_id: UserId) -> None:
    """Note that a member did something, once the request has succeeded."""
    ctx.after_commit.append(lambda: activity_of(ctx.services).seen(guild_id, user_id))


async def set_last_seen(tx: Transaction, guild_id: GuildId, user_id: UserId, at: Timestamp) -> None:
    """Say when a member was last seen: for operators, tests and migrations."""
    await write_last_seen(tx, guild_id, user_id, at)
