"""Guild templates (resources: guild template). Ids inside a snapshot are placeholders: small integers."""

from msgspec import Struct

from moothall.objects.channel import DefaultReaction
from moothall.objects.ids import GuildId, UserId
from moothall.objects.permissions import PermissionSet
from moothall.objects.role import RoleColors
from moothall.objects.user import User
from moothall.objects.wire import Timestamp


class TemplateRole(Struct, frozen=True, kw_only=True):
    """A role of a snapshot. @everyone has the placeholder 0; the others follow from the lowest to the highest."""

    id: int
    name: str
    permissions: PermissionSet
    color: int
    colors: RoleColors
    hoist: bool
    mentionable: bool
    icon: str | None
    unicode_emoji: str | None


class TemplateOverwrite(Struct, frozen=True, kw_only=True):
    """The permissions that a channel of a snapshot allows or denies to a role of it."""

    id: int
    type: int = 0
    allow: PermissionSet
    deny: PermissionSet


class TemplateTag(Struct, frozen=True, kw_only=True):
    """A forum tag of a snapshot. `emoji_id` is always null: a new guild has no emojis of its own."""

    id: int
    name: str
    emoji_id: None = None
    emoji_name: str | None
    moderated: bool


class TemplateChannel(Struct, frozen=True, kw_only=True):
    """A channel of a snapshot, with every field whatever its type."""

    id: int
    type: int
    name: str
    position: int
    topic: str | None
    bitrate: int
    user_limit: int
    nsfw: bool
    rate_limit_per_user: int
    parent_id: int | None
    default_auto_archive_duration: int | None
    permission_overwrites: list[TemplateOverwrite]
    available_tags: list[TemplateTag] | None
    template: str = ""
    default_reaction_emoji: DefaultReaction | None
    default_thread_rate_limit_per_user: int | None
    default_sort_order: int | None
    default_forum_layout: int | None
    default_tag_setting: str | None = None
    theme_color: int | None = None
    """The color of the channel as an integer, 0xRRGGBB."""


class TemplateSnapshot(Struct, frozen=True, kw_only=True):
    """What a template keeps of its source guild: settings, roles that nothing manages, and channels without threads."""

    name: str
    description: str | None
    region: str | None
    verification_level: int
    default_message_notifications: int
    explicit_content_filter: int
    preferred_locale: str
    afk_timeout: int
    roles: list[TemplateRole]
    channels: list[TemplateChannel]
    afk_channel_id: int | None
    system_channel_id: int | None
    system_channel_flags: int
    icon_hash: str | None


class GuildTemplate(Struct, frozen=True, kw_only=True):
    """A code by which users create guilds from a snapshot. `updated_at` is the time of the snapshot."""

    code: str
    name: str
    description: str | None
    usage_count: int
    creator_id: UserId
    creator: User | None
    created_at: Timestamp
    updated_at: Timestamp
    source_guild_id: GuildId
    serialized_source_guild: TemplateSnapshot
    is_dirty: bool
    """Whether the source guild differs from the snapshot."""
