"""When members were last seen, which decides who is pruned (api.md, Prune).

A member is seen when they start a gateway session, send a message or reaction, or join a voice channel. Requests only
record this in memory. The records are written every few seconds in one transaction, and a member's row at most once a
day. A crash loses a few seconds of records.
"""

from functools import partial
from typing import Final

from moothall.api.context import Context
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.member.queries import (
    renew_last_seen,
    select_membership_keys,
    select_memberships,
    write_last_seen,
)
from moothall.storage.batched_writes import WriteBatcher
from moothall.storage.database import Database, Transaction

_DAY: Final = 86_400_000
_QUIET: Final = 600_000
"""Milliseconds for which a recorded member is not recorded again."""


class ActivityRecorder(WriteBatcher[tuple[int, int]]):
    """Records members as seen, as (guild, user), and writes the records every `seconds`; guild 0 is all of a user's."""

    def __init__(self, database: Database, *, seconds: float = 5.0) -> None:
        super().__init__(quiet_ms=_QUIET, seconds=seconds)
        self._database = database

    def seen(self, guild_id: int, user_id: int) -> None:
        """Record that a member was active in a guild."""
        self.record((int(guild_id), int(user_id)))

    def seen_everywhere(self, user_id: int) -> None:
        """Record that a user was seen in all of their guilds, because they connected."""
        self.record((0, int(user_id)))

    async def _write(self, keys: set[tuple[int, int]], now: Timestamp) -> None:
        members = {(GuildId(Snowflake(g)), UserId(Snowflake(u))) for g, u in keys if g}
        everywhere = [UserId(Snowflake(u)) for g, u in keys if not g]
        async with self._database.transaction() as tx:
            # Users who have left the guild in the meantime are skipped.
            seen = {*await select_memberships(tx, members), *await select_membership_keys(tx, everywhere)}
            await renew_last_seen(tx, sorted(seen), now, stale=Timestamp(now - _DAY))


def touch_seen(ctx: Context, guild_id: GuildId, user_id: UserId) -> None:
    """Record that a member was active, once the request has been committed."""
    recorder = ctx.services.resources[ActivityRecorder]
    if not recorder.is_recorded((guild_id, user_id), ctx.now):
        # A lambda over the context, which holds it, would be a cycle for the garbage collector to find.
        ctx.after_commit.append(partial(recorder.seen, guild_id, user_id))


async def set_last_seen(tx: Transaction, guild_id: GuildId, user_id: UserId, at: Timestamp) -> None:
    """Set when a member was last seen: for operators, tests and migrations."""
    await write_last_seen(tx, guild_id, user_id, at)
