"""Reading and changing the widget's settings, and building the widget."""

from typing import Any, Final

from msgspec import UNSET, UnsetType

from moothall.api.context import Context
from moothall.api.hooks import Hook
from moothall.api.request.images import blob_key
from moothall.authority.guild_changes import GuildPart
from moothall.authority.guild_state import GuildState, once_per_version
from moothall.objects import errors, limits
from moothall.objects.channel_types import INVITABLE, VOICE
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.guild import WidgetSettings
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.permissions import Permissions, channel_permissions
from moothall.objects.presence import ActivityType, Presence
from moothall.objects.user import User
from moothall.objects.widget import Widget, WidgetActivity, WidgetChannel, WidgetMember, WidgetStyle
from moothall.resources.guild.operations import change_guild
from moothall.resources.guild.widget.image_cache import WidgetImage, WidgetImageCache
from moothall.resources.member.queries import get_members
from moothall.resources.user.queries import get_users
from moothall.resources.voice.queries import VoiceStateRow, select_voice_states
from moothall.storage.rows import GuildRow, MemberRow

_DEFAULT_AVATARS = 6

WIDGET_INVITE: Final = Hook[[Context, ChannelId], str | None]("widget invite")
"""Returns the code of the unlimited invite to a widget's channel, creating it if there is none; None while paused."""


def widget_settings(row: GuildRow) -> WidgetSettings:
    """The widget settings in a guild's row."""
    return WidgetSettings(enabled=row.widget_enabled, channel_id=row.widget_channel_id)


async def modify_widget(
    ctx: Context, *, enabled: bool | UnsetType | None, channel_id: ChannelId | UnsetType | None
) -> WidgetSettings:
    """Change the widget settings of the guild entered; returns the changed settings.

    A request that changes nothing is neither recorded nor announced. Raises Refusal: 400/50035 for a channel of another
    guild, or of a type that cannot have invites.
    """
    columns: dict[str, Any] = {}
    if enabled is not UNSET:
        columns["widget_enabled"] = bool(enabled)
    if channel_id is not UNSET:
        if channel_id is not None:
            channel = await ctx.guild.channel(ctx.tx, channel_id)
            if channel is None or channel.type not in INVITABLE:
                refuse_field("channel_id", FormCode.BASE_TYPE_CHOICES, "The guild has no such channel to invite to.")
        columns["widget_channel_id"] = channel_id
    await change_guild(ctx, **columns)
    row = ctx.guild.row
    return WidgetSettings(
        enabled=columns.get("widget_enabled", row.widget_enabled),
        channel_id=columns.get("widget_channel_id", row.widget_channel_id),
    )


async def visit_widget_guild(ctx: Context, guild_id: GuildId) -> None:
    """Visit a guild for its widget. Raises Refusal: 404/10004, 403/50004 if the widget is disabled."""
    await ctx.visit_guild(guild_id)
    if not ctx.guild.row.widget_enabled:
        raise Refusal(errors.WIDGET_DISABLED)


async def build_widget(ctx: Context) -> Widget:
    """The widget of the guild visited, with at most `WIDGET_MEMBERS_MAX` online members, ordered by username."""
    guild = ctx.guild
    channels = await _visible_channels(ctx, guild)
    return Widget(
        id=guild.id,
        name=guild.row.name,
        instant_invite=await _invite_url(ctx),
        channels=channels,
        members=await _members(ctx, {channel.id for channel in channels}),
        presence_count=ctx.services.presences.online_count(guild.id),
    )


async def draw_widget(ctx: Context, style: WidgetStyle) -> WidgetImage:
    """The widget of the guild visited as an image."""
    row = ctx.guild.row
    cache = ctx.services.resources[WidgetImageCache]

    async def icon() -> bytes | None:
        return None if row.icon is None else await ctx.services.blobs.get(blob_key(row.icon))

    return await cache.get(
        style,
        name=row.name,
        icon_hash=row.icon,
        online=ctx.services.presences.online_count(row.id),
        icon=icon,
        pool=ctx.services.pools.drawings.for_payer(ctx.payer),
    )


async def _visible_channels(ctx: Context, guild: GuildState) -> list[WidgetChannel]:
    await guild.channels(ctx.tx)
    return _channels_visible_to_everyone(guild)


@once_per_version(GuildPart.ROLE, GuildPart.CHANNEL)
def _channels_visible_to_everyone(guild: GuildState) -> list[WidgetChannel]:
    """The voice channels that the @everyone role may view, by position; the guild's channels must be loaded."""
    everyone = guild.everyone.permissions
    visible = [
        channel
        for channel in guild.loaded_channels.values()
        if channel.type in VOICE
        and channel_permissions(
            everyone, everyone_id=guild.id, role_ids=(), user_id=0, overwrites=guild.overwrites(channel)
        )
        & Permissions.VIEW_CHANNEL
    ]
    return [
        WidgetChannel(id=channel.id, name=channel.name or "", position=channel.position or 0)
        for channel in sorted(visible, key=lambda channel: (channel.position or 0, channel.id))
    ]


async def _members(ctx: Context, visible: set[ChannelId]) -> list[WidgetMember]:
    presences = ctx.services.presences.presences(ctx.guild.id, maximum=limits.WIDGET_MEMBERS_MAX)
    ids = [presence.user.id for presence in presences]
    users = await get_users(ctx.tx, ids)
    voice_states = {state.user_id: state for state in await select_voice_states(ctx.tx, ctx.guild.id, ids)}
    voice_states = {user_id: state for user_id, state in voice_states.items() if state.channel_id in visible}
    rows = await get_members(ctx.tx, ctx.guild.id, voice_states)
    known = [presence for presence in presences if presence.user.id in users]
    known.sort(key=lambda presence: users[presence.user.id].username)
    return [
        _member(
            index,
            presence,
            users[presence.user.id],
            voice_states.get(presence.user.id),
            rows.get(presence.user.id),
            ctx.services.limits.public_url,
        )
        for index, presence in enumerate(known)
    ]


def _member(
    index: int, presence: Presence, user: User, voice: VoiceStateRow | None, row: MemberRow | None, base_url: str
) -> WidgetMember:
    activity = next((a for a in presence.activities if a.type != ActivityType.CUSTOM), None)
    return WidgetMember(
        id=str(index),
        username=user.username,
        status=presence.status,
        avatar_url=_avatar_url(user, base_url),
        activity=UNSET if activity is None else WidgetActivity(name=activity.name),
        channel_id=UNSET if voice is None else voice.channel_id,
        deaf=UNSET if voice is None else row is not None and row.deaf,
        mute=UNSET if voice is None else row is not None and row.mute,
        self_deaf=UNSET if voice is None else voice.self_deaf,
        self_mute=UNSET if voice is None else voice.self_mute,
        suppress=UNSET if voice is None else voice.suppress,
    )


def _avatar_url(user: User, base_url: str) -> str:
    # Avatars are served by the hash of their content alone, so the path does not need the user's id.
    if user.avatar is None:
        return f"{base_url}/embed/avatars/{(user.id >> 22) % _DEFAULT_AVATARS}.png"
    return f"{base_url}/avatars/0/{user.avatar}.png?size=128"


async def _invite_url(ctx: Context) -> str | None:
    """The URL of the widget's invite; None without a channel, and while invites are paused."""
    guild, channel_id = ctx.guild, ctx.guild.row.widget_channel_id
    if channel_id is None or await guild.channel(ctx.tx, channel_id) is None:
        return None
    code = await WIDGET_INVITE.first(ctx, channel_id)
    return None if code is None else f"{ctx.services.limits.public_url}/invite/{code}"
