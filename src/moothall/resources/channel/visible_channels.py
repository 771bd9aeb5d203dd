"""The channels of a guild that a member may see and read, computed once for a version of the guild."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from moothall.api.context import Context
from moothall.authority.guild_changes import GuildPart
from moothall.authority.guild_state import GuildState, once_per_version
from moothall.authority.member_authority import MemberAuthority
from moothall.objects.channel import Channel
from moothall.objects.channel_types import FORUMS, VOICE
from moothall.objects.ids import ChannelId
from moothall.objects.permissions import Permissions
from moothall.runtime.cache import Cache
from moothall.storage.bulk import map_items

_READ: Final = Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY
_READ_VOICE: Final = _READ | Permissions.CONNECT
_MAX_SETS: Final = 1_000
"""Sets of permissions in one version of a guild that are kept."""


class VisibleChannels(Struct, frozen=True, eq=False):
    """Channels by what a member may do in them. Members with equal permissions share the object."""

    every: frozenset[ChannelId]
    """All channels of the guild."""
    viewable: frozenset[ChannelId]
    readable: frozenset[ChannelId]
    """Those whose messages the member may read."""
    nsfw: frozenset[ChannelId]
    """All age-restricted ones."""
    managed: frozenset[ChannelId]
    """The viewable ones in which the member may manage threads (MANAGE_THREADS)."""
    forums: frozenset[ChannelId]


async def visible_channels(ctx: Context) -> VisibleChannels:
    """The channels that the caller may see in the guild entered."""
    await ctx.guild.channels(ctx.tx)
    member = ctx.member
    # A transaction may see channels that are not committed yet.
    sets = _sets(ctx.guild) if ctx.tx.committed else _new_sets()
    own = member.user_id if member.is_owner or member.user_id in _ids_of_overwrites(ctx.guild) else None
    key = own, member.role_ids, member.restricted, member.guest_channel_id
    visible = sets.get(key)
    if visible is None:
        visible = await _compute(ctx, member, list(ctx.guild.loaded_channels.values()))
        sets.keep(key, visible)
    return visible


def _new_sets() -> Cache[object, VisibleChannels]:
    return Cache(_MAX_SETS)


@once_per_version(GuildPart.SETTINGS, GuildPart.ROLE, GuildPart.CHANNEL)
def _sets(_state: GuildState) -> Cache[object, VisibleChannels]:
    return _new_sets()


@once_per_version(GuildPart.CHANNEL)
def _ids_of_overwrites(state: GuildState) -> frozenset[int]:
    return frozenset(target_id for channel in state.loaded_channels.values() for target_id in state.overwrites(channel))


async def _compute(ctx: Context, member: MemberAuthority, channels: Sequence[Channel]) -> VisibleChannels:
    permissions = await map_items(ctx.tx, member.permissions_in, channels)
    bits = {channel.id: number for channel, number in zip(channels, permissions, strict=True)}
    viewable = frozenset(each for each in bits if bits[each] & Permissions.VIEW_CHANNEL)
    voice = {channel.id for channel in channels if channel.type in VOICE}
    return VisibleChannels(
        every=frozenset(bits),
        viewable=viewable,
        readable=frozenset(each for each in bits if _contains(bits[each], _READ_VOICE if each in voice else _READ)),
        nsfw=frozenset(channel.id for channel in channels if channel.nsfw is True),
        managed=frozenset(each for each in viewable if bits[each] & Permissions.MANAGE_THREADS),
        forums=frozenset(channel.id for channel in channels if channel.type in FORUMS),
    )


def _contains(bits: int, required: int) -> bool:
    return bits & required == required
