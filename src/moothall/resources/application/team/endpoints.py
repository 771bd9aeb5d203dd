"""Teams over HTTP, at the paths of the developer portal."""

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post, put
from moothall.objects.application import Team, TeamMember
from moothall.objects.ids import TeamId, UserId
from moothall.resources.application.team import operations, queries
from moothall.resources.application.team.access import (
    TEAM_ADMIN,
    TEAM_MEMBER,
    TEAM_MEMBER_OR_INVITEE,
    TEAM_OWNER,
    requested_team,
)
from moothall.resources.application.team.objects import team_object, team_objects
from moothall.resources.application.team.requests import AddTeamMember, CreateTeam, ModifyTeam, ModifyTeamMember


@post("/teams", permission=PERSON, status=201)
async def create_team(ctx: Context, body: CreateTeam) -> Team:
    """Create a team, owned by the caller."""
    return await operations.create_team(ctx, body)


@get("/teams", permission=PERSON)
async def get_teams(ctx: Context) -> list[Team]:
    """List the teams that the caller has joined or is invited to."""
    return await team_objects(ctx, await queries.select_teams_of_user(ctx.tx, ctx.actor.user_id))


@get("/teams/{team_id}", permission=TEAM_MEMBER_OR_INVITEE)
async def get_team(ctx: Context, team_id: TeamId) -> Team:
    """Get one of the caller's teams."""
    return await team_object(ctx, requested_team(ctx).team)


@patch("/teams/{team_id}", permission=TEAM_ADMIN)
async def modify_team(ctx: Context, team_id: TeamId, body: ModifyTeam) -> Team:
    """Change a team. Its owner may transfer it to another member."""
    return await operations.modify_team(ctx, requested_team(ctx), body)


@delete("/teams/{team_id}", permission=TEAM_OWNER)
async def delete_team(ctx: Context, team_id: TeamId) -> None:
    """Delete a team that owns no applications."""
    await operations.delete_team(ctx, requested_team(ctx))


@get("/teams/{team_id}/members", permission=TEAM_MEMBER)
async def get_team_members(ctx: Context, team_id: TeamId) -> list[TeamMember]:
    """List the members and invited users of a team."""
    return (await team_object(ctx, requested_team(ctx).team)).members


@post("/teams/{team_id}/members", permission=TEAM_ADMIN)
async def add_team_member(ctx: Context, team_id: TeamId, body: AddTeamMember) -> TeamMember:
    """Invite a user by username. The invitation is listed among their teams."""
    return await operations.invite_member(ctx, requested_team(ctx), body)


@put("/teams/{team_id}/members/@me", permission=TEAM_MEMBER_OR_INVITEE)
async def accept_team_invitation(ctx: Context, team_id: TeamId) -> Team:
    """Accept the invitation to a team."""
    return await operations.accept_invitation(ctx, requested_team(ctx))


@patch("/teams/{team_id}/members/{user_id}", permission=TEAM_ADMIN)
async def modify_team_member(ctx: Context, team_id: TeamId, user_id: UserId, body: ModifyTeamMember) -> TeamMember:
    """Change the role of a member."""
    return await operations.modify_member_role(ctx, requested_team(ctx), user_id, body.role)


@delete("/teams/{team_id}/members/{user_id}", permission=TEAM_MEMBER_OR_INVITEE)
async def remove_team_member(ctx: Context, team_id: TeamId, user_id: UserId) -> None:
    """Remove a member. Every member but the owner may leave, and invited users may decline."""
    await operations.remove_member(ctx, requested_team(ctx), user_id)
