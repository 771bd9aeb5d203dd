"""Teams over HTTP, at the paths that clients of the developer portal use."""

from moothall.kernel.access import PERSON
from moothall.kernel.context import Context
from moothall.kernel.endpoint import delete, get, patch, post, put
from moothall.objects.application import Team, TeamMember
from moothall.objects.ids import TeamId, UserId
from moothall.resources.application.team import operations, queries
from moothall.resources.application.team.access import TEAM_ADMIN, TEAM_GUEST, TEAM_MEMBER, TEAM_OWNER, team_of
from moothall.resources.application.team.requests import AddTeamMember, CreateTeam, ModifyTeam, ModifyTeamMember


@post("/teams", permission=PERSON, status=201)
async def create_team(ctx: Context, body: CreateTeam) -> Team:
    """Make a team that belongs to the caller."""
    return await operations.create_team(ctx, body)


@get("/teams", permission=PERSON)
async def get_teams(ctx: Context) -> list[Team]:
    """List the teams that the caller belongs to or is invited to."""
    return await operations.show_teams(ctx, await queries.select_of_user(ctx.tx, ctx.actor.user_id))


@get("/teams/{team_id}", permission=TEAM_GUEST)
async def get_team(ctx: Context, team_id: TeamId) -> Team:
    """One of the caller's teams."""
    return await operations.show_team(ctx, team_of(ctx).team)


@patch("/teams/{team_id}", permission=TEAM_ADMIN)
async def modify_team(ctx: Context, team_id: TeamId, body: ModifyTeam) -> Team:
    """Change a team; its owner may give it to another member."""
    return await operations.modify_team(ctx, team_of(ctx), body)


@delete("/teams/{team_id}", permission=TEAM_OWNER)
async def delete_team(ctx: Context, team_id: TeamId) -> None:
    """End a team that owns no applications."""
    await operations.delete_team(ctx, team_of(ctx))


@get("/teams/{team_id}/members", permission=TEAM_MEMBER)
async def get_team_members(ctx: Context, team_id: TeamId) -> list[TeamMember]:
    """Who belongs to a team or is invited to it."""
    return (await operations.show_team(ctx, team_of(ctx).team)).members


@post("/teams/{team_id}/members", permission=TEAM_ADMIN)
async def add_team_member(ctx: Context, team_id: TeamId, body: AddTeamMember) -> TeamMember:
    """Invite somebody, who finds the invitation among their teams."""
    return await operations.invite_member(ctx, team_of(ctx), body)


@put("/teams/{team_id}/members/@me", permission=TEAM_GUEST)
async def accept_team_invitation(ctx: Context, team_id: TeamId) -> Team:
    """Belong to a team that the caller is invited to."""
    return await operations.accept_invitation(ctx, team_of(ctx))


@patch("/teams/{team_id}/members/{user_id}", permission=TEAM_ADMIN)
async def modify_team_member(ctx: Context, team_id: TeamId, user_id: UserId, body: ModifyTeamMember) -> TeamMember:
    """Give a member another role."""
    return await operations.change_role(ctx, team_of(ctx), user_id, body.role)


@delete("/teams/{team_id}/members/{user_id}", permission=TEAM_GUEST)
async def remove_team_member(ctx: Context, team_id: TeamId, user_id: UserId) -> None:
    """Let a member go; anyone but the owner may go, or decline, themselves."""
    await operations.remove_member(ctx, team_of(ctx), user_id)
