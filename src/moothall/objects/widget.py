"""A guild's widget, which anyone may see (api.md, Guild widget object)."""

from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import ChannelId, GuildId


class WidgetStyle(StrEnum):
    """How a widget's picture looks."""

    SHIELD = "shield"
    BANNER1 = "banner1"
    BANNER2 = "banner2"
    BANNER3 = "banner3"
    BANNER4 = "banner4"


class WidgetChannel(Struct, frozen=True, kw_only=True):
    """A voice or stage channel that everyone may see."""

    id: ChannelId
    name: str
    position: int


class WidgetActivity(Struct, frozen=True, kw_only=True):
    """What a member does, by name alone."""

    name: str


class WidgetMember(Struct, frozen=True, kw_only=True):
    """Somebody who is here. `id` is their place in the list; nothing tells who they are but their name and picture."""

    id: str
    username: str
    discriminator: str = "0000"
    avatar: None = None
    status: str
    avatar_url: str
    activity: WidgetActivity | UnsetType = UNSET
    channel_id: ChannelId | UnsetType = UNSET
    deaf: bool | UnsetType = UNSET
    mute: bool | UnsetType = UNSET
    self_deaf: bool | UnsetType = UNSET
    self_mute: bool | UnsetType = UNSET
    suppress: bool | UnsetType = UNSET


class Widget(Struct, frozen=True, kw_only=True):
    """A guild as its widget shows it."""

    id: GuildId
    name: str
    instant_invite: str | None
    channels: list[WidgetChannel]
    members: list[WidgetMember]
    presence_count: int
