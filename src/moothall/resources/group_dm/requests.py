"""Request bodies of direct messages and group recipients (resources: user, create DM; channel, group DM)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.ids import UserId

_OTHERS_MAX = limits.GROUP_DM_RECIPIENTS_MAX - 1
_Nick = Annotated[str, Meta(max_length=limits.NICK_MAX)]
_Token = Annotated[str, Meta(max_length=200)]


class CreateDirectMessage(Struct, frozen=True, kw_only=True):
    """The body of Create DM and Create Group DM: one recipient, or several.

    A user sets `recipients`; a bot sets `access_tokens` with the scope gdm.join, and `nicks` by user id.
    """

    recipient_id: UserId | UnsetType | None = UNSET
    recipients: Annotated[list[UserId], Meta(max_length=_OTHERS_MAX)] | UnsetType | None = UNSET
    access_tokens: Annotated[list[_Token], Meta(max_length=_OTHERS_MAX)] | UnsetType | None = UNSET
    nicks: Annotated[dict[str, _Nick], Meta(max_length=_OTHERS_MAX)] | UnsetType | None = UNSET


class AddGroupRecipient(Struct, frozen=True, kw_only=True):
    """The body of Group DM Add Recipient; a bot needs an `access_token` of the user."""

    access_token: _Token | UnsetType | None = UNSET
    nick: _Nick | UnsetType | None = UNSET
