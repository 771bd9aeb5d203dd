"""Creating, modifying and deleting teams, and managing their members."""

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.application import MembershipState, Team, TeamMember, TeamRole
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import TeamId, UserId
from moothall.objects.text import clean_name, search_key
from moothall.resources.application.team import queries
from moothall.resources.application.team.access import TeamMembership
from moothall.resources.application.team.objects import member_objects, team_object
from moothall.resources.application.team.queries import TeamMemberRow, TeamRow
from moothall.resources.application.team.requests import AddTeamMember, CreateTeam, ModifyTeam
from moothall.resources.user.queries import lock_user, select_by_username


async def create_team(ctx: Context, body: CreateTeam) -> Team:
    """Create a team, owned by the caller. Raises Refusal: 400 for a caller in `TEAMS_PER_PERSON` teams."""
    await _require_team_capacity(ctx)
    name = _clean_team_name(body.name)
    row = TeamRow(
        id=TeamId(ctx.ids.next()),
        name=name,
        icon=None if body.icon is UNSET or body.icon is None else body.icon.hash,
        owner_user_id=ctx.actor.user_id,
        created_at=ctx.now,
    )
    await queries.insert_team(ctx.tx, row)
    await queries.insert_member(
        ctx.tx, _member_row(ctx, row.id, ctx.actor.user_id, TeamRole.ADMIN, MembershipState.ACCEPTED)
    )
    return await team_object(ctx, row)


async def modify_team(ctx: Context, membership: TeamMembership, body: ModifyTeam) -> Team:
    """Change a team, or transfer it with its applications to another member.

    Raises Refusal: 403/50013 for a transfer by another user than the owner, 50035 for a new owner who has not joined.
    """
    team = await _lock_team(ctx, membership.team.id)
    changes: dict[str, object] = {}
    if body.name is not UNSET:
        changes["name"] = _clean_team_name(body.name)
    if body.icon is not UNSET:
        changes["icon"] = None if body.icon is None else body.icon.hash
    if body.owner_user_id is not UNSET and body.owner_user_id != team.owner_user_id:
        if team.owner_user_id != ctx.actor.user_id:
            raise Refusal(errors.MISSING_PERMISSIONS)
        new_owner = await queries.select_member(ctx.tx, team.id, body.owner_user_id)
        if new_owner is None or new_owner.membership_state != MembershipState.ACCEPTED:
            refuse_field("owner_user_id", FormCode.BASE_TYPE_CHOICES, "They do not belong to the team.")
        changes["owner_user_id"] = new_owner.user_id
        await queries.update_member(ctx.tx, team.id, new_owner.user_id, role=TeamRole.ADMIN.value)
        await queries.update_applications_owner(ctx.tx, team.id, new_owner.user_id)
    if changes:
        await queries.update_team(ctx.tx, team.id, **changes)
    return await team_object(ctx, structs.replace(team, **changes))


async def delete_team(ctx: Context, membership: TeamMembership) -> None:
    """Delete a team. Raises Refusal: 400 while it owns applications."""
    team = await _lock_team(ctx, membership.team.id)
    if await queries.count_applications(ctx.tx, team.id):
        raise Refusal(errors.GENERAL_ERROR, message="The team still owns applications.")
    await queries.delete_team(ctx.tx, team.id)


async def invite_member(ctx: Context, membership: TeamMembership, body: AddTeamMember) -> TeamMember:
    """Invite a user to a team by username.

    Raises Refusal: 50035 for an unknown username, a member or invited user, or a team with `TEAM_MEMBERS_MAX` members.
    """
    team = await _lock_team(ctx, membership.team.id)
    user = await select_by_username(ctx.tx, search_key(body.username.strip().removeprefix("@")))
    if user is None or user.system:
        refuse_field("username", "USER_NOT_FOUND", "No user has this username.")
    if await queries.select_member(ctx.tx, team.id, user.id) is not None:
        refuse_field("username", "USER_ALREADY_IN_TEAM", "They belong to the team, or are invited to it, already.")
    if await queries.count_members(ctx.tx, team.id) >= limits.TEAM_MEMBERS_MAX:
        refuse_field(
            "username", FormCode.BASE_TYPE_MAX_LENGTH, f"A team has at most {limits.TEAM_MEMBERS_MAX} members."
        )
    row = _member_row(ctx, team.id, user.id, body.role, MembershipState.INVITED)
    await queries.insert_member(ctx.tx, row)
    return (await member_objects(ctx, [row]))[0]


async def accept_invitation(ctx: Context, membership: TeamMembership) -> Team:
    """Join a team that the caller is invited to. A second call changes nothing.

    Raises Refusal: 404 without an invitation, 400 for a caller in `TEAMS_PER_PERSON` teams.
    """
    team = await _lock_team(ctx, membership.team.id)
    member = await queries.select_member(ctx.tx, team.id, ctx.actor.user_id)
    if member is None:
        raise Refusal(errors.NOT_FOUND)
    if member.membership_state != MembershipState.ACCEPTED:
        await _require_team_capacity(ctx)
        await queries.update_member(ctx.tx, team.id, ctx.actor.user_id, membership_state=int(MembershipState.ACCEPTED))
    return await team_object(ctx, team)


async def modify_member_role(ctx: Context, membership: TeamMembership, user_id: UserId, role: TeamRole) -> TeamMember:
    """Change the role of a member. Raises Refusal: 404/10013 for another user, 403/50013 for the owner."""
    team = await _lock_team(ctx, membership.team.id)
    member = await _find_member(ctx, team, user_id)
    if user_id == team.owner_user_id:
        raise Refusal(errors.MISSING_PERMISSIONS)
    await queries.update_member(ctx.tx, team.id, user_id, role=role.value)
    return (await member_objects(ctx, [structs.replace(member, role=role.value)]))[0]


async def remove_member(ctx: Context, membership: TeamMembership, user_id: UserId) -> None:
    """Remove a member, or leave the team as a member.

    Raises Refusal: 404/10013 for another user, 403/50013 for the owner or by a caller who may not manage the team.
    """
    team = await _lock_team(ctx, membership.team.id)
    if user_id != ctx.actor.user_id and not membership.can_manage:
        raise Refusal(errors.MISSING_PERMISSIONS)
    await _find_member(ctx, team, user_id)
    if user_id == team.owner_user_id:
        raise Refusal(errors.MISSING_PERMISSIONS)
    await queries.delete_member(ctx.tx, team.id, user_id)


def _member_row(
    ctx: Context, team_id: TeamId, user_id: UserId, role: TeamRole, state: MembershipState
) -> TeamMemberRow:
    return TeamMemberRow(team_id, user_id, int(state), role.value, ctx.now)


async def _find_member(ctx: Context, team: TeamRow, user_id: UserId) -> TeamMemberRow:
    member = await queries.select_member(ctx.tx, team.id, user_id)
    if member is None:
        raise Refusal(errors.UNKNOWN_USER)
    return member


async def _lock_team(ctx: Context, team_id: TeamId) -> TeamRow:
    team = await queries.lock_team(ctx.tx, team_id)
    if team is None:
        raise Refusal(errors.NOT_FOUND)
    return team


async def _require_team_capacity(ctx: Context) -> None:
    await lock_user(ctx.tx, ctx.actor.user_id)
    if await queries.count_teams_of_user(ctx.tx, ctx.actor.user_id) >= limits.TEAMS_PER_PERSON:
        raise Refusal(errors.GENERAL_ERROR, message="Maximum number of teams reached")


def _clean_team_name(text: str) -> str:
    name = clean_name(text)
    if not name:
        form_errors = FormErrors()
        form_errors.add("name", *FieldError.required())
        form_errors.raise_if_any()
    return name
