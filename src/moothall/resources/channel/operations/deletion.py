"""Operation: delete a guild channel."""

from typing import Final

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.features import Feature
from moothall.resources.channel import queries
from moothall.resources.channel.events import ChannelDelete, ChannelUpdate
from moothall.resources.channel.objects import channel_object, channel_objects
from moothall.resources.channel.operations import CHANNEL_DELETED, CHANNEL_DELETING
from moothall.resources.channel.operations.guild_channel import AUDITED_FIELDS
from moothall.storage.rows import channel_from_row

DELETE_CHANNEL_EVENTS: Final[Fires] = (ChannelDelete, ChannelUpdate, CHANNEL_DELETING, CHANNEL_DELETED)
"""What an endpoint that deletes a channel declares in `fires`."""


async def delete_guild_channel(ctx: Context) -> Channel:
    """Delete the current guild channel; return the object as it was.

    The channels in a category stay, without a category. A job removes messages and threads later. Raises Refusal:
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
        changes=differences(channel, None, (*AUDITED_FIELDS, "permission_overwrites")),
    )
    if channel.type == ChannelType.GUILD_CATEGORY:
        await _clear_parent_of_children(ctx, channel)
    ctx.emit(ChannelDelete(channel=channel))
    await CHANNEL_DELETED(ctx, channel)
    return channel


async def _clear_parent_of_children(ctx: Context, category: Channel) -> None:
    rows = await queries.clear_parent_of_children(ctx.tx, category.id)
    for child in await channel_objects(ctx.tx, map(channel_from_row, rows)):
        ctx.emit(ChannelUpdate(channel=child))
