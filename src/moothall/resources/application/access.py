"""Who may look at an application from the inside, and change it."""

from collections.abc import Mapping
from typing import Any

from moothall.kernel.access import Access
from moothall.kernel.authenticate import TokenKind
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.application import MembershipState, TeamRole
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId
from moothall.resources.application.queries import ApplicationRow, select_application
from moothall.resources.application.team.queries import select_member


class OwnsApplication(Access):
    """Those to whom the application `{application_id}` belongs; with `or_bot` also its own bot.

    Of a team's application that is who belongs to the team and is more than a reader; with `reads` readers too.
    """

    def __init__(self, *, or_bot: bool, reads: bool = False) -> None:
        self.label = "application owner|its bot" if or_bot else "application owner"
        self._or_bot = or_bot
        self._reads = reads

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Look the application up. Raises Refusal: 404/10002, 403/20012."""
        row = await find_application(ctx, path["application_id"])
        if ctx.actor.bot:
            allowed = self._or_bot and ctx.actor.application_id == row.id
        else:
            allowed = ctx.actor.kind is TokenKind.SESSION and await is_owner(ctx, row, reads=self._reads)
        if not allowed:
            raise Refusal(errors.NOT_APPLICATION_OWNER)
        ctx.subject = row


class OwnBot(Access):
    """A bot, for its own application."""

    label = "bot"

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:  # noqa: ARG002 it names no application
        """Look the bot's application up. Raises Refusal: 403/20002 for people."""
        if not ctx.actor.bot or ctx.actor.application_id is None:
            raise Refusal(errors.ONLY_BOTS_CAN_USE)
        ctx.subject = await find_application(ctx, ctx.actor.application_id)


OWNER = OwnsApplication(or_bot=False)
OWNER_OR_BOT = OwnsApplication(or_bot=True)
READER_OR_BOT = OwnsApplication(or_bot=True, reads=True)
OWN_BOT = OwnBot()

_MANAGERS = (TeamRole.ADMIN, TeamRole.DEVELOPER)


async def find_application(ctx: Context, application_id: ApplicationId) -> ApplicationRow:
    """An application. Raises Refusal: 404/10002."""
    row = await select_application(ctx.tx, application_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    return row


async def is_owner(ctx: Context, row: ApplicationRow, *, reads: bool = False) -> bool:
    """Whether an application is the caller's to manage, or with `reads` to look at: alone or in its team."""
    if row.owner_id == ctx.actor.user_id:
        return True
    if row.team_id is None:
        return False
    member = await select_member(ctx.tx, row.team_id, ctx.actor.user_id)
    return (
        member is not None
        and member.membership_state == MembershipState.ACCEPTED
        and (reads or member.role in _MANAGERS)
    )


def application_of(ctx: Context) -> ApplicationRow:
    """The application that a row's access has looked up."""
    found: ApplicationRow = ctx.subject
    return found
