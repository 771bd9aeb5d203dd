"""API objects of teams and their members."""

from collections.abc import Iterable

from moothall.api.context import Context
from moothall.objects.application import MembershipState, Team, TeamMember, TeamRole
from moothall.objects.ids import TeamId, UserId
from moothall.objects.user import User
from moothall.resources.application.team import queries
from moothall.resources.application.team.queries import TeamMemberRow, TeamRow
from moothall.resources.user.queries import get_users


async def team_object(ctx: Context, row: TeamRow) -> Team:
    """A team with its members."""
    return (await team_objects(ctx, [row]))[0]


async def team_objects(ctx: Context, rows: list[TeamRow]) -> list[Team]:
    """Several teams with their members, in two queries."""
    members = await member_objects(ctx, await queries.select_members(ctx.tx, [row.id for row in rows]))
    return [
        Team(
            id=row.id,
            icon=row.icon,
            name=row.name,
            owner_user_id=row.owner_user_id,
            members=[member for member in members if member.team_id == row.id],
        )
        for row in rows
    ]


async def team_objects_by_id(ctx: Context, team_ids: Iterable[TeamId]) -> dict[TeamId, Team]:
    """Teams with their members by id, in three queries; in none for no ids."""
    rows = await queries.select_teams(ctx.tx, team_ids)
    return {team.id: team for team in await team_objects(ctx, rows)}


async def member_objects(ctx: Context, rows: list[TeamMemberRow]) -> list[TeamMember]:
    """Members and invited users of teams; deleted accounts are left out."""
    users: dict[UserId, User] = await get_users(ctx.tx, [row.user_id for row in rows])
    return [
        TeamMember(
            membership_state=MembershipState(row.membership_state),
            team_id=row.team_id,
            user=users[row.user_id],
            role=TeamRole(row.role),
        )
        for row in rows
        if row.user_id in users
    ]
