"""The request body of Create Channel Invite (resources: channel, create channel invite)."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.ids import ApplicationId, RoleId, UserId


class CreateChannelInvite(Struct, frozen=True, kw_only=True):
    """A new invite; null means the default. `max_age` is in seconds; 0 means unlimited, in `max_age` and `max_uses`."""

    max_age: Annotated[int, Meta(ge=0, le=limits.INVITE_MAX_AGE_MAX)] | UnsetType | None = UNSET
    max_uses: Annotated[int, Meta(ge=0, le=limits.INVITE_MAX_USES_MAX)] | UnsetType | None = UNSET
    temporary: bool | UnsetType | None = UNSET
    unique: bool | UnsetType | None = UNSET
    target_type: Literal[1, 2] | UnsetType | None = UNSET
    target_user_id: UserId | UnsetType | None = UNSET
    target_application_id: ApplicationId | UnsetType | None = UNSET
    flags: Annotated[int, Meta(ge=0)] | UnsetType | None = UNSET
    """`InviteFlags`; unknown bits are ignored."""
    role_ids: Annotated[list[RoleId], Meta(max_length=limits.ROLES_PER_GUILD)] | UnsetType | None = UNSET
