"""Rows of tables that many rooms use, and their conversion to API objects.

The fields of a row struct are its table's columns, by name and in order, so that
`Query(select(table), into=Row)` fits.
"""

from msgspec import UNSET, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.auto_moderation import Action, AutoModerationRule, TriggerMetadata
from moothall.objects.channel import Channel, DefaultReaction, ForumTag, Overwrite, ThreadMetadata
from moothall.objects.channel_types import FORUMS, TEXT, THREADS, VOICE, ChannelType
from moothall.objects.emoji import Emoji
from moothall.objects.guild import WelcomeScreen
from moothall.objects.ids import (
    ApplicationId,
    ChannelId,
    EmojiId,
    GuildId,
    MessageId,
    RoleId,
    RuleId,
    Snowflake,
    SoundId,
    StickerId,
    TagId,
    UserId,
)
from moothall.objects.json_object import JsonObject
from moothall.objects.member import Member
from moothall.objects.permissions import PermissionSet
from moothall.objects.role import Role, RoleColors, RoleTags
from moothall.objects.soundboard import SoundboardSound
from moothall.objects.sticker import Sticker
from moothall.objects.user import PrimaryGuild, User
from moothall.objects.wire import Timestamp, convert


class GuildRow(Struct):
    """A row of `guilds`."""

    id: GuildId
    version: int
    name: str
    icon: str | None
    splash: str | None
    discovery_splash: str | None
    banner: str | None
    description: str | None
    owner_id: UserId
    application_id: ApplicationId | None
    afk_channel_id: ChannelId | None
    afk_timeout: int
    widget_enabled: bool
    widget_channel_id: ChannelId | None
    verification_level: int
    default_message_notifications: int
    explicit_content_filter: int
    features: list[str]
    mfa_level: int
    system_channel_id: ChannelId | None
    system_channel_flags: int
    rules_channel_id: ChannelId | None
    public_updates_channel_id: ChannelId | None
    safety_alerts_channel_id: ChannelId | None
    vanity_url_code: str | None
    vanity_url_uses: int
    premium_tier: int
    premium_subscription_count: int
    premium_progress_bar_enabled: bool
    preferred_locale: str
    nsfw_level: int
    region: str | None
    max_members: int
    max_video_channel_users: int
    max_stage_video_channel_users: int
    incidents_data: JsonObject | None
    welcome_screen: JsonObject | None
    """Stored also while disabled; the feature WELCOME_SCREEN_ENABLED enables it."""
    recent_changes: str = ""
    """What the last versions changed (`authority/guild_changes.py`)."""
    tag: str | None = None
    """What members may wear behind their names; None for none."""
    badge: int | None = None
    """The `BadgeType` beside the tag."""
    badge_color_primary: str | None = None
    badge_color_secondary: str | None = None


class RoleRow(Struct):
    """A row of `roles`."""

    guild_id: GuildId
    id: RoleId
    name: str
    color: int
    secondary_color: int | None
    tertiary_color: int | None
    hoist: bool
    icon: str | None
    unicode_emoji: str | None
    position: int
    permissions: PermissionSet
    managed: bool
    mentionable: bool
    flags: int
    tags: JsonObject | None


class EmojiRow(Struct):
    """A row of `emojis`."""

    guild_id: GuildId
    id: EmojiId
    name: str
    roles: list[Snowflake]
    user_id: UserId | None
    require_colons: bool
    managed: bool
    animated: bool
    available: bool
    image: str | None
    """The hash of the image."""


class StickerRow(Struct):
    """A row of `stickers`."""

    guild_id: GuildId
    id: StickerId
    name: str
    description: str | None
    tags: str
    type: int
    format_type: int
    available: bool
    user_id: UserId | None
    sort_value: int | None
    file: str | None
    """The hash of the image."""


class SoundRow(Struct):
    """A row of `sounds`."""

    guild_id: GuildId
    id: SoundId
    name: str
    volume: float
    emoji_id: EmojiId | None
    emoji_name: str | None
    user_id: UserId | None
    file: str
    format: str


class RuleRow(Struct):
    """A row of `auto_moderation_rules`."""

    guild_id: GuildId
    id: RuleId
    name: str
    creator_id: UserId
    event_type: int
    trigger_type: int
    trigger_metadata: JsonObject
    actions: list[JsonObject]
    enabled: bool
    exempt_roles: list[Snowflake]
    exempt_channels: list[Snowflake]


class ChannelRow(Struct):
    """A row of `channels`."""

    id: ChannelId
    guild_id: GuildId | None
    type: int
    parent_id: ChannelId | None
    position: int
    name: str | None
    topic: str | None
    nsfw: bool
    bitrate: int | None
    user_limit: int | None
    rate_limit_per_user: int
    rtc_region: str | None
    video_quality_mode: int | None
    default_auto_archive_duration: int | None
    default_thread_rate_limit_per_user: int | None
    default_sort_order: int | None
    default_forum_layout: int | None
    default_reaction_emoji: JsonObject | None
    available_tags: list[JsonObject]
    flags: int
    permission_overwrites: list[JsonObject]
    icon: str | None
    owner_id: UserId | None
    application_id: ApplicationId | None
    thread_metadata: JsonObject | None
    archived: bool
    applied_tags: list[Snowflake]
    member_count: int | None
    message_count: int | None
    total_message_sent: int | None
    archived_at: Timestamp | None = None
    """When a thread was archived; None if it is not archived."""
    latest_message_id: MessageId | None = None
    """The newest message of a thread, which orders a forum."""
    name_key: str | None = None
    """The name of a thread as a search key."""


class ThreadRow(Struct):
    """The columns of `channels` that a thread object needs, for lists of a thousand threads."""

    id: ChannelId
    guild_id: GuildId | None
    type: int
    parent_id: ChannelId | None
    name: str | None
    rate_limit_per_user: int
    flags: int
    owner_id: UserId | None
    thread_metadata: JsonObject | None
    archived: bool
    applied_tags: list[Snowflake]
    member_count: int | None
    message_count: int | None
    total_message_sent: int | None


class UserRow(Struct):
    """A row of `users`."""

    id: UserId
    username: str
    username_key: str
    discriminator: str
    global_name: str | None
    avatar: str | None
    banner: str | None
    accent_color: int | None
    bio: str
    email: str | None
    email_key: str | None
    password_hash: str | None
    verified: bool
    mfa_enabled: bool
    bot: bool
    system: bool
    flags: int
    public_flags: int
    locale: str
    premium_type: int
    application_id: ApplicationId | None
    deleted: bool
    disabled: bool
    deletes_at: Timestamp | None
    suspended: bool
    pending: int
    pronouns: str | None
    primary_guild_id: GuildId | None
    """The guild whose tag the user wears."""
    primary_guild_tag: str | None
    """None until the user says again that they wear the tag, after it has changed."""
    primary_guild_badge: str | None


class MemberRow(Struct):
    """A row of `members`."""

    guild_id: GuildId
    user_id: UserId
    nick: str | None
    nick_key: str | None
    username_key: str
    avatar: str | None
    banner: str | None
    bio: str | None
    roles: list[Snowflake]
    joined_at: Timestamp
    premium_since: Timestamp | None
    deaf: bool
    mute: bool
    flags: int
    pending: bool
    communication_disabled_until: Timestamp | None
    temporary: bool
    guest_channel_id: ChannelId | None


_GROUP_DM = int(ChannelType.GROUP_DM)
_CATEGORY = int(ChannelType.GUILD_CATEGORY)
_STAGE = int(ChannelType.GUILD_STAGE_VOICE)
_FORUM = int(ChannelType.GUILD_FORUM)


def role_from_row(row: RoleRow) -> Role:
    """The role object of a row."""
    return Role(
        id=row.id,
        name=row.name,
        color=row.color,
        colors=RoleColors(
            primary_color=row.color, secondary_color=row.secondary_color, tertiary_color=row.tertiary_color
        ),
        hoist=row.hoist,
        icon=row.icon,
        unicode_emoji=row.unicode_emoji,
        position=row.position,
        permissions=row.permissions,
        managed=row.managed,
        mentionable=row.mentionable,
        flags=row.flags,
        tags=UNSET if row.tags is None else convert(row.tags, RoleTags),
    )


def welcome_screen_from_row(row: GuildRow) -> WelcomeScreen | None:
    """The welcome screen of a guild, enabled or not; None if it was never created."""
    return None if row.welcome_screen is None else convert(row.welcome_screen, WelcomeScreen)


def emoji_from_row(row: EmojiRow) -> Emoji:
    """The emoji object of a row, without its creator."""
    return Emoji(
        id=row.id,
        name=row.name,
        roles=[RoleId(role) for role in row.roles],
        require_colons=row.require_colons,
        managed=row.managed,
        animated=row.animated,
        available=row.available,
    )


def sticker_from_row(row: StickerRow) -> Sticker:
    """The sticker object of a row, without its creator."""
    return Sticker(
        id=row.id,
        name=row.name,
        description=row.description,
        tags=row.tags,
        type=row.type,
        format_type=row.format_type,
        available=row.available,
        guild_id=row.guild_id,
    )


def sound_from_row(row: SoundRow) -> SoundboardSound:
    """The sound object of a row, without its creator."""
    return SoundboardSound(
        name=row.name,
        sound_id=row.id,
        volume=row.volume,
        emoji_id=row.emoji_id,
        emoji_name=row.emoji_name,
        guild_id=row.guild_id,
    )


def overwrites_from_row(row: ChannelRow) -> list[Overwrite]:
    """A channel's permission overwrites."""
    return [
        Overwrite(
            id=Snowflake(int(item["id"])),
            type=item["type"],
            allow=PermissionSet(int(item["allow"])),
            deny=PermissionSet(int(item["deny"])),
        )
        for item in row.permission_overwrites
    ]


def channel_from_row(row: ChannelRow) -> Channel:
    """The channel object of a row: fields that do not apply to its type are absent.

    Fields that change with every message (`last_message_id`, `last_pin_timestamp`) are in `channel_activity`, from
    which the caller adds them.
    """
    kind = row.type
    if kind in THREADS:
        return thread_from_row(row)
    if row.guild_id is None:
        return Channel(
            id=row.id,
            type=kind,
            flags=row.flags,
            name=row.name if kind == _GROUP_DM else UNSET,
            icon=row.icon if kind == _GROUP_DM else UNSET,
            owner_id=row.owner_id if row.owner_id is not None else UNSET,
            application_id=row.application_id if row.application_id is not None else UNSET,
            managed=True if row.application_id is not None else UNSET,
        )
    text, voice, forum = kind in TEXT, kind in VOICE, kind in FORUMS
    plain = kind == _CATEGORY
    return Channel(
        id=row.id,
        type=kind,
        guild_id=row.guild_id,
        position=row.position,
        permission_overwrites=overwrites_from_row(row) if row.permission_overwrites else [],
        name=row.name,
        topic=row.topic if text or forum or kind == _STAGE else UNSET,
        nsfw=row.nsfw if not plain else UNSET,
        bitrate=(row.bitrate or 64_000) if voice else UNSET,
        user_limit=(row.user_limit or 0) if voice else UNSET,
        rate_limit_per_user=row.rate_limit_per_user if not plain else UNSET,
        parent_id=row.parent_id,
        rtc_region=row.rtc_region if voice else UNSET,
        video_quality_mode=(row.video_quality_mode or 1) if voice else UNSET,
        # Client libraries expect a number or no key at all, never null.
        default_auto_archive_duration=_present(row.default_auto_archive_duration) if text or forum else UNSET,
        default_thread_rate_limit_per_user=(row.default_thread_rate_limit_per_user or 0) if text or forum else UNSET,
        flags=row.flags,
        available_tags=convert(row.available_tags, list[ForumTag]) if forum else UNSET,
        default_reaction_emoji=_default_reaction(row) if forum else UNSET,
        default_sort_order=row.default_sort_order if forum else UNSET,
        default_forum_layout=(row.default_forum_layout or 0) if kind == _FORUM else UNSET,
    )


def thread_from_row(row: ChannelRow | ThreadRow) -> Channel:
    """The channel object of a thread's row."""
    return Channel(
        id=row.id,
        type=row.type,
        guild_id=UNSET if row.guild_id is None else row.guild_id,
        parent_id=row.parent_id,
        owner_id=UNSET if row.owner_id is None else row.owner_id,
        name=row.name,
        rate_limit_per_user=row.rate_limit_per_user,
        message_count=row.message_count or 0,
        # Approximate, as in the public API.
        member_count=min(row.member_count or 0, limits.THREAD_MEMBERS_SHOWN),
        total_message_sent=row.total_message_sent or 0,
        thread_metadata=convert({**(row.thread_metadata or {}), "archived": row.archived}, ThreadMetadata),
        applied_tags=[TagId(tag) for tag in row.applied_tags] if row.applied_tags else UNSET,
        flags=row.flags,
    )


def _present(value: int | None) -> int | UnsetType:
    return UNSET if value is None else value


def _default_reaction(row: ChannelRow) -> DefaultReaction | None:
    if row.default_reaction_emoji is None:
        return None
    emoji: DefaultReaction = convert(row.default_reaction_emoji, DefaultReaction)
    return emoji


def user_from_row(row: UserRow) -> User:
    """The user object of a row, as other users see it."""
    return User(
        id=row.id,
        username=row.username,
        discriminator=row.discriminator,
        global_name=row.global_name,
        avatar=row.avatar,
        bot=True if row.bot else UNSET,
        system=True if row.system else UNSET,
        banner=row.banner,
        accent_color=row.accent_color,
        public_flags=row.public_flags,
        flags=row.public_flags,
        primary_guild=primary_guild(row.primary_guild_id, row.primary_guild_tag, row.primary_guild_badge),
    )


def primary_guild(guild_id: int | None, tag: str | None, badge: str | None) -> PrimaryGuild | None:
    """The guild whose tag a user wears, of the columns of their row; None for none."""
    if guild_id is None:
        return None
    enabled = None if tag is None else True
    return PrimaryGuild(identity_guild_id=GuildId(Snowflake(guild_id)), identity_enabled=enabled, tag=tag, badge=badge)


def member_from_row(row: MemberRow, user: User | UnsetType) -> Member:
    """The member object of a row; `user` is UNSET for objects without one."""
    return Member(
        user=user,
        nick=row.nick,
        avatar=row.avatar,
        banner=row.banner,
        roles=[RoleId(role) for role in row.roles],
        joined_at=row.joined_at,
        premium_since=row.premium_since,
        deaf=row.deaf,
        mute=row.mute,
        flags=row.flags,
        pending=row.pending,
        communication_disabled_until=row.communication_disabled_until,
    )


def rule_from_row(row: RuleRow) -> AutoModerationRule:
    """An auto moderation rule."""
    return AutoModerationRule(
        id=row.id,
        guild_id=row.guild_id,
        name=row.name,
        creator_id=row.creator_id,
        event_type=row.event_type,
        trigger_type=row.trigger_type,
        trigger_metadata=convert(row.trigger_metadata, TriggerMetadata),
        actions=convert(row.actions, list[Action]),
        enabled=row.enabled,
        exempt_roles=[RoleId(role) for role in row.exempt_roles],
        exempt_channels=[ChannelId(channel) for channel in row.exempt_channels],
    )
