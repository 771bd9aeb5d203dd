"""Channels over HTTP (api.md, Channels and threads of a guild; resources: channel)."""

from typing import Annotated

from msgspec import Meta, structs

from moothall.kernel.access import MEMBER, SIGNED_IN
from moothall.kernel.context import Context
from moothall.kernel.endpoint import delete, get, patch, post, put
from moothall.objects import errors, limits
from moothall.objects.channel import Channel
from moothall.objects.channel_types import DIRECT, MESSAGEABLE
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, Snowflake
from moothall.objects.permissions import Permissions
from moothall.resources.channel import deletion, operations, queries
from moothall.resources.channel.access import ManagesChannel
from moothall.resources.channel.direct import close_direct_message
from moothall.resources.channel.events import (
    ChannelCreate,
    ChannelUpdate,
    TypingStart,
)
from moothall.resources.channel.objects import channel_object, channel_objects, direct_objects
from moothall.resources.channel.positions import modify_positions
from moothall.resources.channel.requests import (
    ChannelPosition,
    CreateGuildChannel,
    EditChannelPermissions,
    ModifyChannel,
)
from moothall.resources.channel.writing import start_typing

Positions = Annotated[list[ChannelPosition], Meta(max_length=limits.CHANNELS_PER_GUILD)]


@get("/guilds/{guild_id}/channels", permission=MEMBER)
async def get_guild_channels(ctx: Context, guild_id: GuildId) -> list[Channel]:
    """The channels of a guild that the caller may view, in order, threads excluded."""
    channels = (await ctx.guild.channels(ctx.tx)).values()
    visible = sorted((c for c in channels if ctx.member.may_view(c)), key=lambda c: (c.position, c.id))
    return await channel_objects(ctx.tx, visible)


@post(
    "/guilds/{guild_id}/channels",
    permission=Permissions.MANAGE_CHANNELS,
    audit_reason=True,
    fires=(ChannelCreate,),
    status=201,
)
async def create_guild_channel(ctx: Context, guild_id: GuildId, body: CreateGuildChannel) -> Channel:
    """Make a channel of any type but threads."""
    return await operations.create_channel(ctx, body)


@patch("/guilds/{guild_id}/channels", permission=Permissions.MANAGE_CHANNELS, fires=(ChannelUpdate,))
async def modify_guild_channel_positions(ctx: Context, guild_id: GuildId, body: Positions) -> None:
    """Place some channels of a guild: position, category, and the category's overwrites."""
    await modify_positions(ctx, body)


@get("/channels/{channel_id}", permission=MEMBER)
async def get_channel(ctx: Context, channel_id: ChannelId) -> Channel:
    """One channel, thread or direct message that the caller may view; a thread with their own membership."""
    if ctx.in_guild:
        channel = await channel_object(ctx.tx, ctx.channel.channel)
        if not ctx.channel.is_thread:
            return channel
        own = await queries.select_own_memberships(ctx.tx, ctx.actor.user_id, [channel_id])
        return structs.replace(channel, member=own[channel_id]) if channel_id in own else channel
    row = await queries.select_channel(ctx.tx, channel_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    return (await direct_objects(ctx.tx, [row], ctx.actor.user_id))[0]


@patch(
    "/channels/{channel_id}",
    permission=ManagesChannel(),
    audit_reason=True,
    fires=(ChannelUpdate, operations.CHANNEL_CHANGED, operations.OTHER_CHANNEL_CHANGING),
)
async def modify_channel(ctx: Context, channel_id: ChannelId, body: ModifyChannel) -> Channel:
    """Change a channel of a guild, whose overwrites take MANAGE_ROLES besides, a thread, or a group that one is in."""
    changed = await operations.OTHER_CHANNEL_CHANGING.first(ctx, body)
    return changed or await operations.modify_channel(ctx, body)


@delete(
    "/channels/{channel_id}",
    permission=ManagesChannel(),
    audit_reason=True,
    fires=(*deletion.DELETING, operations.OTHER_CHANNEL_DELETING),
)
async def delete_channel(ctx: Context, channel_id: ChannelId) -> Channel:
    """Delete a channel of a guild (MANAGE_CHANNELS), close a direct message for the caller, or leave a group."""
    deleted = await operations.OTHER_CHANNEL_DELETING.first(ctx)
    if deleted is not None:
        return deleted
    return await (deletion.delete_guild_channel(ctx) if ctx.in_guild else close_direct_message(ctx))


@put(
    "/channels/{channel_id}/permissions/{overwrite_id}",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=(ChannelUpdate,),
)
async def edit_channel_permissions(
    ctx: Context, channel_id: ChannelId, overwrite_id: Snowflake, body: EditChannelPermissions
) -> None:
    """Set what a channel allows and denies a role or a member."""
    await operations.edit_permissions(ctx, overwrite_id, body)


@delete(
    "/channels/{channel_id}/permissions/{overwrite_id}",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=(ChannelUpdate,),
)
async def delete_channel_permission(ctx: Context, channel_id: ChannelId, overwrite_id: Snowflake) -> None:
    """Take a role's or a member's overwrite out of a channel."""
    await operations.delete_permission(ctx, overwrite_id)


@post("/channels/{channel_id}/typing", permission=Permissions.SEND_MESSAGES, fires=(TypingStart,))
async def trigger_typing_indicator(ctx: Context, channel_id: ChannelId) -> None:
    """Show for ten seconds, or until the next message, that the caller is writing."""
    if ctx.channel.channel.type not in MESSAGEABLE:
        raise Refusal(errors.NOT_TEXT_CHANNEL)
    await start_typing(ctx)


@get("/users/@me/channels", permission=SIGNED_IN)
async def get_current_user_channels(ctx: Context) -> list[Channel]:
    """The direct messages in a person's list, the one with the newest message first."""
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    rows = [row for row in await queries.select_direct_channels(ctx.tx, ctx.actor.user_id) if row.type in DIRECT]
    channels = await direct_objects(ctx.tx, rows, ctx.actor.user_id)
    return sorted(channels, key=lambda c: c.last_message_id or c.id, reverse=True)
