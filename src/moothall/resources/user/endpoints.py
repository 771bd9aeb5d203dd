"""Users over HTTP (resources: user)."""

from moothall.api.access import SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import get
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import UserId
from moothall.objects.user import CurrentUser, User
from moothall.resources.user import queries
from moothall.resources.user.objects import own_view


@get("/users/@me", permission=SIGNED_IN, scope="identify")
async def get_current_user(ctx: Context) -> CurrentUser:
    """Get the caller's account. An access token needs the email scope to read the email address."""
    row = await queries.select_user(ctx.tx, ctx.actor.user_id)
    if row is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    return own_view(row, ctx.actor)


@get("/users/{user_id}", permission=SIGNED_IN)
async def get_user(ctx: Context, user_id: UserId) -> User:
    """Get any user."""
    user = await queries.get_user(ctx.tx, user_id)
    if user is None:
        raise Refusal(errors.UNKNOWN_USER)
    return user
