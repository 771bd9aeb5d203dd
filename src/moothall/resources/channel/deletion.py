"""Deleting a channel of a guild with everything that depends on it."""

from typing import Final

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.features import Feature
from moothall.resources.channel import queries
from moothall.resources.channel.events import ChannelDelete, ChannelUpdate
from moothall.resources.channel.objects import channel_object, channel_objects
from moothall.resources.channel.operations import AUDITED, CHANNEL_DELETED, CHANNEL_DELETING
from moothall.storage.rows import channel_from_row

DELETING: Final[Fires] = (ChannelDelete, ChannelUpdate, CHANNEL_DELETING, CHANNEL_DELETED)
"""What a row declares to fire if it may delete a channel."""


async def delete_guild_channel(ctx: Context) -> Channel:
    """Delete the channel of a guild that has been entered; the object as it was.

    The channels of a category stay, outside of any. Messages are removed by a job afterwards. Raises Refusal:
    400/50074 for the rules and updates channels of a community.
    """
    row = ctx.guild.row
    if Feature.COMMUNITY in row.features and ctx.channel.id in {row.rules_channel_id, row.public_updates_channel_id}:
        raise Refusal(errors.COMMUNITY_CHANNEL_REQUIRED)
    channel = await channel_object(ctx.tx, ctx.channel.channel)
    await CHANNEL_DELETING(ctx, channel)
    await queries.delete_channel(ctx.tx, channel.id)
    await ctx.audit(
        AuditLogEvent.CHANNEL_DELETE,
        target=channel.id,
        changes=differences(channel, None, (*AUDITED, "permission_overwrites")),
    )
    if channel.type == ChannelType.GUILD_CATEGORY:
        await _free_children(ctx, channel)
    ctx.emit(ChannelDelete(channel=channel))
    await CHANNEL_DELETED(ctx, channel)
    return channel


async def _free_children(ctx: Context, category: Channel) -> None:
    rows = await queries.free_children(ctx.tx, category.id)
    for child in await channel_objects(ctx.tx, map(channel_from_row, rows)):
        ctx.emit(ChannelUpdate(channel=child))
