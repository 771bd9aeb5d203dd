"""Operations: set and remove the status of a voice channel."""

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent, AuditLogOptions
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake
from moothall.objects.permissions import Permissions
from moothall.objects.text import clean
from moothall.resources.voice import queries
from moothall.resources.voice.events import VoiceChannelStatusUpdate


async def set_voice_status(ctx: Context, requested: str | None) -> None:
    """Set the status of the voice channel entered; null and an empty one remove it.

    A status that is the same as before is neither recorded nor announced. Raises Refusal: 400/50024 for another type of
    channel, 403/50013 for a caller who is not connected to the channel and lacks MANAGE_CHANNELS.
    """
    channel = ctx.channel.channel
    if channel.type != ChannelType.GUILD_VOICE:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    state = await queries.get_voice_state(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    if state is None or state.channel_id != channel.id:
        ctx.require(Permissions.MANAGE_CHANNELS)
    status = clean(requested or "").strip() or None
    if status == await queries.select_voice_status(ctx.tx, ctx.guild.id, channel.id):
        return
    if status is None:
        await queries.delete_voice_status(ctx.tx, ctx.guild.id, channel.id)
        await ctx.audit(AuditLogEvent.VOICE_CHANNEL_STATUS_DELETE, target=Snowflake(channel.id))
    else:
        await queries.upsert_voice_status(ctx.tx, ctx.guild.id, channel.id, status)
        options = AuditLogOptions(status=status)
        await ctx.audit(AuditLogEvent.VOICE_CHANNEL_STATUS_CREATE, target=Snowflake(channel.id), options=options)
    ctx.emit(VoiceChannelStatusUpdate(guild_id=ctx.guild.id, channel_id=channel.id, status=status))


async def delete_status_of_channel(ctx: Context, channel: Channel) -> None:
    """Delete the status of a deleted channel, without an event."""
    await queries.delete_voice_status(ctx.tx, ctx.guild.id, channel.id)
