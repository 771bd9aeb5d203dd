"""Request bodies of settings. Absent fields stay as they are."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.user_settings import (
    CustomStatus,
    Flags,
    FriendSourceFlags,
    GuildFolder,
    GuildIds,
    Level,
    MuteConfig,
    NotificationLevel,
)


class ModifyUserSettings(Struct, frozen=True, kw_only=True):
    """Changes to the settings of a user."""

    activity_restricted_guild_ids: GuildIds | UnsetType = UNSET
    activity_joining_restricted_guild_ids: GuildIds | UnsetType = UNSET
    afk_timeout: Annotated[int, Meta(ge=0, le=600)] | UnsetType = UNSET
    allow_accessibility_detection: bool | UnsetType = UNSET
    allow_activity_party_privacy_friends: bool | UnsetType = UNSET
    allow_activity_party_privacy_voice_channel: bool | UnsetType = UNSET
    allow_message_requests: bool | UnsetType = UNSET
    animate_emoji: bool | UnsetType = UNSET
    animate_stickers: Level | UnsetType = UNSET
    contact_sync_enabled: bool | UnsetType = UNSET
    convert_emoticons: bool | UnsetType = UNSET
    custom_status: CustomStatus | UnsetType | None = UNSET
    default_guilds_restricted: bool | UnsetType = UNSET
    detect_platform_accounts: bool | UnsetType = UNSET
    developer_mode: bool | UnsetType = UNSET
    disable_games_tab: bool | UnsetType = UNSET
    enable_tts_command: bool | UnsetType = UNSET
    explicit_content_filter: Level | UnsetType = UNSET
    friend_discovery_flags: Flags | UnsetType = UNSET
    friend_source_flags: FriendSourceFlags | UnsetType | None = UNSET
    gif_auto_play: bool | UnsetType = UNSET
    guild_folders: Annotated[list[GuildFolder], Meta(max_length=limits.GUILD_FOLDERS_MAX)] | UnsetType = UNSET
    inline_attachment_media: bool | UnsetType = UNSET
    inline_embed_media: bool | UnsetType = UNSET
    locale: Annotated[str, Meta(max_length=16)] | UnsetType = UNSET
    message_display_compact: bool | UnsetType = UNSET
    message_request_guilds: GuildIds | UnsetType = UNSET
    native_phone_integration_enabled: bool | UnsetType = UNSET
    passwordless: bool | UnsetType = UNSET
    render_embeds: bool | UnsetType = UNSET
    render_reactions: bool | UnsetType = UNSET
    restricted_guilds: GuildIds | UnsetType = UNSET
    show_current_game: bool | UnsetType = UNSET
    slayer_sdk_receive_dms_in_game: Level | UnsetType = UNSET
    status: Literal["online", "idle", "dnd", "invisible"] | UnsetType = UNSET
    stream_notifications_enabled: bool | UnsetType = UNSET
    theme: Literal["dark", "light", "darker", "midnight"] | UnsetType = UNSET
    timezone_offset: Annotated[int, Meta(ge=-1440, le=1440)] | UnsetType = UNSET
    view_nsfw_commands: bool | UnsetType = UNSET
    view_nsfw_guilds: bool | UnsetType = UNSET


class ModifyUserSettingsProto(Struct, frozen=True, kw_only=True):
    """Sections of a protocol buffer in base64 that replace the stored ones."""

    settings: Annotated[str, Meta(max_length=limits.SETTINGS_PROTO_MAX)]
    required_data_version: Annotated[int, Meta(ge=0, le=(1 << 32) - 1)] | UnsetType | None = UNSET


class ModifyChannelOverride(Struct, frozen=True, kw_only=True):
    """Changes to the notification settings of a channel."""

    collapsed: bool | UnsetType = UNSET
    flags: Flags | UnsetType = UNSET
    message_notifications: NotificationLevel | UnsetType = UNSET
    muted: bool | UnsetType = UNSET
    mute_config: MuteConfig | UnsetType | None = UNSET


class ModifyUserGuildSettings(Struct, frozen=True, kw_only=True):
    """Changes to the notification settings of a guild."""

    channel_overrides: Annotated[dict[str, ModifyChannelOverride], Meta(max_length=limits.CHANNEL_OVERRIDES_MAX)] | (
        UnsetType | None
    ) = UNSET
    flags: Flags | UnsetType = UNSET
    hide_muted_channels: bool | UnsetType = UNSET
    message_notifications: NotificationLevel | UnsetType = UNSET
    mobile_push: bool | UnsetType = UNSET
    mute_scheduled_events: bool | UnsetType = UNSET
    muted: bool | UnsetType = UNSET
    mute_config: MuteConfig | UnsetType | None = UNSET
    notify_highlights: Level | UnsetType = UNSET
    suppress_everyone: bool | UnsetType = UNSET
    suppress_roles: bool | UnsetType = UNSET


class BulkModifyUserGuildSettings(Struct, frozen=True, kw_only=True):
    """Changes to the notification settings of several guilds, by guild id."""

    guilds: Annotated[dict[str, ModifyUserGuildSettings], Meta(max_length=limits.GUILDS_PER_PREMIUM_USER)]
