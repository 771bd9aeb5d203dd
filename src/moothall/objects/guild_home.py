"""New member welcome: a message, actions and resource channels (resources: guild)."""

from enum import IntEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import ChannelId, GuildId, UserId


class NewMemberActionType(IntEnum):
    """The type of an action that new members are asked for."""

    VIEW = 0
    TALK = 1


class WelcomeMessage(Struct, frozen=True, kw_only=True):
    """The welcome message and its authors."""

    author_ids: list[UserId]
    message: str


class NewMemberAction(Struct, frozen=True, kw_only=True):
    """An action for new members in a channel. An emoji of nulls means none."""

    channel_id: ChannelId
    action_type: int
    title: str
    description: str
    emoji: PartialEmoji


class ResourceChannel(Struct, frozen=True, kw_only=True):
    """A channel for new members to read. An emoji of nulls means none."""

    channel_id: ChannelId
    title: str
    description: str
    emoji: PartialEmoji


class GuildHome(Struct, frozen=True, kw_only=True):
    """A guild's new member welcome, without deleted channels."""

    guild_id: GuildId
    enabled: bool
    welcome_message: WelcomeMessage | UnsetType = UNSET
    new_member_actions: list[NewMemberAction]
    resource_channels: list[ResourceChannel]


class NewMemberActionProgress(Struct, frozen=True, kw_only=True):
    """The progress of a member in one action."""

    completed: bool


class NewMemberActionsProgress(Struct, frozen=True, kw_only=True):
    """The new member actions that a member has completed, by channel."""

    guild_id: GuildId
    user_id: UserId
    channel_actions: dict[str, NewMemberActionProgress]
