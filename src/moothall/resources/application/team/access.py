"""Who may look into a team and change it."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from moothall.kernel.access import Access
from moothall.kernel.authenticate import TokenKind
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.application import MembershipState, TeamRole
from moothall.objects.errors import Refusal
from moothall.objects.ids import TeamId
from moothall.resources.application.team import queries
from moothall.resources.application.team.queries import TeamMemberRow, TeamRow


class InTeam(Struct, frozen=True):
    """A team, and the caller's place in it."""

    team: TeamRow
    member: TeamMemberRow

    @property
    def owns(self) -> bool:
        """Whether it is the caller's."""
        return self.team.owner_user_id == self.member.user_id

    @property
    def manages(self) -> bool:
        """Whether the caller may change it and who belongs to it."""
        return self.owns or self.may(TeamRole.ADMIN)

    def may(self, *roles: TeamRole) -> bool:
        """Whether the caller belongs to it in one of some roles."""
        return self.member.membership_state == MembershipState.ACCEPTED and self.member.role in roles


class OfTeam(Access):
    """A person who belongs to the team `{team_id}`, or is `invited`; with `manages` one who may change it."""

    def __init__(self, *, manages: bool = False, owns: bool = False, invited: bool = False) -> None:
        self.label = "team owner" if owns else "team admin" if manages else "team member"
        self._manages = manages
        self._owns = owns
        self._invited = invited

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Look the team up. Raises Refusal: 403/20001 for bots, 404 for others' teams, 403/50013."""
        if ctx.actor.kind is not TokenKind.SESSION:
            raise Refusal(errors.BOTS_CANNOT_USE)
        found = await find_team(ctx, path["team_id"])
        if found.member.membership_state != MembershipState.ACCEPTED and not self._invited:
            raise Refusal(errors.NOT_FOUND)
        if (self._manages and not found.manages) or (self._owns and not found.owns):
            raise Refusal(errors.MISSING_PERMISSIONS)
        ctx.subject = found


TEAM_MEMBER = OfTeam()
TEAM_GUEST = OfTeam(invited=True)
TEAM_ADMIN = OfTeam(manages=True)
TEAM_OWNER = OfTeam(owns=True)


async def find_team(ctx: Context, team_id: TeamId) -> InTeam:
    """A team that the caller belongs to, or is invited to. Raises Refusal 404 for any other."""
    team = await queries.select_team(ctx.tx, team_id)
    member = None if team is None else await queries.select_member(ctx.tx, team_id, ctx.actor.user_id)
    if team is None or member is None:
        raise Refusal(errors.NOT_FOUND)
    return InTeam(team, member)


def team_of(ctx: Context) -> InTeam:
    """The team that a row's access has looked up."""
    found: InTeam = ctx.subject
    return found
