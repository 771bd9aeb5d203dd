"""Access to applications: their owners, team members and bots."""

from moothall.api.access import Access, PathValues
from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.application import MembershipState, TeamRole
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId
from moothall.resources.application.queries import ApplicationRow, select_application
from moothall.resources.application.team.queries import select_member


class OwnsApplication(Access):
    """The owner of the application `{application_id}`, and members of its team with a managing role.

    With `or_bot` also its own bot, with `read_only` also team members with the role READ_ONLY. Loads
    the application's row.
    """

    def __init__(self, *, or_bot: bool, read_only: bool = False) -> None:
        self.label = "application owner|its bot" if or_bot else "application owner"
        self._or_bot = or_bot
        self._reads = read_only

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Load the application. Raises Refusal: 404/10002, 403/20012."""
        row = await find_application(ctx, path["application_id"])
        if ctx.actor.bot:
            allowed = self._or_bot and ctx.actor.application_id == row.id
        else:
            allowed = ctx.actor.kind is TokenKind.SESSION and await can_manage_application(
                ctx, row, read_only=self._reads
            )
        if not allowed:
            raise Refusal(errors.NOT_APPLICATION_OWNER)
        ctx.set_resource(row)


class OwnBot(Access):
    """A bot. Loads the row of its application."""

    label = "bot"

    async def check(self, ctx: Context, path: PathValues) -> None:  # noqa: ARG002 it names no application
        """Load the bot's application. Raises Refusal: 403/20002 for users that are no bots."""
        if not ctx.actor.bot or ctx.actor.application_id is None:
            raise Refusal(errors.ONLY_BOTS_CAN_USE)
        ctx.set_resource(await find_application(ctx, ctx.actor.application_id))


class BotOfApplication(Access):
    """The bot of the application `{application_id}`."""

    label = "its bot"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Raises Refusal: 403/20002 for users that are no bots, 403/20012 for other bots."""
        if not ctx.actor.bot:
            raise Refusal(errors.ONLY_BOTS_CAN_USE)
        if ctx.actor.application_id != path["application_id"]:
            raise Refusal(errors.NOT_APPLICATION_OWNER)


OWNER = OwnsApplication(or_bot=False)
OWNER_OR_BOT = OwnsApplication(or_bot=True)
READER = OwnsApplication(or_bot=False, read_only=True)
READER_OR_BOT = OwnsApplication(or_bot=True, read_only=True)
OWN_BOT = OwnBot()
BOT_OF_APPLICATION = BotOfApplication()

_MANAGING_ROLES = (TeamRole.ADMIN, TeamRole.DEVELOPER)


async def find_application(ctx: Context, application_id: ApplicationId) -> ApplicationRow:
    """The row of an application. Raises Refusal: 404/10002."""
    row = await select_application(ctx.tx, application_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    return row


async def can_manage_application(ctx: Context, row: ApplicationRow, *, read_only: bool = False) -> bool:
    """Whether the caller may manage an application as its owner or in its team; with `read_only`, may read it."""
    if row.owner_id == ctx.actor.user_id:
        return True
    if row.team_id is None:
        return False
    member = await select_member(ctx.tx, row.team_id, ctx.actor.user_id)
    return (
        member is not None
        and member.membership_state == MembershipState.ACCEPTED
        and (read_only or member.role in _MANAGING_ROLES)
    )


def requested_application(ctx: Context) -> ApplicationRow:
    """The application that the row's access check has loaded."""
    return ctx.resource(ApplicationRow)
