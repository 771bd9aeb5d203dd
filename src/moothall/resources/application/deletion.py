"""Deleting an application: its tokens first, then its bot's memberships, then itself.

What is interrupted is finished by asking again.
"""

from functools import partial
from typing import Final

from moothall.kernel import unit_of_work
from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires, Hook
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, UserId
from moothall.objects.text import search_key
from moothall.resources.application import queries
from moothall.resources.application.authorization.queries import delete_of_application
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.queries import update_user

APPLICATION_DELETING: Final = Hook[[Context, ApplicationId], None]("application deleting")
"""What else ends in the transaction that ends an application's tokens."""
APPLICATION_LEAVING: Final = Hook[[Context, UserId], None]("application leaving")
"""How an application's bot leaves its guilds, afterwards and outside a transaction."""
DELETING: Final[Fires] = (SessionsClose, APPLICATION_DELETING, APPLICATION_LEAVING)
"""What a row declares to fire if it may delete an application."""

_NAME: Final = "Deleted User"


async def delete_application(ctx: Context, application: ApplicationRow) -> None:
    """Delete an application with its bot, which leaves every guild; what the bot has written stays.

    Runs outside a transaction. Raises Refusal: 400/50055 while the bot owns a guild.
    """
    bot_id = UserId(application.id) if application.bot_user_id is None else application.bot_user_id
    if await queries.owns_guild(ctx.tx, bot_id):
        raise Refusal(errors.INVALID_GUILD)
    services = ctx.services
    await unit_of_work.run(services, ctx.actor, partial(_end_tokens, application, bot_id), fires=DELETING)
    await APPLICATION_LEAVING(ctx, bot_id)
    await unit_of_work.run(services, ctx.actor, partial(_delete_rows, application, bot_id), fires=DELETING)


async def _end_tokens(application: ApplicationRow, bot_id: UserId, ctx: Context) -> None:
    await queries.delete_tokens_of(ctx.tx, application.id)
    await delete_of_application(ctx.tx, application.id)
    await APPLICATION_DELETING(ctx, application.id)
    ctx.emit(SessionsClose(user_id=bot_id))


async def _delete_rows(application: ApplicationRow, bot_id: UserId, ctx: Context) -> None:
    # The account stays as a name for what it has written.
    await update_user(
        ctx.tx,
        bot_id,
        username=_NAME,
        username_key=search_key(_NAME),
        global_name=None,
        avatar=None,
        banner=None,
        bio="",
        application_id=None,
        deleted=True,
    )
    await queries.delete_application(ctx.tx, application.id)
