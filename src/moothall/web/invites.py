"""The page that an invite's link opens: where it leads, and the way in."""

from typing import Final

from msgspec import UNSET

from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires
from moothall.objects.errors import Refusal
from moothall.objects.invite import Invite
from moothall.resources.group_dm.operations import ADD_RECIPIENT_EVENTS
from moothall.resources.guild.membership.operations import JOIN_EVENTS
from moothall.resources.invite import operations
from moothall.resources.invite.events import InviteDelete
from moothall.resources.invite.lookup import resolve_invite
from moothall.resources.member.events import GuildMemberUpdate
from moothall.web.browsing import Browser, Page
from moothall.web.rendering import show, show_problem

_FIRES: Final[Fires] = (*JOIN_EVENTS, *ADD_RECIPIENT_EVENTS, GuildMemberUpdate, InviteDelete)


async def show_invite(browser: Browser, code: str) -> Page:
    """Who invites, and where."""
    try:
        async with browser.reading() as ctx:
            invite = await resolve_invite(ctx, code, with_counts=True)
    except Refusal as refusal:
        return await _gone(browser, refusal)
    return await _show(browser, invite)


async def accept(browser: Browser, code: str) -> Page:
    """Come in."""
    browser.require_person()
    await browser.form()

    async def work(ctx: Context) -> Invite:
        return await operations.accept_invite(ctx, code)

    try:
        invite = await browser.run(work, fires=_FIRES)
    except Refusal as refusal:
        return await _gone(browser, refusal)
    return await _show(browser, invite, joined=True)


async def _show(browser: Browser, invite: Invite, *, joined: bool = False) -> Page:
    guild = None if invite.guild is UNSET else invite.guild
    channel = None if invite.channel is None or not invite.channel.name else invite.channel
    return await show(
        browser,
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


async def _gone(browser: Browser, refusal: Refusal) -> Page:
    title = "This invite is not valid" if refusal.status == 404 else "You cannot come in"
    message = "It may have expired, or been used up." if refusal.status == 404 else refusal.message
    return await show_problem(browser, refusal.status, title, message)
