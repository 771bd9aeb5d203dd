"""How teams come to be, change and end, and who belongs to them."""

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, structs

from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.application import MembershipState, Team, TeamMember, TeamRole
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import TeamId, UserId
from moothall.objects.text import clean_name, search_key
from moothall.objects.user import User
from moothall.resources.application.team import queries
from moothall.resources.application.team.access import InTeam
from moothall.resources.application.team.queries import TeamMemberRow, TeamRow
from moothall.resources.application.team.requests import AddTeamMember, CreateTeam, ModifyTeam
from moothall.resources.user.queries import get_users, select_by_username


async def create_team(ctx: Context, body: CreateTeam) -> Team:
    """Make a team that is the caller's. Raises Refusal 400 for one who belongs to too many."""
    await _require_room(ctx)
    name = _name_of(body.name)
    row = TeamRow(
        id=TeamId(ctx.ids.next()),
        name=name,
        icon=None if body.icon is UNSET or body.icon is None else body.icon.hash,
        owner_user_id=ctx.actor.user_id,
        created_at=ctx.now,
    )
    await queries.insert_team(ctx.tx, row)
    await queries.insert_member(
        ctx.tx, _member(ctx, row.id, ctx.actor.user_id, TeamRole.ADMIN, MembershipState.ACCEPTED)
    )
    return await show_team(ctx, row)


async def modify_team(ctx: Context, found: InTeam, body: ModifyTeam) -> Team:
    """Change a team, or give it to another member, who gets its applications too.

    Raises Refusal: 403/50013 for giving away what is another's, 50035 for somebody who does not belong.
    """
    team = await _locked(ctx, found.team.id)
    changes: dict[str, Any] = {}
    if body.name is not UNSET:
        changes["name"] = _name_of(body.name)
    if body.icon is not UNSET:
        changes["icon"] = None if body.icon is None else body.icon.hash
    if body.owner_user_id is not UNSET and body.owner_user_id != team.owner_user_id:
        if team.owner_user_id != ctx.actor.user_id:
            raise Refusal(errors.MISSING_PERMISSIONS)
        heir = await queries.select_member(ctx.tx, team.id, body.owner_user_id)
        if heir is None or heir.membership_state != MembershipState.ACCEPTED:
            refuse_field("owner_user_id", FormCode.BASE_TYPE_CHOICES, "They do not belong to the team.")
        changes["owner_user_id"] = heir.user_id
        await queries.update_member(ctx.tx, team.id, heir.user_id, role=TeamRole.ADMIN.value)
        await queries.give_applications(ctx.tx, team.id, heir.user_id)
    if changes:
        await queries.update_team(ctx.tx, team.id, **changes)
    return await show_team(ctx, structs.replace(team, **changes))


async def delete_team(ctx: Context, found: InTeam) -> None:
    """End a team. Raises Refusal 400 while it owns applications."""
    team = await _locked(ctx, found.team.id)
    if await queries.count_applications(ctx.tx, team.id):
        raise Refusal(errors.GENERAL_ERROR, message="The team still owns applications.")
    await queries.delete_team(ctx.tx, team.id)


async def invite_member(ctx: Context, found: InTeam, body: AddTeamMember) -> TeamMember:
    """Ask somebody into a team; they belong once they have accepted. Raises Refusal 50035."""
    team = await _locked(ctx, found.team.id)
    user = await select_by_username(ctx.tx, search_key(body.username.strip().removeprefix("@")))
    if user is None or user.system:
        refuse_field("username", "USER_NOT_FOUND", "Nobody has this username.")
    if await queries.select_member(ctx.tx, team.id, user.id) is not None:
        refuse_field("username", "USER_ALREADY_IN_TEAM", "They belong to the team, or are invited to it, already.")
    if await queries.count_members(ctx.tx, team.id) >= limits.TEAM_MEMBERS_MAX:
        refuse_field(
            "username", FormCode.BASE_TYPE_MAX_LENGTH, f"A team has at most {limits.TEAM_MEMBERS_MAX} members."
        )
    row = _member(ctx, team.id, user.id, body.role, MembershipState.INVITED)
    await queries.insert_member(ctx.tx, row)
    return (await _shown(ctx, [row]))[0]


async def accept_invitation(ctx: Context, found: InTeam) -> Team:
    """Belong to a team that one is invited to; for who belongs already nothing changes."""
    team = await _locked(ctx, found.team.id)
    member = await queries.select_member(ctx.tx, team.id, ctx.actor.user_id)
    if member is None:
        raise Refusal(errors.NOT_FOUND)
    if member.membership_state != MembershipState.ACCEPTED:
        await _require_room(ctx)
        await queries.update_member(ctx.tx, team.id, ctx.actor.user_id, membership_state=int(MembershipState.ACCEPTED))
    return await show_team(ctx, team)


async def change_role(ctx: Context, found: InTeam, user_id: UserId, role: TeamRole) -> TeamMember:
    """Give a member another role. Raises Refusal: 404/10013, 403/50013 for the owner's."""
    team = await _locked(ctx, found.team.id)
    member = await _find_member(ctx, team, user_id)
    if user_id == team.owner_user_id:
        raise Refusal(errors.MISSING_PERMISSIONS)
    await queries.update_member(ctx.tx, team.id, user_id, role=role.value)
    return (await _shown(ctx, [structs.replace(member, role=role.value)]))[0]


async def remove_member(ctx: Context, found: InTeam, user_id: UserId) -> None:
    """Let a member go, or go oneself. Raises Refusal: 404/10013, 403/50013 for the owner and by who may not."""
    team = await _locked(ctx, found.team.id)
    if user_id != ctx.actor.user_id and not found.manages:
        raise Refusal(errors.MISSING_PERMISSIONS)
    await _find_member(ctx, team, user_id)
    if user_id == team.owner_user_id:
        raise Refusal(errors.MISSING_PERMISSIONS)
    await queries.delete_member(ctx.tx, team.id, user_id)


async def show_team(ctx: Context, row: TeamRow) -> Team:
    """A team with its members."""
    return (await _with_members(ctx, [row]))[0]


async def show_teams(ctx: Context, rows: list[TeamRow]) -> list[Team]:
    """The same for several, with two queries."""
    return await _with_members(ctx, rows)


async def teams_by_id(ctx: Context, team_ids: Iterable[TeamId]) -> dict[TeamId, Team]:
    """Teams by id, with their members, in three queries; none for no ids."""
    rows = await queries.select_teams(ctx.tx, team_ids)
    return {team.id: team for team in await _with_members(ctx, rows)}


async def _with_members(ctx: Context, rows: list[TeamRow]) -> list[Team]:
    members = await _shown(ctx, await queries.select_members(ctx.tx, [row.id for row in rows]))
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


async def _shown(ctx: Context, rows: list[TeamMemberRow]) -> list[TeamMember]:
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


def _member(ctx: Context, team_id: TeamId, user_id: UserId, role: TeamRole, state: MembershipState) -> TeamMemberRow:
    return TeamMemberRow(team_id, user_id, int(state), role.value, ctx.now)


async def _find_member(ctx: Context, team: TeamRow, user_id: UserId) -> TeamMemberRow:
    member = await queries.select_member(ctx.tx, team.id, user_id)
    if member is None:
        raise Refusal(errors.UNKNOWN_USER)
    return member


async def _locked(ctx: Context, team_id: TeamId) -> TeamRow:
    team = await queries.lock_team(ctx.tx, team_id)
    if team is None:
        raise Refusal(errors.NOT_FOUND)
    return team


async def _require_room(ctx: Context) -> None:
    if await queries.count_of_user(ctx.tx, ctx.actor.user_id) >= limits.TEAMS_PER_PERSON:
        raise Refusal(errors.GENERAL_ERROR, message="Maximum number of teams reached")


def _name_of(text: str) -> str:
    name = clean_name(text)
    if not name:
        form_errors = FormErrors()
        form_errors.add("name", *FieldError.required())
        form_errors.raise_if_any()
    return name
