"""What requests say of direct messages and of who is in a group (resources: user, create DM; channel, group DM)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.ids import UserId

_OTHERS_MAX = limits.GROUP_DM_RECIPIENTS_MAX - 1
_Nick = Annotated[str, Meta(max_length=limits.NICK_MAX)]
_Token = Annotated[str, Meta(max_length=200)]


class CreateDirectMessage(Struct, frozen=True, kw_only=True):
    """Whom to talk to: one, or several in a group.

    People name `recipients`; a bot has the `access_tokens` that its application was given, with `nicks` by user.
    """

    recipient_id: UserId | UnsetType | None = UNSET
    recipients: Annotated[list[UserId], Meta(max_length=_OTHERS_MAX)] | UnsetType | None = UNSET
    access_tokens: Annotated[list[_Token], Meta(max_length=_OTHERS_MAX)] | UnsetType | None = UNSET
    nicks: Annotated[dict[str, _Nick], Meta(max_length=_OTHERS_MAX)] | UnsetType | None = UNSET


class AddGroupRecipient(Struct, frozen=True, kw_only=True):
    """Somebody more for a group; a bot has the `access_token` that they gave its application."""

    access_token: _Token | UnsetType | None = UNSET
    nick: _Nick | UnsetType | None = UNSET
