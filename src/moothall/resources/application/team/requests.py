"""What requests say of teams."""

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
    """Everything is optional; only its owner may give a team away."""

    name: Name | UnsetType = UNSET
    icon: ImageData | UnsetType | None = UNSET
    owner_user_id: UserId | UnsetType = UNSET


class AddTeamMember(Struct, frozen=True, kw_only=True):
    """Whom to invite, by username. `discriminator`, which nobody has any more, is ignored."""

    username: Annotated[str, Meta(min_length=1, max_length=64)]
    role: TeamRole = TeamRole.ADMIN


class ModifyTeamMember(Struct, frozen=True, kw_only=True):
    """Another role."""

    role: TeamRole
