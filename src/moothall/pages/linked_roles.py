"""The page of a guild's linked roles: what each requires, where to prove it, and buttons to claim it or give it up."""

from typing import Final

from msgspec import UNSET, Struct
from starlette.responses import Response

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, RoleId
from moothall.objects.role_connection import CheckedRequirement, MetadataType, RoleConnectionApplication
from moothall.pages.forms import parse_id
from moothall.pages.labels import Gettext
from moothall.pages.page_request import PageRequest
from moothall.pages.rendering import redirect, render_page
from moothall.pages.translations import translatable
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.queries import get_member
from moothall.resources.role_connection.operations.linked_roles import (
    check_eligibility,
    claim_role,
    list_linked_roles,
    unclaim_role,
)

_FIRES: Final[Fires] = (GuildMemberUpdate,)
_COMPARISONS: Final = {
    MetadataType.INTEGER_LESS_THAN_OR_EQUAL: translatable("at most {}"),
    MetadataType.INTEGER_GREATER_THAN_OR_EQUAL: translatable("at least {}"),
    MetadataType.INTEGER_EQUAL: translatable("exactly {}"),
    MetadataType.INTEGER_NOT_EQUAL: translatable("not {}"),
    MetadataType.DATETIME_LESS_THAN_OR_EQUAL: translatable("at least {} days ago"),
    MetadataType.DATETIME_GREATER_THAN_OR_EQUAL: translatable("at most {} days ago"),
    MetadataType.BOOLEAN_EQUAL: translatable("yes"),
    MetadataType.BOOLEAN_NOT_EQUAL: translatable("no"),
}


class ShownRule(Struct):
    """The requirements of one rule in words, each with whether the user meets it."""

    requirements: list[tuple[str, bool]]

    @property
    def is_met(self) -> bool:
        """Whether the user meets all of them."""
        return all(met for _, met in self.requirements)


class ShownRole(Struct):
    """A linked role as the page shows it."""

    id: RoleId
    name: str
    rules: list[ShownRule]
    applications: list[RoleConnectionApplication]
    is_claimed: bool

    @property
    def is_claimable(self) -> bool:
        """Whether the user meets any rule."""
        return any(rule.is_met for rule in self.rules)


async def show_linked_roles(request: PageRequest) -> Response:
    """The linked roles of a guild that the user is a member of."""
    request.require_login()
    return await _render_linked_roles(request)


async def change_linked_role(request: PageRequest) -> Response:
    """Claim the role in the form, or give it up."""
    request.require_login()
    form = await request.read_form()
    guild_id, role_id = _guild_id(request), RoleId(parse_id(form.text("role_id")))
    change = unclaim_role if form.text("action") == "unassign" else claim_role

    async def work(ctx: Context) -> None:
        await ctx.enter_guild(guild_id)
        await change(ctx, role_id)

    try:
        await request.run(work, fires=_FIRES, lock=guild_id)
    except Refusal as refusal:
        if refusal.status == 404:
            raise
        return await _render_linked_roles(request, refusal)
    return redirect(f"/linked-roles/{int(guild_id)}")


async def _render_linked_roles(request: PageRequest, refusal: Refusal | None = None) -> Response:
    async with request.reading() as ctx:
        await ctx.enter_guild(_guild_id(request))
        member = await get_member(ctx.tx, ctx.guild.id, ctx.actor.user_id)
        claimed = set() if member is None else set(member.roles)
        roles = [
            ShownRole(
                id=linked.role_id,
                name=ctx.guild.roles[linked.role_id].name,
                rules=[
                    ShownRule([(_requirement_text(each, request.gettext), each.result) for each in rule])
                    for rule in await check_eligibility(ctx, linked.role_id)
                ],
                applications=list(linked.applications.values()),
                is_claimed=linked.role_id in claimed,
            )
            for linked in await list_linked_roles(ctx)
        ]
        guild_name = ctx.guild.row.name
    return await render_page(
        request,
        "linked_roles.html",
        refusal=refusal,
        guild_id=_guild_id(request),
        guild_name=guild_name,
        roles=roles,
    )


def _requirement_text(requirement: CheckedRequirement, gettext: Gettext) -> str:
    """A requirement in words, such as "Wins: at least 5"."""
    application = gettext("a deleted app") if requirement.application is None else requirement.application.name
    if requirement.operator is None:
        return gettext("An account at {application}").format(application=application)
    name = requirement.connection_metadata_field if requirement.name is UNSET else requirement.name
    return f"{name}: {gettext(_COMPARISONS[requirement.operator]).format(requirement.value)} ({application})"


def _guild_id(request: PageRequest) -> GuildId:
    return GuildId(parse_id(request.path_params["guild_id"]))
