"""Access to a user's role connection: access tokens of the application in the path."""

from moothall.api.access import Access, PathValues
from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.resources.application.access import find_application


class TokenOfApplication(Access):
    """An access token of the application `{application_id}`; the row names its scope."""

    label = "its access token"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Raises Refusal: 404/10002, 403/20012 for other callers."""
        row = await find_application(ctx, path["application_id"])
        if ctx.actor.kind is not TokenKind.BEARER or ctx.actor.application_id != row.id:
            raise Refusal(errors.NOT_APPLICATION_OWNER)


TOKEN_OF_APPLICATION = TokenOfApplication()
