"""Versions of guilds in memory, from which the permissions of their members are computed.

`guilds.version` gets a new value in every transaction that changes the state of a guild. A request reads the version
and the caller's member row in one query. The state of a version is shared by all requests that read that version. So a
response is never stale, even if another process wrote, and the cost of a request does not grow with the guild.

The state of a new version is made from that of the version before, of which it shares what has not changed: the
transaction reads the rows that it changed once more. Another process reads them by `guilds.recent_changes`. A state is
loaded whole only where there is none in memory, or one so old that the list of changes begins after it.
"""

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct, structs

from moothall.authority.guild_changes import GuildChange, GuildPart, change_line, changes_between
from moothall.authority.guild_state import GuildState
from moothall.authority.member_authority import MemberAuthority, build_authority
from moothall.authority.state_loading import apply_changes, load_state, renew, renew_version, select_guild
from moothall.objects.channel import Channel
from moothall.objects.channel_types import THREADS
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.role import Role
from moothall.objects.wire import Timestamp
from moothall.runtime.cache import Cache
from moothall.storage.database import Database, Query, Reader, Transaction
from moothall.storage.rows import GuildRow
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import channels, guilds, members

_MAX_ROWS = 50_000
_MAX_ROLE_LISTS = 50_000
_CHANNELS_EACH = 50
"""Channels for each guild in memory whose guild is remembered."""
_CACHE_MS = 1_000

_select_authority = Query(
    lambda: (
        select(
            guilds.c.version,
            members.c.user_id,
            members.c.roles,
            members.c.pending,
            members.c.communication_disabled_until,
            members.c.guest_channel_id,
            members.c.flags,
        )
        .select_from(
            guilds.outerjoin(members, (members.c.guild_id == guilds.c.id) & (members.c.user_id == bindparam("user_id")))
        )
        .where(guilds.c.id == bindparam("guild_id"))
    ),
    key=("guild_id", "user_id"),
)
_select_version = Query(lambda: select(guilds.c.version).where(guilds.c.id == bindparam("guild_id")))
_select_channel_guild = Query(
    lambda: select(channels.c.guild_id, channels.c.type).where(channels.c.id == bindparam("channel_id")),
    key=("channel_id",),
)


class _MemberRow(Struct):
    """A row of `_select_authority` that was committed, and what was built from it."""

    expires: int
    """In milliseconds since the Unix epoch."""
    row: tuple[Any, ...]
    authority: MemberAuthority | None = None
    """None if it changes with time, or has not been needed."""


class GuildStates:
    """The states of the `maximum` most recently used guilds.

    Where no other process writes to the database, the rows that `authority` reads are cached as well. They are
    forgotten at the first commit of this process about any guild or member, before its response, and after a second at
    most, in which only an operator at the database's own prompt could change them unnoticed.
    """

    def __init__(self, database: Database, *, maximum: int = 10_000) -> None:
        self._states: Cache[int, GuildState] = Cache(maximum)
        self._uncommitted: Cache[int, GuildState] = Cache(maximum)
        """The latest state that a transaction has made, until its commit is known. Transactions that follow in the
        same commit read its version; no request does if it is rolled back."""
        self._role_lists: Cache[str, tuple[RoleId, ...]] = Cache(_MAX_ROLE_LISTS)
        self._guild_of_channel: Cache[int, GuildId | None] = Cache(_CHANNELS_EACH * maximum)
        self._rows: Cache[tuple[int, int], _MemberRow] = Cache(_MAX_ROWS)
        self._authorities: Cache[tuple[int, int], tuple[tuple[Any, ...], MemberAuthority]] = Cache(_MAX_ROWS)
        """The authority built from each row that the storage keeps for transactions, unless it changes with time."""
        self._channel_permissions: Cache[tuple[int, int, bool], tuple[MemberAuthority, Channel, int]] = Cache(_MAX_ROWS)
        """The permissions in a channel or in a thread of it, and of what they were computed; by channel and user."""
        watched = [database.watch(table.name, self.forget) for table in (guilds, members)]
        self._caches_rows = all(watched)

    def forget(self) -> None:
        """Forget the cached rows."""
        for cache in (self._rows, self._authorities, self._channel_permissions):
            cache.forget_all()

    def permissions_in(
        self, authority: MemberAuthority, channel: Channel, *, thread: bool = False, writes: bool = False
    ) -> int:
        """The same as `MemberAuthority.permissions_in`, computed once for an authority that is kept and a channel.

        `writes` as in `authority`.
        """
        if writes or not self._caches_rows:
            # Nothing would forget them, and the states that they were computed of.
            return authority.permissions_in(channel, thread=thread)
        key = (channel.id, authority.user_id, thread)
        known = self._channel_permissions.get(key)
        if known is not None and known[0] is authority and known[1] is channel:
            return known[2]
        bits = authority.permissions_in(channel, thread=thread)
        self._channel_permissions.keep(key, (authority, channel, bits))
        return bits

    async def authority(
        self, reader: Reader, guild_id: GuildId, user_id: UserId, now: Timestamp, *, writes: bool
    ) -> tuple[GuildState | None, MemberAuthority | None]:
        """The current state of a guild and a user's authority in it; None for no guild and for no member."""
        key = (guild_id, user_id)
        cached = self._rows.get(key) if self._caches_rows and reader.committed else None
        row: tuple[Any, ...] | None
        if cached is not None and cached.expires > now:
            row = cached.row
            authority = cached.authority
            if authority is not None and not writes and self._states.get(guild_id) is authority.guild:
                self._states.move_to_end(guild_id)
                return authority.guild, authority
        else:
            row = await reader.one(_select_authority, guild_id=guild_id, user_id=user_id)
            if row is None:
                return None, None
            cached = self._cache_row(key, row, now) if self._caches_rows and reader.committed else None
        version, member_id, role_list, pending, until, guest_of, flags = row
        state = await self.at_version(reader, guild_id, version, writes=writes)
        if state is None or member_id is None:
            return state, None
        known = self._authorities.get(key)
        if known is not None and known[0] is row and known[1].guild is state:
            return state, known[1]
        authority = build_authority(
            state,
            user_id,
            self._roles(role_list),
            pending=bool(pending),
            until=until,
            flags=flags,
            now=now,
            guest_of=None if guest_of is None else ChannelId(guest_of),
        )
        if until is None and not writes and self._caches_rows:
            if cached is not None:
                cached.authority = authority
            else:
                self._authorities.keep(key, (row, authority))
        return state, authority

    def _cache_row(self, key: tuple[int, int], row: tuple[Any, ...], now: Timestamp) -> "_MemberRow":
        cached = _MemberRow(now + _CACHE_MS, row)
        self._rows.keep(key, cached)
        return cached

    async def state(self, reader: Reader, guild_id: GuildId, *, writes: bool = False) -> GuildState | None:
        """The current state of a guild; None if there is no such guild."""
        version = await reader.scalar(_select_version, guild_id=guild_id)
        return None if version is None else await self.at_version(reader, guild_id, version, writes=writes)

    async def at_version(self, reader: Reader, guild_id: GuildId, version: int, *, writes: bool) -> GuildState | None:
        """The state of a version just read. In a transaction (`writes`) it is a copy, private to the transaction."""
        state = self._states.get(guild_id)
        if state is not None and state.version == version:
            self._states.move_to_end(guild_id)
        else:
            state = self._uncommitted.get(guild_id)
            if state is None or state.version != version:
                state = await self._update(reader, guild_id)
                if state is not None and not (writes and await reader.has_written()):
                    self._keep(state)
        return state.private_copy() if state is not None and writes else state

    async def renew(
        self,
        tx: Transaction,
        guild_id: GuildId,
        version: int,
        changes: Collection[GuildChange],
        base: GuildState | None,
        roles: Mapping[int, Role | None],
    ) -> None:
        """Give a guild a new version, at the end of a transaction that has changed its state.

        `base` is the state before, if the transaction has it: then that of the new version is made here, from the
        changed rows; `roles` has roles as they are stored now, None for those to be read. Else the next request reads
        them.
        """
        values: dict[str, object] = {
            "guild_id": guild_id,
            "new_version": version,
            "line": change_line(version, changes),
        }
        if base is None or not await tx.execute(renew_version, old_version=base.version, **values):
            await tx.execute(renew, **values)
            return
        row: GuildRow | None = None
        if any(change.part is GuildPart.SETTINGS for change in changes):
            row = await tx.one(select_guild, guild_id=guild_id)
        row = structs.replace(base.row if row is None else row, version=version, recent_changes="")
        state = await apply_changes(tx, base, row, changes, roles)
        self._uncommitted.keep(guild_id, state)
        tx.on_commit(partial(self._commit, state))

    def _commit(self, state: GuildState) -> None:
        self._keep(state)
        if self._uncommitted.get(state.id) is state:
            self._uncommitted.forget(state.id)

    def _keep(self, state: GuildState) -> None:
        self._states.keep(state.id, state)

    async def load(self, reader: Reader, guild_id: GuildId) -> GuildState | None:
        """The current state of a guild, loaded whole."""
        row = await reader.one(select_guild, guild_id=guild_id)
        return None if row is None else await load_state(reader, row)

    async def _update(self, reader: Reader, guild_id: GuildId) -> GuildState | None:
        # The guild's row, with the version, is read first: if anything changes between the statements, the state has
        # the older version, and the next request reads what has changed.
        row = await reader.one(select_guild, guild_id=guild_id)
        if row is None:
            return None
        listed, row.recent_changes = row.recent_changes, ""
        for base in (self._uncommitted.get(guild_id), self._states.get(guild_id)):
            changes = None if base is None else changes_between(listed, base.version, row.version)
            if base is not None and changes is not None:
                return await apply_changes(reader, base, row, changes)
        return await load_state(reader, row)

    async def guild_of_channel(self, reader: Reader, channel_id: ChannelId) -> GuildId | None:
        """The guild that a channel belongs to; None for threads, direct messages and unknown channels.

        A channel never changes its guild, nor becomes a thread, so the result is cached. The channel may be deleted
        since.
        """
        known = self._guild_of_channel
        if channel_id in known:
            return known[channel_id]
        row = await reader.one(_select_channel_guild, channel_id=channel_id)
        if row is None:
            return None
        guild_id = None if row[0] is None or row[1] in THREADS else GuildId(row[0])
        known.keep(channel_id, guild_id)
        return guild_id

    def _roles(self, listed: str | None) -> tuple[RoleId, ...]:
        # Members share few distinct lists; parsing each once is cheaper than parsing for each request.
        if not listed or listed == "[]":
            return ()
        role_ids = self._role_lists.get(listed)
        if role_ids is None:
            role_ids = tuple(RoleId(Snowflake(role)) for role in msgspec.json.decode(listed, type=list[int]))
            self._role_lists.keep(listed, role_ids)
        return role_ids
