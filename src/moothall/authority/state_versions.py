"""Numbers of the events by which gateway nodes keep the state of a guild, without a gap and in the order of commits.

The row that counts them is locked until the commit. A reader of a state of the guild and this number knows
which events the state has already: those with a number up to it.
"""

from collections import Counter
from collections.abc import Iterable

from moothall.objects.ids import GuildId
from moothall.storage.database import Query, Reader, Transaction, in_list
from moothall.storage.sql import bindparam, select, update
from moothall.storage.tables import guild_counters

_advance = Query(
    lambda: (
        update(guild_counters)
        .where(in_list(guild_counters.c.guild_id, "guild_ids"))
        .values(state_version=guild_counters.c.state_version + bindparam("events"))
        .returning(guild_counters.c.guild_id, guild_counters.c.state_version)
    )
)
_select = Query(
    lambda: select(guild_counters.c.state_version).where(guild_counters.c.guild_id == bindparam("guild_id"))
)


async def advance_state_versions(tx: Transaction, guild_ids: Iterable[GuildId]) -> dict[GuildId, int]:
    """Count one event for each guild id, which may be repeated; the number before the first event, by guild.

    Deleted guilds are left out.
    """
    by_count: dict[int, list[GuildId]] = {}
    for guild_id, count in Counter(guild_ids).items():
        by_count.setdefault(count, []).append(guild_id)
    before: dict[GuildId, int] = {}
    # As a rule one statement: a transaction changes one guild, or a user's member in each of their guilds.
    for count, counted in by_count.items():
        for guild_id, version in await tx.all(_advance, guild_ids=sorted(counted), events=count):
            before[guild_id] = version - count
    return before


async def select_state_version(reader: Reader, guild_id: GuildId) -> int:
    """The number of the last event of a guild; 0 for no such guild."""
    return int(await reader.scalar(_select, guild_id=guild_id) or 0)
