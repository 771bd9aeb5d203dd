"""A version of a guild, from which the permissions of its members are computed: see `guild_states.py`."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import TypeVar, cast

from msgspec import Struct

from moothall.authority.channel_queries import select_channel
from moothall.authority.guild_changes import GuildPart
from moothall.objects.auto_moderation import AutoModerationRule
from moothall.objects.channel import Channel
from moothall.objects.channel_types import NOT_THREADS, THREADS, type_numbers
from moothall.objects.emoji import Emoji
from moothall.objects.expressions import emojis_with_availability, sounds_with_availability, stickers_with_availability
from moothall.objects.ids import ChannelId, RoleId, UserId
from moothall.objects.permissions import base_permissions
from moothall.objects.role import Role
from moothall.objects.soundboard import SoundboardSound
from moothall.objects.sticker import Sticker
from moothall.storage.bulk import map_items
from moothall.storage.database import Query, Reader
from moothall.storage.rows import (
    ChannelRow,
    GuildRow,
    RuleRow,
    SoundRow,
    channel_from_row,
    rule_from_row,
    sound_from_row,
)
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import auto_moderation_rules, channels, sounds

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


T = TypeVar("T")


class ChangedRows(Struct):
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

    def successor(self, changed: ChangedRows, *, boosts_changed: bool) -> "_Loaded":
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

    def successor(self, row: GuildRow, changed: ChangedRows) -> "GuildState":
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


def roles_in_order(roles: Iterable[Role]) -> dict[RoleId, Role]:
    """Roles by id, lowest first."""
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
    return roles_in_order(result.values()) if moved else result


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
