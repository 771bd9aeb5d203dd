"""When members were last seen, which pruning goes by (api.md, Prune).

Seen means: a gateway session begun, a message or a reaction sent, a voice channel entered. Requests
only note it in memory; what was noted is written every few seconds in one transaction, and a
member's row at most once a day. A crash loses a few seconds of it.
"""

from typing import Final

from moothall.kernel.context import Context, Services
from moothall.kernel.noting import NoteBook
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.member.queries import select_guilds_of, select_memberships, write_last_seen, write_seen
from moothall.storage.database import Database, Transaction

_DAY: Final = 86_400_000
_QUIET: Final = 600_000
"""Milliseconds in which a member who was noted is not noted again."""


class ActivityBook(NoteBook[tuple[int, int]]):
    """Notes who was seen, as (guild, user), and writes it down every `seconds`. Guild 0 is all guilds of a user."""

    def __init__(self, database: Database, *, seconds: float = 5.0) -> None:
        super().__init__(quiet_ms=_QUIET, seconds=seconds)
        self._database = database

    def seen(self, guild_id: int, user_id: int) -> None:
        """A member did something in a guild."""
        self.note((int(guild_id), int(user_id)))

    def seen_everywhere(self, user_id: int) -> None:
        """Somebody connected: they were seen in every guild that they are in."""
        self.note((0, int(user_id)))

    async def _write(self, keys: set[tuple[int, int]], now: Timestamp) -> None:
        noted = {(GuildId(Snowflake(g)), UserId(Snowflake(u))) for g, u in keys if g}
        everywhere = [UserId(Snowflake(u)) for g, u in keys if not g]
        async with self._database.transaction() as tx:
            # Who left meanwhile is not written down.
            seen = {*await select_memberships(tx, noted), *await select_guilds_of(tx, everywhere)}
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
