"""Versions of guilds in memory, from which the permissions of their members are computed.

`guilds.version` gets a new value in every transaction that changes the state of a guild. A request reads the version
and the caller's member row in one query. The state of a version is shared by all requests that read that version. So a
response is never stale, even if another process wrote, and the cost of a request does not grow with the guild.

The state of a new version is made from that of the version before, of which it shares what has not changed: the
transaction reads the rows that it changed once more. Another process reads them by `guilds.recent_changes`. A state is
loaded whole only where there is none in memory, or one so old that the list of changes begins after it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial, wraps
from types import MappingProxyType
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct, structs

from moothall.authority.channel_queries import select_channel, select_channels
from moothall.authority.guild_changes import MAX_TEXT, GuildChange, GuildPart, change_line, changes_between
from moothall.objects.auto_moderation import AutoModerationRule
from moothall.objects.channel import Channel
from moothall.objects.channel_types import NOT_THREADS, THREADS, VOICE, type_numbers
from moothall.objects.emoji import Emoji
from moothall.objects.expressions import emojis_with_availability, sounds_with_availability, stickers_with_availability
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.member import MemberFlags
from moothall.objects.permissions import (
    Permissions,
    base_permissions,
    channel_permissions,
    guest_permissions,
    implicit,
    timed_out,
)
from moothall.objects.role import Role
from moothall.objects.soundboard import SoundboardSound
from moothall.objects.sticker import Sticker
from moothall.objects.wire import Timestamp
from moothall.runtime.cache import Cache
from moothall.storage import sql
from moothall.storage.bulk import map_batches, map_items
from moothall.storage.database import Database, Query, Reader, Transaction, in_list
from moothall.storage.rows import (
    ChannelRow,
    EmojiRow,
    GuildRow,
    RoleRow,
    RuleRow,
    SoundRow,
    StickerRow,
    channel_from_row,
    emoji_from_row,
    role_from_row,
    rule_from_row,
    sound_from_row,
    sticker_from_row,
)
from moothall.storage.sql import ClauseElement, Text, bindparam, func, select, update
from moothall.storage.statements.statement import ByDialect
from moothall.storage.tables import (
    auto_moderation_rules,
    channels,
    emojis,
    guilds,
    members,
    roles,
    sounds,
    stickers,
)

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
_select_guild = Query(lambda: select(guilds).where(guilds.c.id == bindparam("guild_id")), into=GuildRow)
_select_roles = Query(lambda: select(roles).where(roles.c.guild_id == bindparam("guild_id")), into=RoleRow)
_select_role = Query(
    lambda: select(roles).where(roles.c.guild_id == bindparam("guild_id"), roles.c.id == bindparam("role_id")),
    into=RoleRow,
)
_select_some_roles = Query(
    lambda: select(roles).where(roles.c.guild_id == bindparam("guild_id"), in_list(roles.c.id, "role_ids")),
    into=RoleRow,
)
_select_emojis = Query(
    lambda: select(emojis).where(emojis.c.guild_id == bindparam("guild_id")).order_by(emojis.c.id), into=EmojiRow
)
_select_stickers = Query(
    lambda: select(stickers).where(stickers.c.guild_id == bindparam("guild_id")).order_by(stickers.c.id),
    into=StickerRow,
)
_select_sounds = Query(
    lambda: select(sounds).where(sounds.c.guild_id == bindparam("guild_id")).order_by(sounds.c.id), into=SoundRow
)
_select_rules = Query(
    lambda: (
        select(auto_moderation_rules)
        .where(auto_moderation_rules.c.guild_id == bindparam("guild_id"))
        .order_by(auto_moderation_rules.c.id)
    ),
    into=RuleRow,
)
_select_channels = Query(
    # The types other than threads are listed, so that the index skips the threads, of which there may be many.
    lambda: select(channels).where(
        channels.c.guild_id == bindparam("guild_id"), channels.c.type.in_(type_numbers(NOT_THREADS))
    ),
    into=ChannelRow,
)


def _renewal(*, of_version: bool) -> ByDialect:
    """Set the version of a guild and append to its recent changes, of which the oldest are cut off."""

    def build(dialect: str) -> ClauseElement:
        line = sql.cast(guilds.c.version, Text).concat(bindparam("line", type_=Text))
        changes = guilds.c.recent_changes.concat("\n").concat(line)
        cut = func.substr(changes, -MAX_TEXT) if dialect == "sqlite" else func.right(changes, MAX_TEXT)
        statement = update(guilds).where(guilds.c.id == bindparam("guild_id"))
        if of_version:
            statement = statement.where(guilds.c.version == bindparam("old_version"))
        return statement.values(version=bindparam("new_version"), recent_changes=cut)

    return ByDialect(build)


_renew = Query(lambda: _renewal(of_version=False))
_renew_version = Query(lambda: _renewal(of_version=True))

T = TypeVar("T")


class _ChangedRows(Struct):
    """Rows of a guild's state as they are now; None for deleted ones."""

    parts: frozenset[GuildPart]
    """The parts that have changed."""
    roles: Mapping[RoleId, Role | None]
    channels: Mapping[ChannelId, Channel | None]
    emojis: list[Emoji] | None
    """All emojis, if any has changed."""
    stickers: list[Sticker] | None


class _Loaded(Struct):
    """What a state loads or computes when it is first needed."""

    channels: dict[int, Channel]
    all_channels: bool
    """Whether `channels` is complete; then it is never changed."""
    overwrites: dict[int, dict[int, tuple[int, int]]]
    """The overwrites of channels as `GuildState.overwrites` returns them."""
    sounds: list[SoundboardSound] | None
    rules: list[AutoModerationRule] | None
    derived: dict[object, object]
    """The results of functions with `once_per_version`."""

    def private_copy(self) -> "_Loaded":
        """The same with containers of its own."""
        channels = self.channels if self.all_channels else dict(self.channels)
        return _Loaded(channels, self.all_channels, dict(self.overwrites), self.sounds, self.rules, dict(self.derived))

    def successor(self, changed: _ChangedRows, *, boosts_changed: bool) -> "_Loaded":
        """What a later version shares with it."""
        parts = changed.parts
        channels, overwrites = self.channels, self.overwrites
        if GuildPart.CHANNEL in parts:
            channels, overwrites = dict(channels), dict(overwrites)
            for channel_id, channel in changed.channels.items():
                overwrites.pop(channel_id, None)
                if channel is None:
                    channels.pop(channel_id, None)
                else:
                    channels[channel_id] = channel
        return _Loaded(
            channels,
            self.all_channels,
            overwrites,
            None if GuildPart.SOUNDS in parts or boosts_changed else self.sounds,
            None if GuildPart.RULES in parts else self.rules,
            {compute: value for compute, value in self.derived.items() if not _PARTS[compute] & parts},
        )


class GuildState:
    """One version of a guild: its row, roles, channels (no threads), emojis, stickers and sounds."""

    __slots__ = ("_loaded", "emojis", "id", "roles", "row", "stickers", "version")

    def __init__(
        self,
        row: GuildRow,
        roles: dict[RoleId, Role],
        emojis: list[Emoji],
        stickers: list[Sticker],
        loaded: _Loaded | None = None,
    ) -> None:
        self.id = row.id
        self.version = row.version
        self.row = row
        self.roles = roles
        """By id, lowest first."""
        self.emojis = emojis
        self.stickers = stickers
        self._loaded = _Loaded({}, False, {}, None, None, {}) if loaded is None else loaded  # noqa: FBT003

    @property
    def owner_id(self) -> UserId:
        """The guild's owner."""
        return self.row.owner_id

    @property
    def everyone(self) -> Role:
        """The @everyone role, which has the guild's id."""
        return self.roles[RoleId(self.id)]

    async def channels(self, reader: Reader) -> dict[ChannelId, Channel]:
        """Every channel but threads, by id."""
        if not self._loaded.all_channels:
            rows = await reader.all_many(_select_channels, guild_id=self.id)
            channels: dict[int, Channel] = {
                channel.id: channel for channel in await map_items(reader, channel_from_row, rows)
            }
            if not self._loaded.all_channels:
                # Another request may have loaded them meanwhile.
                self._loaded.channels = channels
                self._loaded.all_channels = True
        return self._loaded.channels  # type: ignore[return-value]  # channel ids are its keys

    @property
    def loaded_channels(self) -> dict[ChannelId, Channel]:
        """Every channel but threads, by id. Raises RuntimeError before the first call of `channels`."""
        if not self._loaded.all_channels:
            raise RuntimeError("the channels of this guild have not been loaded")
        return self._loaded.channels  # type: ignore[return-value]  # channel ids are its keys

    async def channel(self, reader: Reader, channel_id: ChannelId) -> Channel | None:
        """One channel of this guild that is not a thread."""
        channel: Channel | None = self._loaded.channels.get(channel_id)
        if channel is not None or self._loaded.all_channels:
            return channel
        row = await select_channel(reader, channel_id)
        if row is None or row.guild_id != self.id or row.type in THREADS:
            return None
        channel = channel_from_row(row)
        if not self._loaded.all_channels:
            self._loaded.channels[channel_id] = channel
        return channel

    async def sounds(self, reader: Reader) -> list[SoundboardSound]:
        """The sounds of its soundboard, oldest first."""
        if self._loaded.sounds is None:
            rows = await reader.all(_select_sounds, guild_id=self.id)
            self._loaded.sounds = sounds_with_availability(
                map(sound_from_row, rows), self.row.premium_tier, self.row.features
            )
        return self._loaded.sounds

    async def auto_moderation_rules(self, reader: Reader) -> list[AutoModerationRule]:
        """Its auto moderation rules, oldest first."""
        if self._loaded.rules is None:
            self._loaded.rules = [rule_from_row(row) for row in await reader.all(_select_rules, guild_id=self.id)]
        return self._loaded.rules

    def overwrites(self, channel: Channel) -> dict[int, tuple[int, int]]:
        """The (allow, deny) bits of a channel's overwrites, by the id of the role or user."""
        overwrites = self._loaded.overwrites.get(channel.id)
        if overwrites is None:
            listed = channel.permission_overwrites
            overwrites = {o.id: (int(o.allow), int(o.deny)) for o in listed} if isinstance(listed, list) else {}
            self._loaded.overwrites[channel.id] = overwrites
        return overwrites

    def base_of(self, user_id: int, role_ids: Iterable[int]) -> int:
        """A member's permissions in the guild as a whole, without timeouts."""
        roles = self.roles
        return base_permissions(
            owner=user_id == self.row.owner_id,
            everyone=self.everyone.permissions,
            roles=[roles[r].permissions for r in role_ids if r in roles],  # type: ignore[index]
        )

    def rank_of(self, role_ids: Iterable[int]) -> tuple[int, int]:
        """The position of a member's highest role; greater is higher. Of equal positions the older role is higher."""
        roles = self.roles
        return max(
            ((roles[r].position, -r) for r in role_ids if r in roles),  # type: ignore[index]
            default=(0, -int(self.id)),
        )

    def derive(self, compute: Callable[["GuildState"], T]) -> T:
        """The result of a function of this version, computed once. See `once_per_version`."""
        if compute not in self._loaded.derived:
            self._loaded.derived[compute] = compute(self)
        return cast("T", self._loaded.derived[compute])

    def has_channel(self, channel_id: ChannelId) -> bool:
        """Whether a channel is loaded, or would be if it existed."""
        return self._loaded.all_channels or channel_id in self._loaded.channels

    def private_copy(self) -> "GuildState":
        """The same version for a transaction, which may load uncommitted changes lazily."""
        return GuildState(self.row, self.roles, self.emojis, self.stickers, self._loaded.private_copy())

    def successor(self, row: GuildRow, changed: _ChangedRows) -> "GuildState":
        """The state of a later version, which shares with this one what has not changed.

        A channel that this version loads later may already be of the later one, but never older than this one.
        """
        tier, features = row.premium_tier, row.features
        boosts_changed = tier != self.row.premium_tier or features != self.row.features
        emojis, stickers = self.emojis, self.stickers
        if changed.emojis is not None or boosts_changed:
            emojis = emojis_with_availability(emojis if changed.emojis is None else changed.emojis, tier)
        if changed.stickers is not None or boosts_changed:
            stickers = stickers_with_availability(
                stickers if changed.stickers is None else changed.stickers, tier, features
            )
        return GuildState(
            row,
            _with_roles(self.roles, changed.roles) if changed.roles else self.roles,
            emojis,
            stickers,
            self._loaded.successor(changed, boosts_changed=boosts_changed),
        )


def _in_order(roles: Iterable[Role]) -> dict[RoleId, Role]:
    return {role.id: role for role in sorted(roles, key=lambda role: (role.position, role.id))}


def _with_roles(roles: Mapping[RoleId, Role], changed: Mapping[RoleId, Role | None]) -> dict[RoleId, Role]:
    result = dict(roles)
    moved = False
    for role_id, role in changed.items():
        if role is None:
            result.pop(role_id, None)
        else:
            moved = moved or role_id not in result or result[role_id].position != role.position
            result[role_id] = role
    return _in_order(result.values()) if moved else result


_PARTS: dict[object, frozenset[GuildPart]] = {}
"""The parts of a state that each function with `once_per_version` reads."""


def once_per_version(*parts: GuildPart) -> Callable[[Callable[[GuildState], T]], Callable[[GuildState], T]]:
    """Call a function of a guild's state once for all versions that agree in `parts`, the only ones that it reads."""

    def decorate(compute: Callable[[GuildState], T]) -> Callable[[GuildState], T]:
        _PARTS[compute] = frozenset(parts)

        @wraps(compute)
        def compute_once(state: GuildState) -> T:
            return state.derive(compute)

        return compute_once

    return decorate


class MemberAuthority(Struct, frozen=True):
    """A member's roles and permissions in a guild."""

    guild: GuildState
    user_id: UserId
    role_ids: tuple[RoleId, ...]
    """Without @everyone and without deleted roles."""
    pending: bool
    timed_out_until: Timestamp | None
    restricted: bool
    """Whether the member is timed out now, has not passed membership screening, or is quarantined."""
    permissions: int
    """In the guild as a whole: reduced for a restricted member, none for a guest."""
    quarantined: bool = False
    """Whether auto moderation has quarantined the member for a name."""
    guest_channel_id: ChannelId | None = None
    """The one channel that a guest may use; None for a member who is no guest."""

    @property
    def is_owner(self) -> bool:
        """Whether the member owns the guild."""
        return self.user_id == self.guild.row.owner_id

    @property
    def rank(self) -> tuple[int, int]:
        """The position of the member's highest role."""
        return self.guild.rank_of(self.role_ids)

    def outranks_role(self, role: Role) -> bool:
        """Whether a role is lower than the member's highest one; the owner outranks every role."""
        return self.is_owner or self.rank > (role.position, -role.id)

    def outranks(self, user_id: int, role_ids: Iterable[int]) -> bool:
        """Whether the member's highest role is higher than another member's. The owner is outranked by no one."""
        if user_id == self.guild.row.owner_id:
            return False
        return self.is_owner or self.rank > self.guild.rank_of(role_ids)

    def permissions_in(self, channel: Channel, *, thread: bool = False) -> int:
        """The member's permissions in a channel, or in a thread of it, including implicit denials."""
        if self.guest_channel_id is not None and channel.id != self.guest_channel_id:
            return 0
        bits = channel_permissions(
            self.guild.base_of(self.user_id, self.role_ids),
            everyone_id=self.guild.id,
            role_ids=self.role_ids,
            user_id=self.user_id,
            overwrites=self.guild.overwrites(channel),
        )
        if self.guest_channel_id is not None:
            bits = guest_permissions(bits)
        if self.restricted:
            bits = timed_out(bits)
        return implicit(bits, voice=channel.type in VOICE, thread=thread)

    def may_view(self, channel: Channel) -> bool:
        """Whether the member may view a channel."""
        return bool(self.permissions_in(channel) & Permissions.VIEW_CHANNEL)


_BATCH = 50
"""Changed roles or channels that are read at once: a fraction of a millisecond."""
_MAX_ROWS = 50_000
_MAX_ROLE_LISTS = 50_000
_CHANNELS_EACH = 50
"""Channels for each guild in memory whose guild is remembered."""
_CACHE_MS = 1_000


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
        authority = self.build_authority(
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

    @staticmethod
    def build_authority(
        state: GuildState,
        user_id: UserId,
        role_ids: Iterable[RoleId],
        *,
        pending: bool,
        until: int | None,
        flags: int,
        now: Timestamp,
        guest_of: ChannelId | None = None,
    ) -> MemberAuthority:
        """A member's authority, from the fields of their row."""
        existing_ids = tuple(r for r in role_ids if r in state.roles)
        quarantined = bool(flags & MemberFlags.QUARANTINED)
        restricted = pending or quarantined or (until is not None and until > now)
        bits = state.base_of(user_id, existing_ids)
        return MemberAuthority(
            guild=state,
            user_id=user_id,
            role_ids=existing_ids,
            pending=pending,
            timed_out_until=None if until is None else Timestamp(until),
            restricted=restricted,
            permissions=0 if guest_of is not None else timed_out(bits) if restricted else bits,
            quarantined=quarantined,
            guest_channel_id=guest_of,
        )

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
        if base is None or not await tx.execute(_renew_version, old_version=base.version, **values):
            await tx.execute(_renew, **values)
            return
        row: GuildRow | None = None
        if any(change.part is GuildPart.SETTINGS for change in changes):
            row = await tx.one(_select_guild, guild_id=guild_id)
        row = structs.replace(base.row if row is None else row, version=version, recent_changes="")
        state = await _apply(tx, base, row, changes, roles)
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
        row = await reader.one(_select_guild, guild_id=guild_id)
        return None if row is None else await _load(reader, row)

    async def _update(self, reader: Reader, guild_id: GuildId) -> GuildState | None:
        # The guild's row, with the version, is read first: if anything changes between the statements, the state has
        # the older version, and the next request reads what has changed.
        row = await reader.one(_select_guild, guild_id=guild_id)
        if row is None:
            return None
        listed, row.recent_changes = row.recent_changes, ""
        for base in (self._uncommitted.get(guild_id), self._states.get(guild_id)):
            changes = None if base is None else changes_between(listed, base.version, row.version)
            if base is not None and changes is not None:
                return await _apply(reader, base, row, changes)
        return await _load(reader, row)

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


_select_version = Query(lambda: select(guilds.c.version).where(guilds.c.id == bindparam("guild_id")))
_select_channel_guild = Query(
    lambda: select(channels.c.guild_id, channels.c.type).where(channels.c.id == bindparam("channel_id")),
    key=("channel_id",),
)


async def _load(reader: Reader, row: GuildRow) -> GuildState:
    """The state of a guild whose row has just been read."""
    guild_id = row.id
    return GuildState(
        row,
        _in_order([role_from_row(r) for r in await reader.all(_select_roles, guild_id=guild_id)]),
        emojis_with_availability(await _emojis(reader, guild_id), row.premium_tier),
        stickers_with_availability(await _stickers(reader, guild_id), row.premium_tier, row.features),
    )


async def _emojis(reader: Reader, guild_id: GuildId) -> list[Emoji]:
    return [emoji_from_row(row) for row in await reader.all(_select_emojis, guild_id=guild_id)]


async def _stickers(reader: Reader, guild_id: GuildId) -> list[Sticker]:
    return [sticker_from_row(row) for row in await reader.all(_select_stickers, guild_id=guild_id)]


async def _apply(
    reader: Reader,
    base: GuildState,
    row: GuildRow,
    changes: Collection[GuildChange],
    known_roles: Mapping[int, Role | None] = MappingProxyType({}),
) -> GuildState:
    """The state of the version in `row`, made from that of an earlier version and what has changed since."""
    parts = frozenset(change.part for change in changes)
    role_ids = [RoleId(Snowflake(change.row_id)) for change in changes if change.part is GuildPart.ROLE]
    channel_ids = [ChannelId(Snowflake(change.row_id)) for change in changes if change.part is GuildPart.CHANNEL]
    changed = _ChangedRows(
        parts,
        await _roles(reader, row.id, role_ids, known_roles),
        await _channels(reader, base, channel_ids),
        await _emojis(reader, row.id) if GuildPart.EMOJIS in parts else None,
        await _stickers(reader, row.id) if GuildPart.STICKERS in parts else None,
    )
    return base.successor(row, changed)


async def _roles(
    reader: Reader, guild_id: GuildId, role_ids: list[RoleId], known: Mapping[int, Role | None]
) -> dict[RoleId, Role | None]:
    """The roles of a guild by id, None for deleted ones; those that are not known are read."""
    roles: dict[RoleId, Role | None] = {role_id: known.get(role_id) for role_id in role_ids}
    unread = [role_id for role_id, role in roles.items() if role is None]
    if len(unread) == 1:
        row = await reader.one(_select_role, guild_id=guild_id, role_id=unread[0])
        roles[unread[0]] = None if row is None else role_from_row(row)
        return roles

    async def read_batch(role_ids: Sequence[RoleId]) -> list[RoleRow]:
        return await reader.all(_select_some_roles, guild_id=guild_id, role_ids=list(role_ids))

    roles.update((row.id, role_from_row(row)) for row in await map_batches(reader, read_batch, unread, _BATCH))
    return roles


async def _channels(reader: Reader, base: GuildState, channel_ids: list[ChannelId]) -> dict[ChannelId, Channel | None]:
    """Those channels among some that a state has loaded, as they are now; None for deleted ones."""
    loaded = [channel_id for channel_id in channel_ids if base.has_channel(channel_id)]
    if not loaded:
        return {}
    channels: dict[ChannelId, Channel | None] = dict.fromkeys(loaded)

    async def read_batch(ids: Sequence[ChannelId]) -> Iterable[ChannelRow]:
        return (await select_channels(reader, ids)).values()

    channels.update((row.id, channel_from_row(row)) for row in await map_batches(reader, read_batch, loaded, _BATCH))
    return channels
