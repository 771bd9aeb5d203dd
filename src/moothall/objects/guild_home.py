"""What newcomers are shown first: a word of welcome, things to do, and channels to read (resources: guild)."""

from enum import IntEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import ChannelId, GuildId, UserId


class NewMemberActionType(IntEnum):
    """What a newcomer is to do in a channel."""

    VIEW = 0
    TALK = 1


class WelcomeMessage(Struct, frozen=True, kw_only=True):
    """A word of welcome, and whose it is."""

    author_ids: list[UserId]
    message: str


class NewMemberAction(Struct, frozen=True, kw_only=True):
    """Something to do. An emoji of nulls is none."""

    channel_id: ChannelId
    action_type: int
    title: str
    description: str
    emoji: PartialEmoji


class ResourceChannel(Struct, frozen=True, kw_only=True):
    """A channel to read. An emoji of nulls is none."""

    channel_id: ChannelId
    title: str
    description: str
    emoji: PartialEmoji


class GuildHome(Struct, frozen=True, kw_only=True):
    """What a guild shows newcomers first. Channels that are gone are left out of it."""

    guild_id: GuildId
    enabled: bool
    welcome_message: WelcomeMessage | UnsetType = UNSET
    new_member_actions: list[NewMemberAction]
    resource_channels: list[ResourceChannel]
