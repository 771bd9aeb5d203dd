"""The channels of a guild as JSON: that of a channel which has not changed is kept for the next request."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from moothall.api.context import Context
from moothall.authority.guild_changes import GuildPart
from moothall.authority.guild_state import GuildState, once_per_version
from moothall.objects.channel import Channel
from moothall.objects.clock import stopwatch
from moothall.objects.ids import ChannelId
from moothall.objects.wire import encode
from moothall.resources.channel.objects import channel_object, with_activity
from moothall.resources.channel.queries import ACTIVITY_TABLE, ChannelActivity, select_activity
from moothall.runtime.cache import Cache
from moothall.storage.bulk import map_batches
from moothall.storage.database import Database, Reader

_BATCH: Final = 50
"""Channels that are read and encoded at once: a fraction of a millisecond."""
_MAX_CHANNELS: Final = 2_000
_MAX_SECONDS: Final = 1.0
"""Changes made with another database client show within this time."""

_Encoded = dict[ChannelId, tuple[Channel, ChannelActivity | None, bytes]]


async def encode_channels(ctx: Context, channels: Sequence[Channel]) -> bytes:
    """Channels of the guild entered with their newest message and pin, as JSON."""
    cached = _encoded(ctx.guild)

    async def encode_batch(batch: Sequence[Channel]) -> list[bytes]:
        activity = await select_activity(ctx.tx, [channel.id for channel in batch])
        encoded: list[bytes] = []
        for channel in batch:
            latest = activity.get(channel.id)
            entry = cached.get(channel.id)
            if entry is None or entry[0] is not channel or entry[1] != latest:
                entry = cached[channel.id] = channel, latest, encode(with_activity(channel, latest))
            encoded.append(entry[2])
        return encoded

    return b"[%b]" % b",".join(await map_batches(ctx.tx, encode_batch, channels, _BATCH))


@once_per_version(GuildPart.CHANNEL)
def _encoded(_state: GuildState) -> _Encoded:
    return {}


class EncodedChannels:
    """Single channels with their newest message and pin, kept for a database that no other process changes.

    A commit about a channel's newest message or pin forgets its JSON before the response. A changed channel is another
    object of the guild's state.
    """

    def __init__(self, database: Database) -> None:
        self._channels: Cache[int, tuple[Channel, bytes]] = Cache(_MAX_CHANNELS)
        self._expires = 0.0
        self._enabled = database.watch_values(ACTIVITY_TABLE, self._handle_write)

    async def get(self, reader: Reader, channel: Channel) -> bytes:
        """A channel of a guild, as its state has it, as JSON."""
        if not (self._enabled and reader.committed):
            return encode(await channel_object(reader, channel))
        now = stopwatch()
        if now > self._expires:
            self._channels.forget_all()
            self._expires = now + _MAX_SECONDS
        entry = self._channels.get(channel.id)
        if entry is None or entry[0] is not channel:
            # Nothing suspends here: no commit comes between these lines.
            entry = channel, encode(await channel_object(reader, channel))
            self._channels.keep(channel.id, entry)
        return entry[1]

    def _handle_write(self, values: Mapping[str, Any]) -> None:
        channel_id = values.get("channel_id")
        if channel_id is None:
            self._channels.forget_all()
        else:
            self._channels.forget(channel_id)
