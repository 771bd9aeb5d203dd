"""The caller's authorizations over HTTP (the usual clients' paths): listing and revoking them."""

from msgspec import Struct

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import delete, get
from moothall.objects import errors
from moothall.objects.application import Application
from moothall.objects.errors import Refusal
from moothall.objects.ids import AuthorizationId, UserId
from moothall.resources.application.authorization import operations, queries
from moothall.resources.application.objects import public_fields
from moothall.resources.application.queries import select_applications
from moothall.resources.user.queries import get_users


class Authorization(Struct, frozen=True, kw_only=True):
    """An application that the user has authorized, with the scopes granted."""

    id: AuthorizationId
    scopes: list[str]
    user_install: bool
    """Whether its commands are installed to the user's account."""
    application: Application


@get("/oauth2/tokens", permission=PERSON)
async def list_authorizations(ctx: Context) -> list[Authorization]:
    """List the applications that the caller has authorized, oldest first."""
    rows = await queries.select_of_user(ctx.tx, ctx.actor.user_id)
    applications = await select_applications(ctx.tx, [row.application_id for row in rows])
    bots = await get_users(ctx.tx, [UserId(row.application_id) for row in rows])
    return [
        Authorization(
            id=row.id,
            scopes=row.scopes.split(),
            user_install=row.user_install,
            application=Application(**public_fields(application, bots.get(UserId(row.application_id)))),
        )
        for row in rows
        if (application := applications.get(row.application_id)) is not None
    ]


@delete("/oauth2/tokens/{authorization_id}", permission=PERSON)
async def revoke_authorization(ctx: Context, authorization_id: AuthorizationId) -> None:
    """Revoke an authorization: delete its tokens, and uninstall the application from the account."""
    row = await queries.select_by_id(ctx.tx, ctx.actor.user_id, authorization_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_TOKEN)
    await operations.revoke(ctx, row)
