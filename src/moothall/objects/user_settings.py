"""Settings of a user, and their notification settings in a guild (resources: user settings)."""

from enum import IntEnum
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.ids import ChannelId, GuildId, Snowflake
from moothall.objects.wire import Timestamp

GuildIds = Annotated[list[GuildId], Meta(max_length=limits.GUILDS_PER_PREMIUM_USER)]
Level = Annotated[int, Meta(ge=0, le=2)]
Flags = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]


class CustomStatus(Struct, frozen=True, kw_only=True):
    """The custom status of a user, until `expires_at`."""

    text: Annotated[str, Meta(max_length=limits.CUSTOM_STATUS_MAX)] | None = None
    emoji_id: Snowflake | None = None
    emoji_name: Annotated[str, Meta(max_length=64)] | None = None
    expires_at: Timestamp | None = None


class FriendSourceFlags(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who may send friend requests to a user."""

    all: bool = False
    mutual_friends: bool = False
    mutual_guilds: bool = False


class GuildFolder(Struct, frozen=True, kw_only=True):
    """Guilds that clients show together."""

    guild_ids: GuildIds
    id: Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)] | None = None
    name: Annotated[str, Meta(max_length=limits.GUILD_FOLDER_NAME_MAX)] | None = None
    color: Annotated[int, Meta(ge=0, le=0xFFFFFF)] | None = None


class UserSettings(Struct, frozen=True, kw_only=True):
    """The settings of a user, with their defaults."""

    activity_restricted_guild_ids: GuildIds = []
    activity_joining_restricted_guild_ids: GuildIds = []
    afk_timeout: Annotated[int, Meta(ge=0, le=600)] = 600
    allow_accessibility_detection: bool = False
    allow_activity_party_privacy_friends: bool = True
    allow_activity_party_privacy_voice_channel: bool = True
    allow_message_requests: bool = True
    animate_emoji: bool = True
    animate_stickers: Level = 0
    contact_sync_enabled: bool = False
    convert_emoticons: bool = True
    custom_status: CustomStatus | None = None
    default_guilds_restricted: bool = False
    detect_platform_accounts: bool = True
    developer_mode: bool = False
    disable_games_tab: bool = False
    enable_tts_command: bool = True
    explicit_content_filter: Level = 1
    friend_discovery_flags: Flags = 0
    friend_source_flags: FriendSourceFlags | None = FriendSourceFlags(all=True)
    gif_auto_play: bool = True
    guild_folders: Annotated[list[GuildFolder], Meta(max_length=limits.GUILD_FOLDERS_MAX)] = []
    inline_attachment_media: bool = True
    inline_embed_media: bool = True
    locale: Annotated[str, Meta(max_length=16)] = "en-US"
    message_display_compact: bool = False
    message_request_guilds: GuildIds = []
    native_phone_integration_enabled: bool = True
    passwordless: bool = False
    render_embeds: bool = True
    render_reactions: bool = True
    restricted_guilds: GuildIds = []
    show_current_game: bool = True
    slayer_sdk_receive_dms_in_game: Level = 0
    status: Literal["online", "idle", "dnd", "invisible"] = "online"
    stream_notifications_enabled: bool = False
    theme: Literal["dark", "light", "darker", "midnight"] = "dark"
    timezone_offset: Annotated[int, Meta(ge=-1440, le=1440)] = 0
    view_nsfw_commands: bool = False
    view_nsfw_guilds: bool = False


class UserSettingsProto(Struct, frozen=True, kw_only=True):
    """The settings of a user as a protocol buffer in base64."""

    settings: str
    out_of_date: bool | UnsetType = UNSET
    """Whether a change was discarded, as the settings have changed since the version that it requires."""


class SettingsProtoType(IntEnum):
    """The protocol buffers of a user."""

    PRELOADED = 1
    FRECENCY = 2


class MuteConfig(Struct, frozen=True, kw_only=True):
    """How long something is muted; without `end_time` until it is unmuted."""

    end_time: Timestamp | None = None
    selected_time_window: Annotated[int, Meta(ge=-1, le=(1 << 31) - 1)] | UnsetType | None = UNSET


def is_mute_in_force(config: MuteConfig | None, now: Timestamp) -> bool:
    """Whether what is marked as muted still is at a time: a mute without an end lasts until it is ended."""
    return config is None or config.end_time is None or config.end_time > now


NotificationLevel = Annotated[int, Meta(ge=0, le=3)]
"""All messages, only mentions, none, or the level of the guild."""


class ChannelOverride(Struct, frozen=True, kw_only=True):
    """The notification settings of a channel."""

    channel_id: ChannelId
    collapsed: bool = False
    flags: Flags = 0
    message_notifications: NotificationLevel = 3
    muted: bool = False
    mute_config: MuteConfig | None = None

    def is_muted(self, now: Timestamp) -> bool:
        """Whether the channel is muted at a time."""
        return self.muted and is_mute_in_force(self.mute_config, now)


class UserGuildSettings(Struct, frozen=True, kw_only=True):
    """The notification settings of a user in a guild, or in direct messages (None)."""

    guild_id: GuildId | None
    channel_overrides: list[ChannelOverride] = []
    flags: Flags = 0
    hide_muted_channels: bool = False
    message_notifications: NotificationLevel = 3
    mobile_push: bool = True
    mute_scheduled_events: bool = False
    muted: bool = False
    mute_config: MuteConfig | None = None
    notify_highlights: Level = 0
    suppress_everyone: bool = False
    suppress_roles: bool = False
    version: int = 0
