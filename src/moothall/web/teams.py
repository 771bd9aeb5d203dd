"""Teams of developers: who belongs to one, and what they own."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from moothall.kernel.body import body_reader
from moothall.kernel.context import Context
from moothall.objects.application import TeamRole
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, TeamId, UserId
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
from moothall.web.browsing import Browser, Form, Page, read_id, redirect
from moothall.web.developers import show_corner
from moothall.web.rendering import errors_of, show

_CREATE: Final = body_reader(CreateTeam, optional=False)
_MODIFY: Final = body_reader(ModifyTeam, optional=True)
_ADD: Final = body_reader(AddTeamMember, optional=False)
_ROLE: Final = body_reader(ModifyTeamMember, optional=False)
_ENDS: Final = frozenset({"delete", "leave"})
_ROLES: Final = {
    TeamRole.ADMIN.value: "Admin: everything but ending the team",
    TeamRole.DEVELOPER.value: "Developer: changes apps and their secrets",
    TeamRole.READ_ONLY.value: "Reader: looks at apps",
}

Action = Callable[[Context, TeamMembership, Form], Awaitable[Any]]


async def create(browser: Browser) -> Page:
    """Make a team."""
    browser.require_person()
    form = await browser.form()

    async def work(ctx: Context) -> TeamId:
        return (await operations.create_team(ctx, _CREATE.from_plain({"name": form.text("team_name").strip()}))).id

    try:
        team_id = await browser.run(work)
    except Refusal as refusal:
        return await show_corner(browser, refusal, form, field="team_name")
    return redirect(f"/developers/teams/{int(team_id)}")


async def show_team(browser: Browser, team_id: str) -> Page:
    """A team, with what the person may do in it."""
    browser.require_person()
    return await _show(browser, team_id)


async def change(browser: Browser, team_id: str) -> Page:
    """Do what the button of a form says."""
    browser.require_person()
    form = await browser.form()
    name = form.text("action")
    if name not in _ACTIONS:
        return await _show(browser, team_id)
    access, action = _ACTIONS[name]

    async def work(ctx: Context) -> None:
        await access.check(ctx, {"team_id": _id(team_id)})
        await action(ctx, requested_team(ctx), form)

    try:
        await browser.run(work)
    except Refusal as refusal:
        if refusal.status != 400:
            raise
        return await _show(browser, team_id, refusal, form)
    return redirect("/developers" if name in _ENDS else f"/developers/teams/{int(team_id)}")


async def _rename(ctx: Context, found: TeamMembership, form: Form) -> None:
    await operations.modify_team(ctx, found, _MODIFY.from_plain({"name": form.text("name").strip()}))


async def _give_away(ctx: Context, found: TeamMembership, form: Form) -> None:
    await operations.modify_team(ctx, found, _MODIFY.from_plain({"owner_user_id": form.text("user_id")}))


async def _invite(ctx: Context, found: TeamMembership, form: Form) -> None:
    body = _ADD.from_plain({"username": form.text("username").strip(), "role": form.text("role")})
    await operations.invite_member(ctx, found, body)


async def _accept(ctx: Context, found: TeamMembership, _form: Form) -> None:
    await operations.accept_invitation(ctx, found)


async def _change_role(ctx: Context, found: TeamMembership, form: Form) -> None:
    role = _ROLE.from_plain({"role": form.text("role")}).role
    await operations.modify_member_role(ctx, found, _member(form), role)


async def _remove(ctx: Context, found: TeamMembership, form: Form) -> None:
    await operations.remove_member(ctx, found, _member(form))


async def _leave(ctx: Context, found: TeamMembership, _form: Form) -> None:
    await operations.remove_member(ctx, found, ctx.actor.user_id)


async def _delete(ctx: Context, found: TeamMembership, _form: Form) -> None:
    await operations.delete_team(ctx, found)


_ACTIONS: Final[dict[str, tuple[TeamAccess, Action]]] = {
    "rename": (TEAM_ADMIN, _rename),
    "give": (TEAM_OWNER, _give_away),
    "invite": (TEAM_ADMIN, _invite),
    "accept": (TEAM_MEMBER_OR_INVITEE, _accept),
    "role": (TEAM_ADMIN, _change_role),
    "remove": (TEAM_ADMIN, _remove),
    "leave": (TEAM_MEMBER_OR_INVITEE, _leave),
    "delete": (TEAM_OWNER, _delete),
}


async def _show(browser: Browser, team_id: str, refusal: Refusal | None = None, form: Form | None = None) -> Page:
    async with browser.reading() as ctx:
        await TEAM_MEMBER_OR_INVITEE.check(ctx, {"team_id": _id(team_id)})
        found = requested_team(ctx)
        team = await team_object(ctx, found.team)
        accepted = found.has_role(*TeamRole)
        applications = await select_applications_of_teams(ctx.tx, [team.id]) if accepted else []
    wrong = {} if refusal is None else errors_of(refusal)
    return await show(
        browser,
        "team.html",
        status=200 if refusal is None else refusal.status,
        team=team,
        accepted=accepted,
        manages=accepted and found.can_manage,
        owns=found.is_owner,
        my_id=browser.actor.user_id,
        roles=_ROLES,
        applications=applications,
        given={name: "" if form is None else form.text(name) for name in ("username", "role")},
        errors=wrong,
        problem=None if refusal is None or wrong else refusal.message,
    )


def _id(text: str) -> TeamId:
    return TeamId(read_id(text))


def _member(form: Form) -> UserId:
    return UserId(Snowflake(form.whole("user_id") or 0))
