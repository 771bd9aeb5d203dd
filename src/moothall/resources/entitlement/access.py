"""Access to the entitlements of an application, and to a user's own."""

from moothall.api.access import Access, PathValues
from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.resources.application.access import can_manage_application, find_application


class ManagesEntitlements(Access):
    """The application's bot, or a user who manages it, also by an access token of it whose scope the row names.

    Loads the application's row.
    """

    label = "application owner|its bot"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Raises Refusal: 404/10002, 403/20012."""
        row = await find_application(ctx, path["application_id"])
        own = ctx.actor.application_id == row.id
        if ctx.actor.bot:
            allowed = own
        else:
            allowed = (own or ctx.actor.kind is TokenKind.SESSION) and await can_manage_application(ctx, row)
        if not allowed:
            raise Refusal(errors.NOT_APPLICATION_OWNER)
        ctx.set_resource(row)


class OwnEntitlements(Access):
    """A user, also by an access token of the application."""

    label = "person|its access token"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Raises Refusal: 404/10002, 403/20001 for bots, 403/20012 for tokens of other applications."""
        row = await find_application(ctx, path["application_id"])
        if ctx.actor.bot:
            raise Refusal(errors.BOTS_CANNOT_USE)
        if ctx.actor.kind is TokenKind.BEARER and ctx.actor.application_id != row.id:
            raise Refusal(errors.NOT_APPLICATION_OWNER)


MANAGES_ENTITLEMENTS = ManagesEntitlements()
OWN_ENTITLEMENTS = OwnEntitlements()
