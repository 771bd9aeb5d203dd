"""Channels over HTTP (api.md, Channels and threads of a guild; resources: channel)."""

from typing import Annotated

from msgspec import Meta, structs

from moothall.api.access import MEMBER, SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get, patch, post, put
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors, limits
from moothall.objects.channel import Channel
from moothall.objects.channel_types import DIRECT, MESSAGEABLE
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, Snowflake
from moothall.objects.permissions import Permissions
from moothall.objects.wire import encode
from moothall.resources.channel import queries
from moothall.resources.channel.access import ManagesChannel
from moothall.resources.channel.encoded import EncodedChannels, encode_channels
from moothall.resources.channel.events import (
    ChannelCreate,
    ChannelUpdate,
    TypingStart,
)
from moothall.resources.channel.objects import channel_object, direct_channel_objects
from moothall.resources.channel.operations import (
    CHANNEL_CHANGED,
    OTHER_CHANNEL_CHANGING,
    OTHER_CHANNEL_DELETING,
    deletion,
    direct_message,
    guild_channel,
    overwrites,
    positions,
    typing_indicator,
)
from moothall.resources.channel.requests import (
    ChannelPosition,
    CreateGuildChannel,
    EditChannelPermissions,
    ModifyChannel,
)
from moothall.resources.channel.visible_channels import visible_channels

Positions = Annotated[list[ChannelPosition], Meta(max_length=limits.CHANNELS_PER_GUILD)]


@get("/guilds/{guild_id}/channels", permission=MEMBER)
async def get_guild_channels(ctx: Context, guild_id: GuildId) -> Json[list[Channel]]:
    """List the channels of a guild that the caller may view, by position, without threads."""
    channels = await ctx.guild.channels(ctx.tx)
    viewable = (await visible_channels(ctx)).viewable
    visible = [channel for channel in channels.values() if channel.id in viewable]
    return Json(
        await encode_channels(ctx, sorted(visible, key=lambda channel: (channel.position, channel.id))),
        names_files=False,
    )


@post(
    "/guilds/{guild_id}/channels",
    permission=Permissions.MANAGE_CHANNELS,
    audit_reason=True,
    fires=(ChannelCreate,),
    status=201,
)
async def create_guild_channel(ctx: Context, guild_id: GuildId, body: CreateGuildChannel) -> Channel:
    """Create a channel of any type but threads."""
    return await guild_channel.create_channel(ctx, body)


@patch("/guilds/{guild_id}/channels", permission=Permissions.MANAGE_CHANNELS, fires=(ChannelUpdate,))
async def modify_guild_channel_positions(ctx: Context, guild_id: GuildId, body: Positions) -> None:
    """Change the position and category of channels, or copy the overwrites of their category."""
    await positions.modify_channel_positions(ctx, body)


@get("/channels/{channel_id}", permission=MEMBER)
async def get_channel(ctx: Context, channel_id: ChannelId) -> Json[Channel]:
    """Get a channel, thread or direct message that the caller may view; a thread with the caller's thread member."""
    if not ctx.in_guild:
        return Json(encode(await _direct_channel(ctx, channel_id)))
    if not ctx.channel.is_thread:
        return Json(await ctx.services.resources[EncodedChannels].get(ctx.tx, ctx.channel.channel), names_files=False)
    thread = await channel_object(ctx.tx, ctx.channel.channel)
    members = await queries.select_own_memberships(ctx.tx, ctx.actor.user_id, [channel_id])
    return Json(encode(structs.replace(thread, member=members[channel_id]) if channel_id in members else thread))


async def _direct_channel(ctx: Context, channel_id: ChannelId) -> Channel:
    row = await select_channel(ctx.tx, channel_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    return (await direct_channel_objects(ctx.tx, [row], ctx.actor.user_id))[0]


@patch(
    "/channels/{channel_id}",
    permission=ManagesChannel(),
    audit_reason=True,
    fires=(ChannelUpdate, CHANNEL_CHANGED, OTHER_CHANNEL_CHANGING),
)
async def modify_channel(ctx: Context, channel_id: ChannelId, body: ModifyChannel) -> Channel:
    """Modify a guild channel, a thread or a group direct message; overwrites also require MANAGE_ROLES."""
    modified = await OTHER_CHANNEL_CHANGING.first(ctx, body)
    return modified or await guild_channel.modify_channel(ctx, body)


@delete(
    "/channels/{channel_id}",
    permission=ManagesChannel(),
    audit_reason=True,
    fires=(*deletion.DELETE_CHANNEL_EVENTS, OTHER_CHANNEL_DELETING),
)
async def delete_channel(ctx: Context, channel_id: ChannelId) -> Channel:
    """Delete a guild channel (MANAGE_CHANNELS) or thread, close a direct message, or leave a group direct message."""
    deleted = await OTHER_CHANNEL_DELETING.first(ctx)
    if deleted is not None:
        return deleted
    return await (deletion.delete_guild_channel(ctx) if ctx.in_guild else direct_message.close_direct_message(ctx))


@put(
    "/channels/{channel_id}/permissions/{overwrite_id}",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=(ChannelUpdate,),
)
async def edit_channel_permissions(
    ctx: Context, channel_id: ChannelId, overwrite_id: Snowflake, body: EditChannelPermissions
) -> None:
    """Set the permission overwrite of a role or member in a channel."""
    await overwrites.edit_channel_permissions(ctx, overwrite_id, body)


@delete(
    "/channels/{channel_id}/permissions/{overwrite_id}",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=(ChannelUpdate,),
)
async def delete_channel_permission(ctx: Context, channel_id: ChannelId, overwrite_id: Snowflake) -> None:
    """Delete the permission overwrite of a role or member in a channel."""
    await overwrites.delete_channel_permission(ctx, overwrite_id)


@post("/channels/{channel_id}/typing", permission=Permissions.SEND_MESSAGES, fires=(TypingStart,))
async def trigger_typing_indicator(ctx: Context, channel_id: ChannelId) -> None:
    """Show the typing indicator of the caller for ten seconds, or until their next message."""
    if ctx.channel.channel.type not in MESSAGEABLE:
        raise Refusal(errors.NOT_TEXT_CHANNEL)
    await typing_indicator.trigger_typing_indicator(ctx)


@get("/users/@me/channels", permission=SIGNED_IN)
async def get_current_user_channels(ctx: Context) -> list[Channel]:
    """List the caller's open direct messages, latest message first."""
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    rows = [row for row in await queries.select_direct_channels(ctx.tx, ctx.actor.user_id) if row.type in DIRECT]
    channels = await direct_channel_objects(ctx.tx, rows, ctx.actor.user_id)
    return sorted(channels, key=lambda c: c.last_message_id or c.id, reverse=True)
