"""Access to teams by membership, role and ownership."""

from msgspec import Struct

from moothall.api.access import Access, PathValues
from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.application import MembershipState, TeamRole
from moothall.objects.errors import Refusal
from moothall.objects.ids import TeamId
from moothall.resources.application.team import queries
from moothall.resources.application.team.queries import TeamMemberRow, TeamRow


class TeamMembership(Struct, frozen=True):
    """A team and the caller's membership in it."""

    team: TeamRow
    member: TeamMemberRow

    @property
    def is_owner(self) -> bool:
        """Whether the caller owns the team."""
        return self.team.owner_user_id == self.member.user_id

    @property
    def can_manage(self) -> bool:
        """Whether the caller may change the team and its members."""
        return self.is_owner or self.has_role(TeamRole.ADMIN)

    def has_role(self, *roles: TeamRole) -> bool:
        """Whether the caller has joined the team and has one of some roles."""
        return self.member.membership_state == MembershipState.ACCEPTED and self.member.role in roles


class TeamAccess(Access):
    """A user who has joined the team `{team_id}`, or with `invited` is invited to it.

    With `can_manage` only those who may change it, with `is_owner` only its owner. Loads the
    `TeamMembership`.
    """

    def __init__(self, *, can_manage: bool = False, is_owner: bool = False, invited: bool = False) -> None:
        self.label = "team owner" if is_owner else "team admin" if can_manage else "team member"
        self._can_manage = can_manage
        self._is_owner = is_owner
        self._invited = invited

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Load the team. Raises Refusal: 403/20001 for bots, 404 for teams of others, 403/50013."""
        if ctx.actor.kind is not TokenKind.SESSION:
            raise Refusal(errors.BOTS_CANNOT_USE)
        membership = await find_team(ctx, path["team_id"])
        if membership.member.membership_state != MembershipState.ACCEPTED and not self._invited:
            raise Refusal(errors.NOT_FOUND)
        if (self._can_manage and not membership.can_manage) or (self._is_owner and not membership.is_owner):
            raise Refusal(errors.MISSING_PERMISSIONS)
        ctx.set_resource(membership)


TEAM_MEMBER = TeamAccess()
TEAM_MEMBER_OR_INVITEE = TeamAccess(invited=True)
TEAM_ADMIN = TeamAccess(can_manage=True)
TEAM_OWNER = TeamAccess(is_owner=True)


async def find_team(ctx: Context, team_id: TeamId) -> TeamMembership:
    """A team that the caller has joined or is invited to. Raises Refusal: 404 for any other."""
    team = await queries.select_team(ctx.tx, team_id)
    member = None if team is None else await queries.select_member(ctx.tx, team_id, ctx.actor.user_id)
    if team is None or member is None:
        raise Refusal(errors.NOT_FOUND)
    return TeamMembership(team, member)


def requested_team(ctx: Context) -> TeamMembership:
    """The membership that the row's access check has loaded."""
    return ctx.resource(TeamMembership)
