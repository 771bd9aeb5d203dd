"""Who may look at an application from the inside, and change it."""

from collections.abc import Mapping
from typing import Any

from moothall.kernel.access import Access
from moothall.kernel.authenticate import TokenKind
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId
from moothall.resources.application.queries import ApplicationRow, select_application


class OwnsApplication(Access):
    """The person to whom the application `{application_id}` belongs; with `or_bot` also its own bot."""

    def __init__(self, *, or_bot: bool) -> None:
        self.label = "application owner|its bot" if or_bot else "application owner"
        self._or_bot = or_bot

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Look the application up. Raises Refusal: 404/10002, 403/20012."""
        row = await find_application(ctx, path["application_id"])
        owns = ctx.actor.kind is TokenKind.SESSION and ctx.actor.user_id == row.owner_id
        if not owns and not (self._or_bot and ctx.actor.bot and ctx.actor.application_id == row.id):
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


class Person(Access):
    """A person with a session of their own."""

    label = "person"

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:  # noqa: ARG002 any path
        """Raises Refusal: 403/20001 for bots."""
        if ctx.actor.kind is not TokenKind.SESSION:
            raise Refusal(errors.BOTS_CANNOT_USE)


OWNER = OwnsApplication(or_bot=False)
OWNER_OR_BOT = OwnsApplication(or_bot=True)
OWN_BOT = OwnBot()
PERSON = Person()


async def find_application(ctx: Context, application_id: ApplicationId) -> ApplicationRow:
    """An application. Raises Refusal: 404/10002."""
    row = await select_application(ctx.tx, application_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    return row


def application_of(ctx: Context) -> ApplicationRow:
    """The application that a row's access has looked up."""
    found: ApplicationRow = ctx.subject
    return found
