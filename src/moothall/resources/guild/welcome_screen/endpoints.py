"""Welcome screens over HTTP (api.md, Other guild endpoints)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import get, patch
from moothall.objects import limits
from moothall.objects.guild import WelcomeScreen, WelcomeScreenChannel
from moothall.objects.ids import ChannelId, EmojiId, GuildId
from moothall.objects.permissions import Permissions
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.guild.welcome_screen import operations


class WelcomeChannelRequest(Struct, frozen=True, kw_only=True):
    """A channel to show, with at most one emoji."""

    channel_id: ChannelId
    description: Annotated[str, Meta(min_length=1, max_length=limits.WELCOME_CHANNEL_DESCRIPTION_MAX)]
    emoji_id: EmojiId | UnsetType | None = UNSET
    emoji_name: str | UnsetType | None = UNSET


class ModifyWelcomeScreen(Struct, frozen=True, kw_only=True):
    """Changes to a welcome screen: an absent field stays, null clears or disables."""

    enabled: bool | UnsetType | None = UNSET
    welcome_channels: (
        Annotated[list[WelcomeChannelRequest], Meta(max_length=limits.WELCOME_CHANNELS_MAX)] | UnsetType | None
    ) = UNSET
    description: Annotated[str, Meta(max_length=limits.WELCOME_DESCRIPTION_MAX)] | UnsetType | None = UNSET


@get("/guilds/{guild_id}/welcome-screen", permission=MEMBER)
async def get_guild_welcome_screen(ctx: Context, guild_id: GuildId) -> WelcomeScreen:
    """Get the welcome screen. While it is disabled, only members with MANAGE_GUILD can read it."""
    return operations.get_welcome_screen(ctx)


@patch(
    "/guilds/{guild_id}/welcome-screen", permission=Permissions.MANAGE_GUILD, audit_reason=True, fires=(GuildUpdate,)
)
async def modify_guild_welcome_screen(ctx: Context, guild_id: GuildId, body: ModifyWelcomeScreen) -> WelcomeScreen:
    """Change, enable or disable the welcome screen."""
    channels = body.welcome_channels
    return await operations.modify_welcome_screen(
        ctx,
        enabled=body.enabled,
        description=body.description,
        channels=channels
        if isinstance(channels, UnsetType)
        else [_welcome_channel(channel) for channel in channels or ()],
    )


def _welcome_channel(request: WelcomeChannelRequest) -> WelcomeScreenChannel:
    return WelcomeScreenChannel(
        channel_id=request.channel_id,
        description=request.description,
        emoji_id=request.emoji_id or None,
        emoji_name=request.emoji_name or None,
    )
