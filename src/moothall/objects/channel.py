"""Channels and threads (resources: channel)."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

from msgspec import UNSET, Struct, UnsetType, field

from moothall.objects.ids import (
    ApplicationId,
    ChannelId,
    EmojiId,
    GuildId,
    MessageId,
    Snowflake,
    TagId,
    UserId,
)
from moothall.objects.member import Member
from moothall.objects.permissions import PermissionSet
from moothall.objects.user import User
from moothall.objects.user_settings import MuteConfig
from moothall.objects.wire import Timestamp


class Overwrite(Struct, frozen=True, kw_only=True):
    """The permissions that a channel allows or denies to a role (type 0) or a member (type 1)."""

    id: Snowflake
    type: int
    allow: PermissionSet = field(default_factory=PermissionSet)
    deny: PermissionSet = field(default_factory=PermissionSet)


def overwrite_table(overwrites: Iterable[Overwrite]) -> dict[int, tuple[int, int]]:
    """Map the id of each overwrite's role or member to (allow, deny), for `permissions.channel_permissions`."""
    return {int(item.id): (int(item.allow), int(item.deny)) for item in overwrites}


class ForumTag(Struct, frozen=True, kw_only=True):
    """A tag for the posts of a forum, with a guild's emoji, a standard emoji or none.

    `moderated` tags need MANAGE_THREADS.
    """

    id: TagId
    name: str
    moderated: bool = False
    emoji_id: EmojiId | None = None
    emoji_name: str | None = None


class DefaultReaction(Struct, frozen=True, kw_only=True):
    """The emoji that a forum offers under each post. Exactly one of the two fields is not null."""

    emoji_id: EmojiId | None = None
    emoji_name: str | None = None


class ThreadMetadata(Struct, frozen=True, kw_only=True):
    """The fields of threads. `invitable` is present for private threads."""

    archived: bool
    auto_archive_duration: int
    archive_timestamp: Timestamp
    locked: bool
    invitable: bool | UnsetType = UNSET
    create_timestamp: Timestamp | UnsetType | None = UNSET


class ThreadMember(Struct, frozen=True, kw_only=True):
    """A member of a thread. Both ids are absent in the caller's own membership inside a thread object."""

    id: ChannelId | UnsetType = UNSET
    user_id: UserId | UnsetType = UNSET
    join_timestamp: Timestamp
    flags: int = 0
    muted: bool | UnsetType = UNSET
    """This and `mute_config` are only in a user's own membership."""
    mute_config: MuteConfig | UnsetType | None = UNSET
    member: Member | UnsetType = UNSET


class ThreadMemberFlags:
    """The bits of a thread member's `flags`: their notification settings."""

    HAS_INTERACTED: Final = 1 << 0
    ALL_MESSAGES: Final = 1 << 1
    ONLY_MENTIONS: Final = 1 << 2
    NO_MESSAGES: Final = 1 << 3
    LEVELS: Final = ALL_MESSAGES | ONLY_MENTIONS | NO_MESSAGES
    """What the user sets, at most one of them."""


class ConsentStatus(IntEnum):
    """Whether a user takes the direct messages of another one."""

    UNSPECIFIED = 0
    """The other user has not written yet."""
    PENDING = 1
    """The direct message is a message request."""
    ACCEPTED = 2
    REJECTED = 3


class GroupNick(Struct, frozen=True, kw_only=True):
    """A user's nickname in a group direct message."""

    id: UserId
    nick: str


class Channel(Struct, frozen=True, kw_only=True):
    """A channel of any type: fields that do not apply to its type are absent.

    Voice and stage channels always have `bitrate` and `user_limit`; threads always have `owner_id`.
    `permissions` are the caller's, present only inside interactions.
    """

    id: ChannelId
    type: int
    guild_id: GuildId | UnsetType = UNSET
    position: int | UnsetType = UNSET
    permission_overwrites: list[Overwrite] | UnsetType = UNSET
    name: str | UnsetType | None = UNSET
    topic: str | UnsetType | None = UNSET
    nsfw: bool | UnsetType = UNSET
    last_message_id: MessageId | UnsetType | None = UNSET
    bitrate: int | UnsetType = UNSET
    user_limit: int | UnsetType = UNSET
    rate_limit_per_user: int | UnsetType = UNSET
    recipients: list[User] | UnsetType = UNSET
    nicks: list[GroupNick] | UnsetType = UNSET
    """The nicknames of recipients in a group direct message."""
    icon: str | UnsetType | None = UNSET
    owner_id: UserId | UnsetType = UNSET
    application_id: ApplicationId | UnsetType = UNSET
    managed: bool | UnsetType = UNSET
    parent_id: ChannelId | UnsetType | None = UNSET
    last_pin_timestamp: Timestamp | UnsetType | None = UNSET
    rtc_region: str | UnsetType | None = UNSET
    video_quality_mode: int | UnsetType = UNSET
    message_count: int | UnsetType = UNSET
    member_count: int | UnsetType = UNSET
    thread_metadata: ThreadMetadata | UnsetType = UNSET
    member: ThreadMember | UnsetType = UNSET
    default_auto_archive_duration: int | UnsetType = UNSET
    permissions: PermissionSet | UnsetType = UNSET
    flags: int = 0
    total_message_sent: int | UnsetType = UNSET
    available_tags: list[ForumTag] | UnsetType = UNSET
    applied_tags: list[TagId] | UnsetType = UNSET
    default_reaction_emoji: DefaultReaction | UnsetType | None = UNSET
    default_thread_rate_limit_per_user: int | UnsetType = UNSET
    default_sort_order: int | UnsetType | None = UNSET
    default_forum_layout: int | UnsetType = UNSET
    is_message_request: bool | UnsetType = UNSET
    """This and the next two are in a direct message that is, or was, a message request to the user who sees it."""
    is_message_request_timestamp: Timestamp | UnsetType | None = UNSET
    is_spam: bool | UnsetType = UNSET
    newly_created: bool | UnsetType = UNSET
    """True in the dispatch that announces a new thread."""


class InviteRecipient(Struct, frozen=True, kw_only=True):
    """A recipient of the group that an invite leads to."""

    id: UserId
    username: str
    avatar: str | None


class PartialChannel(Struct, frozen=True, kw_only=True):
    """The channel object of invites and channel followers; only a group has an icon and recipients."""

    id: ChannelId
    type: int | UnsetType = UNSET
    name: str | None = None
    icon: str | UnsetType = UNSET
    recipients: list[InviteRecipient] | UnsetType = UNSET


class ChannelMention(Struct, frozen=True, kw_only=True):
    """A channel of another guild that a crossposted message mentions."""

    id: ChannelId
    guild_id: GuildId
    type: int
    name: str


class FollowedChannel(Struct, frozen=True, kw_only=True):
    """The result of following an announcement channel."""

    channel_id: ChannelId
    webhook_id: Snowflake


class ThreadList(Struct, frozen=True, kw_only=True):
    """Threads, and the caller's memberships in them. `has_more` is present in paged lists."""

    threads: list[Channel]
    members: list[ThreadMember]
    has_more: bool | UnsetType = UNSET
