"""The list of discoverable guilds, held in memory, so that looking through it costs the database nothing."""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from moothall.objects.clock import CLOCK
from moothall.objects.guild import NsfwLevel
from moothall.objects.ids import GuildId
from moothall.objects.text import search_key
from moothall.resources.discovery.queries import DiscoverableRow, select_discoverable
from moothall.runtime.cache import Cache
from moothall.runtime.single_flight import SingleFlight
from moothall.storage.database import Database

_SECONDS: Final = 5.0
"""How old numbers of members, and what other processes have changed, may be."""
_HIDDEN: Final = frozenset({NsfwLevel.EXPLICIT, NsfwLevel.AGE_RESTRICTED})


class _ListedGuild(Struct, frozen=True):
    row: DiscoverableRow
    words: str
    """What is searched, ignoring case and accents."""


class DiscoveryListing:
    """The discoverable guilds, without those for adults only.

    They are read at most once every five seconds, and after a commit of this process that changes one.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cache: Cache[int, tuple[_ListedGuild, ...]] = Cache(1)
        self._reads: SingleFlight[tuple[int, int], tuple[_ListedGuild, ...]] = SingleFlight()
        for table in ("guilds", "guild_discovery"):
            database.watch(table, self._cache.forget_all)

    async def search(
        self, query: str = "", *, category_id: int | None = None, guild_ids: Collection[GuildId] = ()
    ) -> Sequence[DiscoverableRow]:
        """The guilds whose name, description or keywords contain each word, those with the most members first."""
        words = search_key(query).split()
        return [
            guild.row
            for guild in await self._guilds()
            if (category_id is None or (guild.row.primary_category_id or 0) == category_id)
            and (not guild_ids or guild.row.id in guild_ids)
            and all(word in guild.words for word in words)
        ]

    async def close(self) -> None:
        """Wait for the end of what is being read."""
        await self._reads.close()

    async def _guilds(self) -> tuple[_ListedGuild, ...]:
        moment = int(CLOCK.now() / _SECONDS)
        listed = self._cache.get(moment)
        if listed is None:
            generation = self._cache.generation
            listed = await self._reads.get((moment, generation), self._read)
            self._cache.keep(moment, listed, generation=generation)
        return listed

    async def _read(self) -> tuple[_ListedGuild, ...]:
        async with self._database.read() as reader:
            rows = await select_discoverable(reader)
        return tuple(_ListedGuild(row, _words(row)) for row in rows if row.nsfw_level not in _HIDDEN)


def _words(row: DiscoverableRow) -> str:
    return search_key(" ".join((row.name, row.description or "", *(row.keywords or ()))))
