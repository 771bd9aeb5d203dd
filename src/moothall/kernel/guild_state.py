"""What authority in a guild rests on, held in memory for one version of the guild.

`guilds.version` gets a fresh value in every transaction that announces a change of guild state.
A request reads the version and the caller's member row in one query; the state of that version is
loaded once and shared by all requests that see it. So an answer is never stale, not even when
another process wrote, and the cost of a request does not grow with the guild.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, select

from moothall.kernel.channel_queries import select_channel
from moothall.objects.channel import Channel
from moothall.objects.channel_types import NOT_THREADS, THREADS, VOICE, type_numbers
from moothall.objects.emoji import Emoji
from moothall.objects.expressions import emojis_with_availability, sounds_with_availability, stickers_with_availability
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId
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
from moothall.storage.database import Database, Query, Reader
from moothall.storage.rows import (
    ChannelRow,
    EmojiRow,
    GuildRow,
    RoleRow,
    SoundRow,
    StickerRow,
    channel_from_row,
    emoji_from_row,
    role_from_row,
    sound_from_row,
    sticker_from_row,
)
from moothall.storage.schema import channels, emojis, guilds, members, roles, sounds, stickers

_select_standing = Query(
    select(
        guilds.c.version,
        members.c.user_id,
        members.c.roles,
        members.c.pending,
        members.c.communication_disabled_until,
        members.c.guest_channel_id,
    )
    .select_from(
        guilds.outerjoin(members, (members.c.guild_id == guilds.c.id) & (members.c.user_id == bindparam("user_id")))
    )
    .where(guilds.c.id == bindparam("guild_id"))
)
_select_guild = Query(select(guilds).where(guilds.c.id == bindparam("guild_id")), into=GuildRow)
_select_roles = Query(select(roles).where(roles.c.guild_id == bindparam("guild_id")), into=RoleRow)
_select_emojis = Query(
    select(emojis).where(emojis.c.guild_id == bindparam("guild_id")).order_by(emojis.c.id), into=EmojiRow
)
_select_stickers = Query(
    select(stickers).where(stickers.c.guild_id == bindparam("guild_id")).order_by(stickers.c.id), into=StickerRow
)
_select_sounds = Query(
    select(sounds).where(sounds.c.guild_id == bindparam("guild_id")).order_by(sounds.c.id), into=SoundRow
)
_select_channels = Query(
    # Every type but threads: named rather than excluded, so an index leaves those aside, of which there may be many.
    select(channels).where(
        channels.c.guild_id == bindparam("guild_id"), channels.c.type.in_(type_numbers(NOT_THREADS))
    ),
    into=ChannelRow,
)


class GuildState:
    """One version of a guild: its row, roles, channels (no threads), emojis, stickers and sounds."""

    __slots__ = (
        "_all_channels",
        "_channels",
        "_overwrites",
        "_sounds",
        "emojis",
        "id",
        "memo",
        "roles",
        "row",
        "stickers",
        "version",
    )

    def __init__(self, row: GuildRow, roles: Iterable[Role], emojis: list[Emoji], stickers: list[Sticker]) -> None:
        self.id = row.id
        self.version = row.version
        self.row = row
        self.roles: dict[RoleId, Role] = {role.id: role for role in sorted(roles, key=lambda r: (r.position, r.id))}
        self.emojis = emojis_with_availability(emojis, row.premium_tier)
        self.stickers = stickers_with_availability(stickers, row.premium_tier, row.features)
        self.memo: dict[str, Any] = {}
        """What resources compute once for this version: encoded answers, sorted lists."""
        self._channels: dict[int, Channel] = {}
        self._all_channels = False
        self._overwrites: dict[int, dict[int, tuple[int, int]]] = {}
        self._sounds: list[SoundboardSound] | None = None

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
        if not self._all_channels:
            rows = await reader.all(_select_channels, guild_id=self.id)
            self._channels = {row.id: channel_from_row(row) for row in rows}
            self._all_channels = True
        return self._channels  # type: ignore[return-value]  # channel ids are its keys

    async def channel(self, reader: Reader, channel_id: ChannelId) -> Channel | None:
        """One channel of this guild that is not a thread."""
        found: Channel | None = self._channels.get(channel_id)
        if found is not None or self._all_channels:
            return found
        row = await select_channel(reader, channel_id)
        if row is None or row.guild_id != self.id or row.type in THREADS:
            return None
        found = self._channels[channel_id] = channel_from_row(row)
        return found

    async def sounds(self, reader: Reader) -> list[SoundboardSound]:
        """The sounds of its soundboard, oldest first."""
        if self._sounds is None:
            rows = await reader.all(_select_sounds, guild_id=self.id)
            self._sounds = sounds_with_availability(map(sound_from_row, rows), self.row.premium_tier, self.row.features)
        return self._sounds

    def overwrites(self, channel: Channel) -> dict[int, tuple[int, int]]:
        """A channel's overwrites as the permission computation takes them."""
        found = self._overwrites.get(channel.id)
        if found is None:
            listed = channel.permission_overwrites
            found = {o.id: (int(o.allow), int(o.deny)) for o in listed} if isinstance(listed, list) else {}
            self._overwrites[channel.id] = found
        return found

    def base_of(self, user_id: int, role_ids: Iterable[int]) -> int:
        """A member's permissions in the guild as a whole, without timeouts."""
        known = self.roles
        return base_permissions(
            owner=user_id == self.row.owner_id,
            everyone=self.everyone.permissions,
            roles=[known[r].permissions for r in role_ids if r in known],  # type: ignore[index]
        )

    def rank_of(self, role_ids: Iterable[int]) -> tuple[int, int]:
        """How high a member's highest role stands; greater is higher. Of equal positions the older role is higher."""
        known = self.roles
        return max(
            ((known[r].position, -r) for r in role_ids if r in known),  # type: ignore[index]
            default=(0, -int(self.id)),
        )

    def private_copy(self) -> "GuildState":
        """The same version without what is loaded lazily, for a transaction that may see unsaved changes."""
        copy = GuildState(self.row, self.roles.values(), self.emojis, self.stickers)
        copy._channels, copy._all_channels = dict(self._channels), self._all_channels
        return copy


class MemberAuthority(Struct, frozen=True):
    """A member's place in a guild, as authority sees it."""

    guild: GuildState
    user_id: UserId
    role_ids: tuple[RoleId, ...]
    """Without @everyone; ids of deleted roles are gone."""
    pending: bool
    timed_out_until: Timestamp | None
    restricted: bool
    """Timed out now, or not through membership screening."""
    permissions: int
    """In the guild as a whole; a restricted member's are cut down, a guest has none."""
    guest_channel_id: ChannelId | None = None
    """The one channel that a guest may do anything in; None for whoever is no guest."""

    @property
    def can_manage_application(self) -> bool:
        """Whether the guild is theirs."""
        return self.user_id == self.guild.row.owner_id

    @property
    def rank(self) -> tuple[int, int]:
        """How high their highest role stands."""
        return self.guild.rank_of(self.role_ids)

    def outranks_role(self, role: Role) -> bool:
        """Whether a role stands strictly below their highest one; the owner outranks every role."""
        return self.can_manage_application or self.rank > (role.position, -role.id)

    def outranks(self, user_id: int, role_ids: Iterable[int]) -> bool:
        """Whether they stand strictly above another member. Nobody outranks the owner."""
        if user_id == self.guild.row.owner_id:
            return False
        return self.can_manage_application or self.rank > self.guild.rank_of(role_ids)

    def permissions_in(self, channel: Channel, *, thread: bool = False) -> int:
        """What they may do in a channel, or in a thread of it, implicit denials included."""
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
        """Whether they may see a channel."""
        return bool(self.permissions_in(channel) & Permissions.VIEW_CHANNEL)


_MAX_ROWS = 50_000
_REMEMBER_MS = 1_000


class GuildStates:
    """The states in memory, the most recently used ones, at most `maximum` guilds."""

    def __init__(self, *, maximum: int = 10_000) -> None:
        self._states: OrderedDict[int, GuildState] = OrderedDict()
        self._role_lists: dict[str, tuple[RoleId, ...]] = {}
        self._guild_of_channel: dict[int, GuildId] = {}
        self._max = maximum
        self._rows: dict[tuple[int, int], tuple[int, tuple[Any, ...]]] = {}
        self._remembers = False

    def remember(self, database: Database) -> None:
        """From now on, remember the rows that standings rest on, where nobody else serves from the database.

        They are forgotten at the first commit of this process about any guild or member, before it is
        answered, and after a second at most: nobody but an operator at the database's own prompt could
        change them unnoticed.
        """
        alone = [database.watch(table.name, self.forget) for table in (guilds, members)]
        self._remembers = all(alone)

    def forget(self) -> None:
        """Read standings anew."""
        self._rows.clear()

    async def authority(
        self, reader: Reader, guild_id: GuildId, user_id: UserId, now: Timestamp, *, writes: bool
    ) -> tuple[GuildState | None, MemberAuthority | None]:
        """The guild as it stands and a user's standing in it; None where there is none."""
        row = await self._standing_row(reader, guild_id, user_id, now)
        if row is None:
            return None, None
        version, member_id, role_list, pending, until, guest_of = row
        state = await self.at_version(reader, guild_id, version, writes=writes)
        if state is None or member_id is None:
            return state, None
        authority = self.judge(
            state,
            user_id,
            self._roles(role_list),
            pending=bool(pending),
            until=until,
            now=now,
            guest_of=None if guest_of is None else ChannelId(guest_of),
        )
        return state, authority

    async def _standing_row(
        self, reader: Reader, guild_id: GuildId, user_id: UserId, now: Timestamp
    ) -> tuple[Any, ...] | None:
        remembers = self._remembers and reader.committed
        if remembers and (known := self._rows.get((guild_id, user_id))) is not None and known[0] > now:
            return known[1]
        row = await reader.one(_select_standing, guild_id=guild_id, user_id=user_id)
        if remembers and row is not None:
            if len(self._rows) >= _MAX_ROWS:
                self._rows.clear()
            self._rows[guild_id, user_id] = (now + _REMEMBER_MS, row)
        return row

    @staticmethod
    def judge(
        state: GuildState,
        user_id: UserId,
        role_ids: Iterable[RoleId],
        *,
        pending: bool,
        until: int | None,
        now: Timestamp,
        guest_of: ChannelId | None = None,
    ) -> MemberAuthority:
        """A member's standing, from the fields of their row."""
        held = tuple(r for r in role_ids if r in state.roles)
        restricted = pending or (until is not None and until > now)
        bits = state.base_of(user_id, held)
        return MemberAuthority(
            guild=state,
            user_id=user_id,
            role_ids=held,
            pending=pending,
            timed_out_until=None if until is None else Timestamp(until),
            restricted=restricted,
            permissions=0 if guest_of is not None else timed_out(bits) if restricted else bits,
            guest_channel_id=guest_of,
        )

    async def state(self, reader: Reader, guild_id: GuildId, *, writes: bool = False) -> GuildState | None:
        """The guild as it stands; None if there is none."""
        version = await reader.scalar(_select_version, guild_id=guild_id)
        return None if version is None else await self.at_version(reader, guild_id, version, writes=writes)

    async def at_version(self, reader: Reader, guild_id: GuildId, version: int, *, writes: bool) -> GuildState | None:
        """The state of a version just read. In a transaction (`writes`) lazily loaded parts stay private to it."""
        found = self._states.get(guild_id)
        if found is None or found.version != version:
            found = await _load(reader, guild_id)
            if found is None:
                return None
            if not writes:
                self._states[guild_id] = found
                if len(self._states) > self._max:
                    self._states.popitem(last=False)
            return found
        self._states.move_to_end(guild_id)
        return found.private_copy() if writes else found

    async def guild_of_channel(self, reader: Reader, channel_id: ChannelId) -> GuildId | None:
        """The guild that a channel (no thread) belongs to; None if it is not known to be one.

        A channel never changes its guild, so the answer is remembered; that the channel still exists
        is for the guild's state to say.
        """
        found = self._guild_of_channel.get(channel_id)
        if found is None:
            row = await reader.one(_select_channel_guild, channel_id=channel_id)
            if row is None or row[0] is None or row[1] in THREADS:
                return None
            if len(self._guild_of_channel) > 50 * self._max:
                self._guild_of_channel.clear()
            found = self._guild_of_channel[channel_id] = GuildId(row[0])
        return found

    def _roles(self, listed: str | None) -> tuple[RoleId, ...]:
        # Members share few distinct lists; parsing each once is cheaper than parsing for each request.
        if not listed or listed == "[]":
            return ()
        found = self._role_lists.get(listed)
        if found is None:
            if len(self._role_lists) > 50_000:
                self._role_lists.clear()
            found = tuple(RoleId(Snowflake(role)) for role in msgspec.json.decode(listed, type=list[int]))
            self._role_lists[listed] = found
        return found


_select_version = Query(select(guilds.c.version).where(guilds.c.id == bindparam("guild_id")))
_select_channel_guild = Query(
    select(channels.c.guild_id, channels.c.type).where(channels.c.id == bindparam("channel_id"))
)


async def _load(reader: Reader, guild_id: GuildId) -> GuildState | None:
    # The guild's row, with the version, is read first: if anything changes between the statements, the
    # state is labelled with the older version and is loaded again by the next request.
    row = await reader.one(_select_guild, guild_id=guild_id)
    if row is None:
        return None
    found = await reader.all(_select_roles, guild_id=guild_id)
    return GuildState(
        row,
        [role_from_row(r) for r in found],
        [emoji_from_row(r) for r in await reader.all(_select_emojis, guild_id=guild_id)],
        [sticker_from_row(r) for r in await reader.all(_select_stickers, guild_id=guild_id)],
    )
