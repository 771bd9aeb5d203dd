"""Request bodies of the new member welcome."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.guild_home import NewMemberActionType
from moothall.objects.ids import ChannelId, EmojiId, UserId

_Title = Annotated[str, Meta(min_length=1, max_length=limits.HOME_TITLE_MAX)]
_Description = Annotated[str, Meta(max_length=limits.HOME_DESCRIPTION_MAX)]


class HomeChannelRequest(Struct, frozen=True, kw_only=True):
    """A channel to show, with at most one emoji."""

    channel_id: ChannelId
    title: _Title
    description: _Description | UnsetType | None = UNSET
    emoji_id: EmojiId | UnsetType | None = UNSET
    emoji_name: Annotated[str, Meta(max_length=100)] | UnsetType | None = UNSET


class NewMemberActionRequest(HomeChannelRequest, frozen=True, kw_only=True):
    """An action to do in a channel; without `action_type` it is to view the channel."""

    action_type: NewMemberActionType | UnsetType | None = UNSET


class WelcomeMessageRequest(Struct, frozen=True, kw_only=True):
    """A welcome message, with the members shown as its authors."""

    author_ids: Annotated[list[UserId], Meta(min_length=1, max_length=limits.HOME_AUTHORS_MAX)]
    message: Annotated[str, Meta(min_length=1, max_length=limits.HOME_MESSAGE_MAX)]


class ModifyGuildHome(Struct, frozen=True, kw_only=True):
    """Changes to the new member welcome: an absent field stays, null clears or disables."""

    enabled: bool | UnsetType | None = UNSET
    welcome_message: WelcomeMessageRequest | UnsetType | None = UNSET
    new_member_actions: (
        Annotated[list[NewMemberActionRequest], Meta(max_length=limits.HOME_ACTIONS_MAX)] | UnsetType | None
    ) = UNSET
    resource_channels: (
        Annotated[list[HomeChannelRequest], Meta(max_length=limits.HOME_RESOURCES_MAX)] | UnsetType | None
    ) = UNSET
