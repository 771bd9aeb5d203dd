"""A guild's public widget (api.md, Guild widget object)."""

from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import ChannelId, GuildId


class WidgetStyle(StrEnum):
    """The style of a widget's image."""

    SHIELD = "shield"
    BANNER1 = "banner1"
    BANNER2 = "banner2"
    BANNER3 = "banner3"
    BANNER4 = "banner4"


class WidgetChannel(Struct, frozen=True, kw_only=True):
    """A voice or stage channel that @everyone may view."""

    id: ChannelId
    name: str
    position: int


class WidgetActivity(Struct, frozen=True, kw_only=True):
    """The name of a member's activity."""

    name: str


class WidgetMember(Struct, frozen=True, kw_only=True):
    """An online member. `id` is the position in the list; only the name and avatar identify the member."""

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
    """The widget of a guild."""

    id: GuildId
    name: str
    instant_invite: str | None
    channels: list[WidgetChannel]
    members: list[WidgetMember]
    presence_count: int
