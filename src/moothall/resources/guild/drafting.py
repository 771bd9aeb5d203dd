"""What a new guild begins with: rows made from the request, with real ids in place of its placeholders. No I/O."""

from typing import Any

from msgspec import Struct

from moothall.objects import limits
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, SnowflakeFactory, UserId
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


class Draft(Struct):
    """A guild about to be stored."""

    guild: GuildRow
    roles: list[Role]
    """Lowest first: @everyone leads."""
    channels: list[ChannelRow]


def draft_guild(body: CreateGuild, ids: SnowflakeFactory, owner_id: UserId) -> Draft:
    """The rows that a request makes. The version is a fresh one."""
    guild_id = GuildId(ids.next())
    role_ids: dict[int, RoleId] = {}
    roles = [_role(NewRole(), RoleId(guild_id), 0)]
    for position, asked in enumerate(body.roles or ()):
        role_id = RoleId(guild_id) if position == 0 else RoleId(ids.next())
        if isinstance(asked.id, int):
            role_ids[asked.id] = role_id
        if position == 0:
            roles.clear()
        roles.append(_role(asked, role_id, position))
    given = body.channels if isinstance(body.channels, list) else _DEFAULT_CHANNELS
    channel_ids = {asked.id: ChannelId(ids.next()) for asked in given if isinstance(asked.id, int)}
    channels = _channels(given, guild_id, channel_ids, role_ids, ids)
    system_channel = body.system_channel_id
    if given is _DEFAULT_CHANNELS and not isinstance(system_channel, int):
        system_channel = _DEFAULT_SYSTEM_CHANNEL
    guild = GuildRow(
        id=guild_id,
        version=ids.next(),
        name=clean_name(body.name),
        icon=body.icon.hash if body.icon else None,
        splash=None,
        discovery_splash=None,
        banner=None,
        description=None,
        owner_id=owner_id,
        application_id=None,
        afk_channel_id=channel_ids[body.afk_channel_id] if isinstance(body.afk_channel_id, int) else None,
        afk_timeout=body.afk_timeout or AFK_TIMEOUT_DEFAULT,
        widget_enabled=False,
        widget_channel_id=None,
        verification_level=int(body.verification_level or 0),
        default_message_notifications=int(body.default_message_notifications or 0),
        explicit_content_filter=int(body.explicit_content_filter or 0),
        features=[],
        mfa_level=0,
        system_channel_id=channel_ids[system_channel] if isinstance(system_channel, int) else None,
        system_channel_flags=body.system_channel_flags or 0,
        rules_channel_id=None,
        public_updates_channel_id=None,
        safety_alerts_channel_id=None,
        vanity_url_code=None,
        vanity_url_uses=0,
        premium_tier=0,
        premium_subscription_count=0,
        premium_progress_bar_enabled=False,
        preferred_locale=DEFAULT,
        nsfw_level=0,
        region=body.region or None,
        max_members=limits.GUILD_MEMBERS_MAX,
        max_video_channel_users=limits.GUILD_VIDEO_USERS_MAX,
        max_stage_video_channel_users=limits.GUILD_STAGE_VIDEO_USERS_MAX,
        incidents_data=None,
        welcome_screen=None,
    )
    return Draft(guild, roles, channels)


def _role(asked: NewRole, role_id: RoleId, position: int) -> Role:
    name = clean_name(asked.name) if isinstance(asked.name, str) else limits.ROLE_NAME_DEFAULT
    color = asked.color or 0
    permissions = asked.permissions if isinstance(asked.permissions, int) else Permissions.DEFAULT
    return Role(
        id=role_id,
        name=EVERYONE if position == 0 else name,
        color=color,
        colors=RoleColors(primary_color=color),
        hoist=bool(asked.hoist),
        position=position,
        permissions=PermissionSet(permissions),
        managed=False,
        mentionable=bool(asked.mentionable),
    )


def _channels(
    given: tuple[NewChannel, ...] | list[NewChannel],
    guild_id: GuildId,
    channel_ids: dict[Snowflake, ChannelId],
    role_ids: dict[int, RoleId],
    ids: SnowflakeFactory,
) -> list[ChannelRow]:
    rows = []
    ends: dict[ChannelType, int] = {}
    for asked in given:
        channel_id = channel_ids[asked.id] if isinstance(asked.id, int) else ChannelId(ids.next())
        kind = asked.kind
        is_text = kind is ChannelType.GUILD_TEXT
        row = new_channel_row(channel_id, kind, guild_id=guild_id, name=channel_name(asked.name, text_like=is_text))
        row.position = ends.get(kind, 0)
        ends[kind] = row.position + 1
        row.parent_id = channel_ids[asked.parent_id] if isinstance(asked.parent_id, int) else None
        row.permission_overwrites = _overwrites(asked, role_ids)
        if kind is not ChannelType.GUILD_CATEGORY:
            row.nsfw = bool(asked.nsfw)
            row.rate_limit_per_user = asked.rate_limit_per_user or 0
        if is_text:
            row.topic = clean(asked.topic or "") or None
        elif kind is ChannelType.GUILD_VOICE:
            row.bitrate = asked.bitrate or limits.BITRATE_DEFAULT
            row.user_limit = asked.user_limit or 0
        rows.append(row)
    return rows


def _overwrites(asked: NewChannel, role_ids: dict[int, RoleId]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(int(role_ids[overwrite.id])),
            "type": 0,
            "allow": str(int(overwrite.allow or 0)),
            "deny": str(int(overwrite.deny or 0)),
        }
        for overwrite in asked.permission_overwrites or ()
    ]
