"""Widgets over HTTP (api.md, Other guild endpoints)."""

from msgspec import UNSET, Struct, UnsetType

from moothall.api.access import PUBLIC
from moothall.api.context import Context
from moothall.api.endpoint import Response, get, patch
from moothall.objects.guild import WidgetSettings
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.permissions import Permissions
from moothall.objects.widget import Widget, WidgetStyle
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.guild.widget import operations


class ModifyWidget(Struct, frozen=True, kw_only=True):
    """Changes to the settings: an absent field stays; null disables the widget or removes the channel."""

    enabled: bool | UnsetType | None = UNSET
    channel_id: ChannelId | UnsetType | None = UNSET


@get("/guilds/{guild_id}/widget", permission=Permissions.MANAGE_GUILD)
async def get_guild_widget_settings(ctx: Context, guild_id: GuildId) -> WidgetSettings:
    """Get whether a guild's widget is enabled, and the channel of its invite."""
    return operations.widget_settings(ctx.guild.row)


@patch("/guilds/{guild_id}/widget", permission=Permissions.MANAGE_GUILD, audit_reason=True, fires=(GuildUpdate,))
async def modify_guild_widget(ctx: Context, guild_id: GuildId, body: ModifyWidget) -> WidgetSettings:
    """Enable or disable a guild's widget, or set the channel of its invite."""
    return await operations.modify_widget(ctx, enabled=body.enabled, channel_id=body.channel_id)


@get(
    "/guilds/{guild_id}/widget.json",
    permission=PUBLIC,
    fires=(operations.WIDGET_INVITE,),
    writes=True,
    reads_first=True,
)
async def get_guild_widget(ctx: Context, guild_id: GuildId) -> Widget:
    """Get the online members of a guild, with an invite to the widget's channel, which is created if there is none."""
    await operations.visit_widget_guild(ctx, guild_id)
    return await operations.build_widget(ctx)


@get("/guilds/{guild_id}/widget.png", permission=PUBLIC)
async def get_guild_widget_image(
    ctx: Context, guild_id: GuildId, *, style: WidgetStyle = WidgetStyle.SHIELD
) -> Response:
    """Get an image with the number of online members of a guild, in one of five styles."""
    await operations.visit_widget_guild(ctx, guild_id)
    picture = await operations.draw_widget(ctx, style)
    return Response(
        picture.data,
        content_type="image/png",
        headers=((b"cache-control", b"public, max-age=60"), (b"etag", picture.tag)),
    )
