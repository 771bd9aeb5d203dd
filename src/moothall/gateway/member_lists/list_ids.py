"""The ids of member lists: channels that the same roles and users may view share one list."""

from typing import Final

from moothall.gateway.audience.guild_view import ChannelView, GuildView
from moothall.objects.ids import RoleId
from moothall.objects.permissions import Permissions

EVERYONE: Final = "everyone"
_VIEW: Final = int(Permissions.VIEW_CHANNEL)
_MASK: Final = 0xFFFF_FFFF


def member_list_id(view: GuildView, channel: ChannelView) -> str:
    """The id of a channel's member list, which clients compute as well: a hash of the overwrites of VIEW_CHANNEL.

    It is "everyone" if @everyone may view the channel and no overwrite denies it.
    """
    overwrites = channel.overwrites
    everyone_views = view.roles.get(RoleId(view.id), 0) & _VIEW
    if everyone_views and not any(deny & _VIEW for _, deny in overwrites.values()):
        return EVERYONE
    tokens = [
        f"{'allow' if allow & _VIEW else 'deny'}:{int(target)}"
        for target, (allow, deny) in overwrites.items()
        if (allow | deny) & _VIEW
    ]
    return str(murmur3_32(",".join(sorted(tokens)).encode()))


def murmur3_32(data: bytes) -> int:
    """MurmurHash3, x86, 32 bits, seed 0."""
    value = 0
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        value ^= _mixed(int.from_bytes(data[start : start + 4], "little"))
        value = (_rotated(value, 13) * 5 + 0xE654_6B64) & _MASK
    if whole < len(data):
        value ^= _mixed(int.from_bytes(data[whole:], "little"))
    value ^= len(data)
    for shift, factor in ((16, 0x85EB_CA6B), (13, 0xC2B2_AE35)):
        value = ((value ^ value >> shift) * factor) & _MASK
    return value ^ value >> 16


def _mixed(block: int) -> int:
    return _rotated(block * 0xCC9E_2D51 & _MASK, 15) * 0x1B87_3593 & _MASK


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _MASK
