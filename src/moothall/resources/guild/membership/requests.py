"""Request bodies of the member endpoints (api.md, Members)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.ids import ChannelId, RoleId
from moothall.objects.images import ImageData
from moothall.objects.wire import Timestamp

_ROLES_MAX = 350

Nick = Annotated[str, Meta(max_length=limits.NICK_MAX)]


class ModifyGuildMember(Struct, frozen=True):
    """The body of Modify Guild Member: an absent field stays, null clears."""

    nick: Nick | UnsetType | None = UNSET
    roles: Annotated[list[RoleId], Meta(max_length=_ROLES_MAX)] | UnsetType | None = UNSET
    mute: bool | UnsetType | None = UNSET
    deaf: bool | UnsetType | None = UNSET
    channel_id: ChannelId | UnsetType | None = UNSET
    communication_disabled_until: Timestamp | UnsetType | None = UNSET
    flags: int | UnsetType | None = UNSET

    @property
    def changes_voice(self) -> bool:
        """Whether the body has a field that only applies to a member in voice."""
        return not (self.mute is UNSET and self.deaf is UNSET and self.channel_id is UNSET)


class AddGuildMember(Struct, frozen=True):
    """The body of Add Guild Member; null means the same as absent."""

    access_token: Annotated[str, Meta(max_length=limits.ACCESS_TOKEN_MAX)]
    nick: Nick | None = None
    roles: Annotated[list[RoleId], Meta(max_length=_ROLES_MAX)] | None = None
    mute: bool | None = None
    deaf: bool | None = None


class ModifyCurrentMember(Struct, frozen=True):
    """The body of Modify Current Member: an absent field stays, null clears."""

    nick: Nick | UnsetType | None = UNSET
    banner: ImageData | UnsetType | None = UNSET
    avatar: ImageData | UnsetType | None = UNSET
    bio: Annotated[str, Meta(max_length=limits.BIO_MAX)] | UnsetType | None = UNSET


class ModifyCurrentUserNick(Struct, frozen=True):
    """The body of Modify Current User Nick."""

    nick: Nick | UnsetType | None = UNSET
