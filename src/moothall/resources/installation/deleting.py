"""The end of an application: its tokens first, then its bot out of every guild, then itself.

Each guild is changed in a transaction of its own, under its own lock, so that a bot of a thousand
guilds holds up none of them. What is interrupted is finished by asking again.
"""

from functools import partial
from typing import Final

from moothall.kernel import unit
from moothall.kernel.authenticate import NOBODY
from moothall.kernel.context import Context
from moothall.kernel.events import Event
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, UserId
from moothall.objects.text import search_key
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.authorization.queries import delete_of_application
from moothall.resources.command import queries as commands
from moothall.resources.installation import queries
from moothall.resources.installation.operations import ENDING
from moothall.resources.member.queries import select_guild_ids
from moothall.resources.membership.operations import remove_member
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.queries import get_user, update_user

DELETING: Final[tuple[type[Event], ...]] = (*ENDING, SessionsClose)
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
    await unit.run(services, ctx.actor, partial(_shut_out, application, bot_id), fires=DELETING)
    for guild_id in await select_guild_ids(ctx.tx, bot_id):
        await unit.run(services, NOBODY, partial(_leave, guild_id, bot_id), fires=DELETING, lock=guild_id)
    await unit.run(services, ctx.actor, partial(_forget, application, bot_id), fires=DELETING)


async def _shut_out(application: ApplicationRow, bot_id: UserId, ctx: Context) -> None:
    await queries.delete_tokens_of(ctx.tx, application.id)
    await delete_of_application(ctx.tx, application.id)
    await commands.delete_of_application(ctx.tx, application.id)
    ctx.emit(SessionsClose(user_id=bot_id))


async def _leave(guild_id: GuildId, bot_id: UserId, ctx: Context) -> None:
    bot = await get_user(ctx.tx, bot_id)
    if bot is not None:
        await ctx.visit_guild(guild_id)
        await remove_member(ctx, guild_id, bot)


async def _forget(application: ApplicationRow, bot_id: UserId, ctx: Context) -> None:
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
