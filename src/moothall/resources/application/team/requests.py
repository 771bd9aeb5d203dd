"""Request bodies of teams."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.application import TeamRole
from moothall.objects.ids import UserId
from moothall.objects.images import ImageData

Name = Annotated[str, Meta(min_length=1, max_length=limits.TEAM_NAME_MAX)]


class CreateTeam(Struct, frozen=True, kw_only=True):
    """A new team."""

    name: Name
    icon: ImageData | UnsetType | None = UNSET


class ModifyTeam(Struct, frozen=True, kw_only=True):
    """Changes to a team; all fields are optional. Only its owner may set `owner_user_id`."""

    name: Name | UnsetType = UNSET
    icon: ImageData | UnsetType | None = UNSET
    owner_user_id: UserId | UnsetType = UNSET


class AddTeamMember(Struct, frozen=True, kw_only=True):
    """The username to invite. `discriminator`, which users no longer have, is ignored."""

    username: Annotated[str, Meta(min_length=1, max_length=64)]
    role: TeamRole = TeamRole.ADMIN


class ModifyTeamMember(Struct, frozen=True, kw_only=True):
    """The new role of a member."""

    role: TeamRole
