"""The page of an invite: who invites to which guild or group, and a button to join."""

from typing import Final

from msgspec import UNSET
from starlette.responses import Response

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.objects.errors import Refusal
from moothall.objects.invite import Invite
from moothall.pages.page_request import PageRequest
from moothall.pages.rendering import render_error, render_page
from moothall.resources.group_dm.operations import ADD_RECIPIENT_EVENTS
from moothall.resources.guild.membership.operations import JOIN_EVENTS
from moothall.resources.invite import operations
from moothall.resources.invite.events import InviteDelete
from moothall.resources.invite.lookup import resolve_invite
from moothall.resources.member.events import GuildMemberUpdate

_FIRES: Final[Fires] = (*JOIN_EVENTS, *ADD_RECIPIENT_EVENTS, GuildMemberUpdate, InviteDelete)


async def show_invite(request: PageRequest) -> Response:
    """The invite of the path's code."""
    try:
        async with request.reading() as ctx:
            invite = await resolve_invite(ctx, request.path_params["code"], with_counts=True)
    except Refusal as refusal:
        return await _render_refusal(request, refusal)
    return await _render_invite(request, invite)


async def accept_invite(request: PageRequest) -> Response:
    """Join the guild or group of the invite."""
    request.require_login()
    await request.read_form()

    async def work(ctx: Context) -> Invite:
        return await operations.accept_invite(ctx, request.path_params["code"])

    try:
        invite = await request.run(work, fires=_FIRES)
    except Refusal as refusal:
        return await _render_refusal(request, refusal)
    return await _render_invite(request, invite, joined=True)


async def _render_invite(request: PageRequest, invite: Invite, *, joined: bool = False) -> Response:
    guild = None if invite.guild is UNSET else invite.guild
    channel = None if invite.channel is None or not invite.channel.name else invite.channel
    return await render_page(
        request,
        "invite.html",
        joined=joined,
        code=invite.code,
        guild=guild,
        channel=channel,
        inviter=None if invite.inviter is UNSET else invite.inviter,
        members=None if invite.approximate_member_count is UNSET else invite.approximate_member_count,
        application=None if invite.target_application is UNSET else invite.target_application,
        stream_of=None if invite.target_user is UNSET else invite.target_user,
    )


async def _render_refusal(request: PageRequest, refusal: Refusal) -> Response:
    if refusal.status == 404:
        title = request.gettext("This invite is not valid")
        return await render_error(request, 404, title, request.gettext("It may have expired, or been used up."))
    return await render_error(request, refusal.status, request.gettext("You cannot come in"), refusal.message)
