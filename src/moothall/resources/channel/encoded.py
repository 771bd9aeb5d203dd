"""The channels of a guild as JSON: that of a channel which has not changed is kept for the next list."""

from collections.abc import Sequence
from typing import Final

from moothall.kernel.context import Context
from moothall.kernel.guild_changes import GuildPart
from moothall.kernel.guild_state import GuildState, once_per_version
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId
from moothall.objects.turns import in_pieces
from moothall.objects.wire import encode
from moothall.resources.channel.objects import with_activity
from moothall.resources.channel.queries import ChannelActivity, select_activity

_PIECE: Final = 50
"""Channels that are read and encoded at once: a fraction of a millisecond."""

_Encoded = dict[ChannelId, tuple[Channel, ChannelActivity | None, bytes]]


async def encode_channels(ctx: Context, channels: Sequence[Channel]) -> bytes:
    """Channels of the guild entered with their newest message and pin, as JSON; others run in between."""
    kept = _encoded(ctx.guild)
    parts: list[bytes] = []
    async for piece in in_pieces(channels, _PIECE):
        activity = await select_activity(ctx.tx, [channel.id for channel in piece])
        for channel in piece:
            latest = activity.get(channel.id)
            entry = kept.get(channel.id)
            if entry is None or entry[0] is not channel or entry[1] != latest:
                entry = kept[channel.id] = channel, latest, encode(with_activity(channel, latest))
            parts.append(entry[2])
    return b"[%b]" % b",".join(parts)


@once_per_version(GuildPart.CHANNEL)
def _encoded(_state: GuildState) -> _Encoded:
    return {}
