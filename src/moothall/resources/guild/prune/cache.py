"""The members whom a prune would remove, kept until a member changes or becomes inactive."""

from collections.abc import Callable, Coroutine, Hashable
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Struct

from moothall.objects.ids import GuildId, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.guild.prune import queries
from moothall.runtime.cache import Cache
from moothall.runtime.single_flight import SingleFlight
from moothall.storage.database import Database, Reader

_MAX_MEMBERS: Final = 500_000
"""Members that are kept, of all guilds together."""
_MAX_GUILDS: Final = 1_000

RoleList = tuple[str, frozenset[int]]
"""The roles of some members, as stored and as ids."""

_read_ids = msgspec.json.Decoder(list[int]).decode


class _Inactive(Struct, frozen=True):
    """The members with some role lists who were not seen since a time."""

    user_ids: frozenset[UserId]
    since: Timestamp
    until: Timestamp | None
    """The same were not seen since any time until this one; None if no other member has the role lists."""


class InactiveMembers:
    """Role lists and inactive members of guilds, kept on a database that no other process changes."""

    def __init__(self, database: Database) -> None:
        self._lists: Cache[GuildId, list[RoleList]] = Cache(_MAX_GUILDS)
        self._inactive: Cache[Hashable, _Inactive] = Cache(_MAX_MEMBERS, weigh=_count)
        self._running: SingleFlight[Hashable, Any] = SingleFlight()
        for cache in (self._lists, self._inactive):
            cache.watch(database, "members", "member_activity", "users")

    async def role_lists(self, reader: Reader, guild_id: GuildId) -> list[RoleList]:
        """The distinct role lists of a guild's members."""
        listed = self._lists.get(guild_id)
        if listed is None:
            generation = self._lists.generation
            listed = await self._share(reader, ("lists", guild_id), partial(_role_lists, reader, guild_id))
            if reader.committed:
                self._lists.keep(guild_id, listed, generation=generation)
        return listed

    async def get(
        self, reader: Reader, guild_id: GuildId, *, owner_id: UserId, since: Timestamp, role_lists: tuple[str, ...]
    ) -> frozenset[UserId]:
        """The members who meet the criteria of a prune."""
        key = guild_id, owner_id, role_lists
        kept = self._inactive.get(key)
        if kept is not None and kept.since <= since and (kept.until is None or since <= kept.until):
            return kept.user_ids
        generation = self._inactive.generation
        if not self._inactive.enabled:
            # Nothing is kept, so that it need not be known for how long it is valid.
            return frozenset(
                await queries.select_inactive(reader, guild_id, owner_id=owner_id, since=since, role_lists=role_lists)
            )
        read = partial(_read, reader, guild_id, owner_id=owner_id, since=since, role_lists=role_lists)
        inactive: _Inactive = await self._share(reader, (key, since), read)
        if reader.committed:
            self._inactive.keep(key, inactive, generation=generation)
        return inactive.user_ids

    async def _share(self, reader: Reader, key: Hashable, read: Callable[[], Coroutine[object, None, Any]]) -> Any:
        """Read, or wait for the task that reads the same in the same state of the database."""
        if not self._inactive.enabled or not reader.committed:
            return await read()
        return await self._running.get((self._inactive.generation, key), read)


def _count(inactive: _Inactive) -> int:
    return len(inactive.user_ids) + 1


async def _role_lists(reader: Reader, guild_id: GuildId) -> list[RoleList]:
    return [(text, frozenset(_read_ids(text))) for text in await queries.select_role_lists(reader, guild_id)]


async def _read(
    reader: Reader, guild_id: GuildId, *, owner_id: UserId, since: Timestamp, role_lists: tuple[str, ...]
) -> _Inactive:
    user_ids = await queries.select_inactive(reader, guild_id, owner_id=owner_id, since=since, role_lists=role_lists)
    until = await queries.select_next_inactive(reader, guild_id, owner_id=owner_id, since=since, role_lists=role_lists)
    return _Inactive(frozenset(user_ids), since, until)
