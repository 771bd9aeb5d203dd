"""Request bodies of channels (api.md, Create Guild Channel; resources: channel, modify channel)."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.ids import ChannelId, EmojiId, Snowflake, TagId, UserId
from moothall.objects.images import ImageData
from moothall.objects.permissions import PermissionSet

CreatableType = Literal[0, 2, 4, 5, 13, 15, 16]

_Name = Annotated[str, Meta(min_length=limits.CHANNEL_NAME_MIN, max_length=limits.CHANNEL_NAME_MAX)]
_Seconds = Annotated[int, Meta(ge=0, le=limits.SLOWMODE_MAX)]
_Position = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]


class OverwriteRequest(Struct, frozen=True):
    """A permission overwrite. Without `type` it is that of a role if the id is one; absent and null sets are empty."""

    id: Snowflake
    type: Literal[0, 1] | UnsetType | None = UNSET
    allow: PermissionSet | UnsetType | None = UNSET
    deny: PermissionSet | UnsetType | None = UNSET


class EmojiRequest(Struct, frozen=True):
    """A guild emoji by id, or a standard emoji by name."""

    emoji_id: EmojiId | UnsetType | None = UNSET
    emoji_name: Annotated[str, Meta(max_length=100)] | UnsetType | None = UNSET


class TagRequest(EmojiRequest, frozen=True, kw_only=True):
    """A forum tag; with an `id`, an existing one."""

    id: TagId | UnsetType | None = UNSET
    name: Annotated[str, Meta(min_length=1, max_length=limits.FORUM_TAG_NAME_MAX)]
    moderated: bool | UnsetType | None = UNSET


class ChannelSettings(Struct, frozen=True, kw_only=True):
    """The settings of a guild channel. Fields that its type does not have are ignored."""

    position: _Position | UnsetType | None = UNSET
    topic: Annotated[str, Meta(max_length=limits.CHANNEL_TOPIC_MAX)] | UnsetType | None = UNSET
    nsfw: bool | UnsetType | None = UNSET
    bitrate: Annotated[int, Meta(ge=limits.BITRATE_MIN, le=limits.BITRATE_VIP)] | UnsetType | None = UNSET
    user_limit: Annotated[int, Meta(ge=0, le=limits.STAGE_USER_LIMIT_MAX)] | UnsetType | None = UNSET
    rate_limit_per_user: _Seconds | UnsetType | None = UNSET
    permission_overwrites: (
        Annotated[list[OverwriteRequest], Meta(max_length=limits.CHANNEL_OVERWRITES_MAX)] | UnsetType | None
    ) = UNSET
    parent_id: ChannelId | UnsetType | None = UNSET
    rtc_region: str | UnsetType | None = UNSET
    video_quality_mode: Literal[1, 2] | UnsetType | None = UNSET
    default_auto_archive_duration: Literal[60, 1440, 4320, 10080] | UnsetType | None = UNSET
    default_reaction_emoji: EmojiRequest | UnsetType | None = UNSET
    available_tags: Annotated[list[TagRequest], Meta(max_length=limits.FORUM_TAGS_MAX)] | UnsetType | None = UNSET
    default_sort_order: Literal[0, 1] | UnsetType | None = UNSET
    default_forum_layout: Literal[0, 1, 2] | UnsetType | None = UNSET
    default_thread_rate_limit_per_user: _Seconds | UnsetType | None = UNSET
    flags: Annotated[int, Meta(ge=0)] | UnsetType | None = UNSET


class CreateGuildChannel(ChannelSettings, frozen=True, kw_only=True):
    """The body of Create Guild Channel; `type` defaults to a text channel."""

    name: _Name
    type: CreatableType | UnsetType | None = UNSET


class ModifyChannel(ChannelSettings, frozen=True, kw_only=True):
    """The body of Modify Channel; absent fields stay.

    Only a group direct message has `icon` and `owner`, and may have no name. The last five fields are for threads.
    """

    name: Annotated[str, Meta(max_length=limits.CHANNEL_NAME_MAX)] | UnsetType | None = UNSET
    type: CreatableType | UnsetType | None = UNSET
    icon: ImageData | UnsetType | None = UNSET
    owner: UserId | UnsetType | None = UNSET
    archived: bool | UnsetType | None = UNSET
    locked: bool | UnsetType | None = UNSET
    invitable: bool | UnsetType | None = UNSET
    auto_archive_duration: Literal[60, 1440, 4320, 10080] | UnsetType | None = UNSET
    applied_tags: Annotated[list[TagId], Meta(max_length=limits.THREAD_TAGS_MAX)] | UnsetType | None = UNSET


class ChannelPosition(Struct, frozen=True):
    """An item of Modify Guild Channel Positions. `lock_permissions` copies the overwrites of the category."""

    id: ChannelId
    position: _Position | UnsetType | None = UNSET
    lock_permissions: bool | UnsetType | None = UNSET
    parent_id: ChannelId | UnsetType | None = UNSET


class EditChannelPermissions(Struct, frozen=True):
    """The body of Edit Channel Permissions; the target is in the path."""

    type: Literal[0, 1] | UnsetType | None = UNSET
    allow: PermissionSet | UnsetType | None = UNSET
    deny: PermissionSet | UnsetType | None = UNSET
