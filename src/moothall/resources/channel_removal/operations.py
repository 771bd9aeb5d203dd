"""Deleting a channel with everything that hangs on it."""

from typing import Any, Final

from msgspec import structs

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import VOICE, ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.features import Feature
from moothall.objects.wire import to_plain
from moothall.resources.channel.events import ChannelDelete, ChannelUpdate
from moothall.resources.channel.objects import channel_object, channel_objects
from moothall.resources.channel.operations import AUDITED
from moothall.resources.channel.queries import delete_channel
from moothall.resources.channel_removal import queries
from moothall.resources.channel_removal.jobs import purge_later
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.guild.objects import guild_from_parts
from moothall.resources.guild.queries import update_guild
from moothall.resources.invite.events import InviteDelete
from moothall.resources.invite.queries import delete_channel_invites, select_channel_invites
from moothall.resources.membership.guests import remove_guests_of
from moothall.resources.scheduled_event.operations import remove_gatherings
from moothall.resources.thread.editing import remove_thread
from moothall.resources.voice.operations import empty_channel
from moothall.storage.rows import channel_from_row, welcome_screen_from_row

_REFERENCES: Final = (
    "afk_channel_id", "system_channel_id", "rules_channel_id", "public_updates_channel_id",
    "safety_alerts_channel_id", "widget_channel_id",
)  # fmt: skip
"""The fields of a guild that name a channel."""


async def remove_channel(ctx: Context) -> Channel:
    """Delete the channel of a guild that has been entered; the object as it was.

    The channels of a category stay, outside of any. What was said in the channel is removed little by
    little afterwards. Raises Refusal: 400/50074 for the rules and
    updates channels of a community, 403/50013 for a thread without MANAGE_THREADS.
    """
    if ctx.channel.is_thread:
        thread = await remove_thread(ctx)
        await purge_later(ctx, thread.id, again=True)
        return thread
    row = ctx.guild.row
    if Feature.COMMUNITY in row.features and ctx.channel.id in {row.rules_channel_id, row.public_updates_channel_id}:
        raise Refusal(errors.COMMUNITY_CHANNEL_REQUIRED)
    channel = await channel_object(ctx.tx, ctx.channel.channel)
    # What concerns only those who see the channel is told while it is still there to be seen.
    await _remove_invites(ctx, channel)
    if channel.type in VOICE:
        await remove_gatherings(ctx, ctx.guild, channel.id)
        await empty_channel(ctx, ctx.guild.id, channel.id)
        await remove_guests_of(ctx, ctx.guild.id, channel.id)
    await delete_channel(ctx.tx, channel.id)
    await queries.delete_webhooks(ctx.tx, channel.id)
    await purge_later(ctx, channel.id)
    await ctx.audit(
        AuditLogEvent.CHANNEL_DELETE,
        target=channel.id,
        changes=differences(channel, None, (*AUDITED, "permission_overwrites")),
    )
    if channel.type == ChannelType.GUILD_CATEGORY:
        await _free_children(ctx, channel)
    ctx.emit(ChannelDelete(channel=channel))
    await _forget_in_guild(ctx, channel)
    return channel


async def _remove_invites(ctx: Context, channel: Channel) -> None:
    invites = await select_channel_invites(ctx.tx, channel.id, ctx.now)
    await delete_channel_invites(ctx.tx, channel.id)
    for invite in invites:
        ctx.emit(InviteDelete(channel_id=channel.id, guild_id=ctx.guild.id, code=invite.code))


async def _free_children(ctx: Context, category: Channel) -> None:
    rows = await queries.free_children(ctx.tx, category.id)
    for child in await channel_objects(ctx.tx, map(channel_from_row, rows)):
        ctx.emit(ChannelUpdate(channel=child))


async def _forget_in_guild(ctx: Context, channel: Channel) -> None:
    guild = ctx.guild
    columns: dict[str, Any] = {name: None for name in _REFERENCES if getattr(guild.row, name) == channel.id}
    screen = welcome_screen_from_row(guild.row)
    if screen is not None and any(shown.channel_id == channel.id for shown in screen.welcome_channels):
        left = [shown for shown in screen.welcome_channels if shown.channel_id != channel.id]
        columns["welcome_screen"] = to_plain(structs.replace(screen, welcome_channels=left))
    if columns:
        await update_guild(ctx.tx, guild.id, columns)
        after = structs.replace(guild.row, **columns)
        ctx.emit(GuildUpdate(guild=guild_from_parts(after, guild.roles.values(), guild.emojis, guild.stickers)))
