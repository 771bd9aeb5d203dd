"""Operations: when the first of those in a voice channel entered it."""

from collections.abc import Iterable

from moothall.api.context import Context
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.wire import Timestamp
from moothall.resources.voice import queries
from moothall.resources.voice.events import VoiceChannelStartTimeUpdate


async def start_in(ctx: Context, guild_id: GuildId, channel_id: ChannelId) -> Timestamp | None:
    """Return the start that a member who enters a channel has; announce it if they are the first.

    Called before their voice state is stored.
    """
    known = await queries.select_start(ctx.tx, channel_id)
    if known is not None:
        return known[0]
    ctx.emit(VoiceChannelStartTimeUpdate(guild_id=guild_id, channel_id=channel_id, started_at=ctx.now))
    return ctx.now


async def announce_ends(ctx: Context, left: Iterable[tuple[GuildId, ChannelId]]) -> None:
    """Announce which of the channels that members have left are empty now."""
    channels = dict.fromkeys(left)
    if not channels:
        return
    occupied = await queries.select_occupied(ctx.tx, [channel_id for _, channel_id in channels])
    for guild_id, channel_id in channels:
        if channel_id not in occupied:
            ctx.emit(VoiceChannelStartTimeUpdate(guild_id=guild_id, channel_id=channel_id, started_at=None))
