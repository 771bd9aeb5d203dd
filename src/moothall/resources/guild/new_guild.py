"""Building the rows of a new guild from a request, with real ids instead of its placeholders. Pure: no I/O."""

from msgspec import Struct

from moothall.objects import limits
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, SnowflakeFactory, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.locales import DEFAULT
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.role import Role, RoleColors
from moothall.objects.text import channel_name, clean, clean_name
from moothall.resources.channel.queries import new_channel_row
from moothall.resources.guild.requests import CreateGuild, NewChannel, NewRole
from moothall.storage.rows import ChannelRow, GuildRow

EVERYONE = "@everyone"
AFK_TIMEOUT_DEFAULT = 300
_DEFAULT_CHANNELS = (
    NewChannel(id=Snowflake(1), name="Text Channels", type=4),
    NewChannel(id=Snowflake(2), name="general", type=0, parent_id=Snowflake(1)),
    NewChannel(id=Snowflake(3), name="Voice Channels", type=4),
    NewChannel(id=Snowflake(4), name="General", type=2, parent_id=Snowflake(3)),
)
_DEFAULT_SYSTEM_CHANNEL = Snowflake(2)


class NewGuild(Struct):
    """The rows of a guild that is not stored yet."""

    guild: GuildRow
    roles: list[Role]
    """Lowest first, starting with @everyone."""
    channels: list[ChannelRow]


def build_guild(body: CreateGuild, ids: SnowflakeFactory, owner_id: UserId) -> NewGuild:
    """Build the rows of a new guild, with new ids and a new version."""
    guild_id = GuildId(ids.next())
    role_ids: dict[int, RoleId] = {}
    roles = [_role(NewRole(), RoleId(guild_id), 0)]
    for position, role in enumerate(body.roles or ()):
        role_id = RoleId(guild_id) if position == 0 else RoleId(ids.next())
        if isinstance(role.id, int):
            role_ids[role.id] = role_id
        if position == 0:
            roles.clear()
        roles.append(_role(role, role_id, position))
    channel_bodies = body.channels if isinstance(body.channels, list) else _DEFAULT_CHANNELS
    channel_ids = {channel.id: ChannelId(ids.next()) for channel in channel_bodies if isinstance(channel.id, int)}
    channels = _channels(channel_bodies, guild_id, channel_ids, role_ids, ids)
    system_channel = body.system_channel_id
    if channel_bodies is _DEFAULT_CHANNELS and not isinstance(system_channel, int):
        system_channel = _DEFAULT_SYSTEM_CHANNEL
    guild = new_guild_row(
        guild_id,
        version=ids.next(),
        name=clean_name(body.name),
        icon=body.icon.hash if body.icon else None,
        owner_id=owner_id,
        afk_channel_id=channel_ids[body.afk_channel_id] if isinstance(body.afk_channel_id, int) else None,
        afk_timeout=body.afk_timeout or AFK_TIMEOUT_DEFAULT,
        verification_level=int(body.verification_level or 0),
        default_message_notifications=int(body.default_message_notifications or 0),
        explicit_content_filter=int(body.explicit_content_filter or 0),
        system_channel_id=channel_ids[system_channel] if isinstance(system_channel, int) else None,
        system_channel_flags=body.system_channel_flags or 0,
        region=body.region or None,
    )
    return NewGuild(guild, roles, channels)


def new_guild_row(
    guild_id: GuildId,
    *,
    version: int,
    name: str,
    icon: str | None,
    owner_id: UserId,
    afk_channel_id: ChannelId | None,
    afk_timeout: int,
    verification_level: int,
    default_message_notifications: int,
    explicit_content_filter: int,
    system_channel_id: ChannelId | None,
    system_channel_flags: int,
    region: str | None,
    description: str | None = None,
    preferred_locale: str = DEFAULT,
) -> GuildRow:
    """Build the row of a new guild, without features: `store_guild` gives it those of the settings."""
    return GuildRow(
        id=guild_id,
        version=version,
        name=name,
        icon=icon,
        splash=None,
        discovery_splash=None,
        banner=None,
        description=description,
        owner_id=owner_id,
        application_id=None,
        afk_channel_id=afk_channel_id,
        afk_timeout=afk_timeout,
        widget_enabled=False,
        widget_channel_id=None,
        verification_level=verification_level,
        default_message_notifications=default_message_notifications,
        explicit_content_filter=explicit_content_filter,
        features=[],
        mfa_level=0,
        system_channel_id=system_channel_id,
        system_channel_flags=system_channel_flags,
        rules_channel_id=None,
        public_updates_channel_id=None,
        safety_alerts_channel_id=None,
        vanity_url_code=None,
        vanity_url_uses=0,
        premium_tier=0,
        premium_subscription_count=0,
        premium_progress_bar_enabled=False,
        preferred_locale=preferred_locale,
        nsfw_level=0,
        region=region,
        max_members=limits.GUILD_MEMBERS_MAX,
        max_video_channel_users=limits.GUILD_VIDEO_USERS_MAX,
        max_stage_video_channel_users=limits.GUILD_STAGE_VIDEO_USERS_MAX,
        incidents_data=None,
        welcome_screen=None,
    )


def _role(body: NewRole, role_id: RoleId, position: int) -> Role:
    name = clean_name(body.name) if isinstance(body.name, str) else limits.ROLE_NAME_DEFAULT
    color = body.color or 0
    permissions = body.permissions if isinstance(body.permissions, int) else Permissions.DEFAULT
    return Role(
        id=role_id,
        name=EVERYONE if position == 0 else name,
        color=color,
        colors=RoleColors(primary_color=color),
        hoist=bool(body.hoist),
        position=position,
        permissions=PermissionSet(permissions),
        managed=False,
        mentionable=bool(body.mentionable),
    )


def _channels(
    channel_bodies: tuple[NewChannel, ...] | list[NewChannel],
    guild_id: GuildId,
    channel_ids: dict[Snowflake, ChannelId],
    role_ids: dict[int, RoleId],
    ids: SnowflakeFactory,
) -> list[ChannelRow]:
    rows = []
    next_positions: dict[ChannelType, int] = {}
    for channel in channel_bodies:
        channel_id = channel_ids[channel.id] if isinstance(channel.id, int) else ChannelId(ids.next())
        kind = channel.kind
        is_text = kind is ChannelType.GUILD_TEXT
        row = new_channel_row(channel_id, kind, guild_id=guild_id, name=channel_name(channel.name, text_like=is_text))
        row.position = next_positions.get(kind, 0)
        next_positions[kind] = row.position + 1
        row.parent_id = channel_ids[channel.parent_id] if isinstance(channel.parent_id, int) else None
        row.permission_overwrites = _overwrites(channel, role_ids)
        if kind is not ChannelType.GUILD_CATEGORY:
            row.nsfw = bool(channel.nsfw)
            row.rate_limit_per_user = channel.rate_limit_per_user or 0
        if is_text:
            row.topic = clean(channel.topic or "") or None
        elif kind is ChannelType.GUILD_VOICE:
            row.bitrate = channel.bitrate or limits.BITRATE_DEFAULT
            row.user_limit = channel.user_limit or 0
        rows.append(row)
    return rows


def _overwrites(channel: NewChannel, role_ids: dict[int, RoleId]) -> list[JsonObject]:
    return [
        {
            "id": str(int(role_ids[overwrite.id])),
            "type": 0,
            "allow": str(int(overwrite.allow or 0)),
            "deny": str(int(overwrite.deny or 0)),
        }
        for overwrite in channel.permission_overwrites or ()
    ]
