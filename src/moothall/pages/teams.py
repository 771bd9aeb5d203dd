"""Pages of developer teams: members, roles, invitations, applications."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.responses import Response

from moothall.api.context import Context
from moothall.api.request.body import body_reader
from moothall.objects.application import TeamRole
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, TeamId, UserId
from moothall.pages.developers import render_developers
from moothall.pages.forms import Form, parse_id
from moothall.pages.labels import TEAM_ROLE_LABELS
from moothall.pages.page_request import PageRequest
from moothall.pages.rendering import redirect, render_page
from moothall.pages.translations import translatable
from moothall.resources.application.queries import select_applications_of_teams
from moothall.resources.application.team import operations
from moothall.resources.application.team.access import (
    TEAM_ADMIN,
    TEAM_MEMBER_OR_INVITEE,
    TEAM_OWNER,
    TeamAccess,
    TeamMembership,
    requested_team,
)
from moothall.resources.application.team.objects import team_object
from moothall.resources.application.team.requests import AddTeamMember, CreateTeam, ModifyTeam, ModifyTeamMember

_CREATE: Final = body_reader(CreateTeam, optional=False)
_MODIFY: Final = body_reader(ModifyTeam, optional=True)
_ADD: Final = body_reader(AddTeamMember, optional=False)
_ROLE: Final = body_reader(ModifyTeamMember, optional=False)
_LEAVES_TEAM: Final = frozenset({"delete", "leave"})
"""Actions after which the caller cannot see the team any more."""
_ROLES: Final = {
    TeamRole.ADMIN.value: translatable("Admin: everything but ending the team"),
    TeamRole.DEVELOPER.value: translatable("Developer: changes apps and their secrets"),
    TeamRole.READ_ONLY.value: translatable("Reader: looks at apps"),
}

Action = Callable[[Context, TeamMembership, Form], Awaitable[Any]]


async def create_team(request: PageRequest) -> Response:
    """Create a team."""
    request.require_login()
    form = await request.read_form()

    async def work(ctx: Context) -> TeamId:
        return (await operations.create_team(ctx, _CREATE.from_plain({"name": form.text("team_name").strip()}))).id

    try:
        team_id = await request.run(work)
    except Refusal as refusal:
        return await render_developers(request, refusal, form, field="team_name")
    return redirect(f"/developers/teams/{int(team_id)}")


async def show_team(request: PageRequest) -> Response:
    """A team, with the actions that the user may take in it."""
    request.require_login()
    return await _render_team(request)


async def change_team(request: PageRequest) -> Response:
    """Take the action that the form names in its field `action`."""
    request.require_login()
    form = await request.read_form()
    name = form.text("action")
    if name not in _ACTIONS:
        return await _render_team(request)
    team_id = _team_id(request)
    access, action = _ACTIONS[name]

    async def work(ctx: Context) -> None:
        await access.check(ctx, {"team_id": team_id})
        await action(ctx, requested_team(ctx), form)

    try:
        await request.run(work)
    except Refusal as refusal:
        if refusal.status != 400:
            raise
        return await _render_team(request, refusal, form)
    return redirect("/developers" if name in _LEAVES_TEAM else f"/developers/teams/{int(team_id)}")


async def _rename_team(ctx: Context, caller: TeamMembership, form: Form) -> None:
    await operations.modify_team(ctx, caller, _MODIFY.from_plain({"name": form.text("name").strip()}))


async def _transfer_team(ctx: Context, caller: TeamMembership, form: Form) -> None:
    await operations.modify_team(ctx, caller, _MODIFY.from_plain({"owner_user_id": form.text("user_id")}))


async def _invite_member(ctx: Context, caller: TeamMembership, form: Form) -> None:
    body = _ADD.from_plain({"username": form.text("username").strip(), "role": form.text("role")})
    await operations.invite_member(ctx, caller, body)


async def _accept_invitation(ctx: Context, caller: TeamMembership, _form: Form) -> None:
    await operations.accept_invitation(ctx, caller)


async def _change_role(ctx: Context, caller: TeamMembership, form: Form) -> None:
    role = _ROLE.from_plain({"role": form.text("role")}).role
    await operations.modify_member_role(ctx, caller, _member_id(form), role)


async def _remove_member(ctx: Context, caller: TeamMembership, form: Form) -> None:
    await operations.remove_member(ctx, caller, _member_id(form))


async def _leave_team(ctx: Context, caller: TeamMembership, _form: Form) -> None:
    await operations.remove_member(ctx, caller, ctx.actor.user_id)


async def _delete_team(ctx: Context, caller: TeamMembership, _form: Form) -> None:
    await operations.delete_team(ctx, caller)


_ACTIONS: Final[dict[str, tuple[TeamAccess, Action]]] = {
    "rename": (TEAM_ADMIN, _rename_team),
    "give": (TEAM_OWNER, _transfer_team),
    "invite": (TEAM_ADMIN, _invite_member),
    "accept": (TEAM_MEMBER_OR_INVITEE, _accept_invitation),
    "role": (TEAM_ADMIN, _change_role),
    "remove": (TEAM_ADMIN, _remove_member),
    "leave": (TEAM_MEMBER_OR_INVITEE, _leave_team),
    "delete": (TEAM_OWNER, _delete_team),
}


async def _render_team(request: PageRequest, refusal: Refusal | None = None, form: Form | None = None) -> Response:
    async with request.reading() as ctx:
        await TEAM_MEMBER_OR_INVITEE.check(ctx, {"team_id": _team_id(request)})
        caller = requested_team(ctx)
        team = await team_object(ctx, caller.team)
        accepted = caller.has_role(*TeamRole)
        applications = await select_applications_of_teams(ctx.tx, [team.id]) if accepted else []
    return await render_page(
        request,
        "team.html",
        refusal=refusal,
        team=team,
        accepted=accepted,
        manages=accepted and caller.can_manage,
        owns=caller.is_owner,
        my_id=request.actor.user_id,
        roles={role: request.gettext(words) for role, words in _ROLES.items()},
        role_labels={role: request.gettext(words) for role, words in TEAM_ROLE_LABELS.items()},
        applications=applications,
        values={name: "" if form is None else form.text(name) for name in ("username", "role")},
    )


def _team_id(request: PageRequest) -> TeamId:
    return TeamId(parse_id(request.path_params["team_id"]))


def _member_id(form: Form) -> UserId:
    return UserId(Snowflake(form.integer("user_id") or 0))
