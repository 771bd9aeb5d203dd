"""Reading and changing the welcome screen."""

from msgspec import UNSET, UnsetType, structs

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.channel_types import ChannelType
from moothall.objects.emoji_choice import choose_emoji
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import Feature
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.guild import WelcomeScreen, WelcomeScreenChannel
from moothall.objects.permissions import Permissions
from moothall.objects.text import clean
from moothall.objects.wire import to_plain
from moothall.resources.guild.objects import welcome_screen
from moothall.resources.guild.operations import change_guild

_EMPTY = WelcomeScreen(description=None, welcome_channels=[])


def get_welcome_screen(ctx: Context) -> WelcomeScreen:
    """The welcome screen of the guild entered.

    Raises Refusal: 404/10069 if the guild never had one, 403/50013 for a disabled one without MANAGE_GUILD.
    """
    screen = welcome_screen(ctx.guild)
    if screen is None:
        raise Refusal(errors.UNKNOWN_WELCOME_SCREEN)
    if Feature.WELCOME_SCREEN_ENABLED not in ctx.guild.row.features:
        ctx.require(Permissions.MANAGE_GUILD)
    return screen


async def modify_welcome_screen(
    ctx: Context,
    *,
    enabled: bool | UnsetType | None,
    description: str | UnsetType | None,
    channels: list[WelcomeScreenChannel] | UnsetType,
) -> WelcomeScreen:
    """Change the welcome screen of the guild entered; returns the changed screen.

    A request that changes nothing is neither recorded nor announced. Raises Refusal: 400/50035 for channels and emojis
    of other guilds.
    """
    row = ctx.guild.row
    before = welcome_screen(ctx.guild)
    after = before or _EMPTY
    if description is not UNSET:
        after = structs.replace(after, description=clean(description or "").strip() or None)
    if channels is not UNSET:
        after = structs.replace(after, welcome_channels=await _checked_channels(ctx, channels))
    columns: dict[str, object] = {}
    if before is not None or enabled is not UNSET or after != _EMPTY:
        columns["welcome_screen"] = to_plain(after)
    if enabled is not UNSET and bool(enabled) != (Feature.WELCOME_SCREEN_ENABLED in row.features):
        columns["features"] = sorted({*row.features} ^ {Feature.WELCOME_SCREEN_ENABLED})
    await change_guild(ctx, **columns)
    return after


async def _checked_channels(ctx: Context, requests: list[WelcomeScreenChannel]) -> list[WelcomeScreenChannel]:
    form_errors = FormErrors()
    shown: list[WelcomeScreenChannel] = []
    for index, request in enumerate(requests):
        at = form_errors.at(["welcome_channels", index])
        channel = await ctx.guild.channel(ctx.tx, request.channel_id)
        if channel is None or channel.type == ChannelType.GUILD_CATEGORY:
            at.add("channel_id", FormCode.BASE_TYPE_CHOICES, "The guild has no such channel to show.")
        elif any(request.channel_id == other.channel_id for other in shown):
            at.add("channel_id", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The channel is shown already.")
        description = clean(request.description).strip()
        if not description:
            at.add("description", *FieldError.length(1, limits.WELCOME_CHANNEL_DESCRIPTION_MAX))
        emoji = choose_emoji(ctx.guild.emojis, request.emoji_id, request.emoji_name, at)
        shown.append(
            WelcomeScreenChannel(
                channel_id=request.channel_id, description=description, emoji_id=emoji.id, emoji_name=emoji.name
            )
        )
    form_errors.raise_if_any()
    return shown
