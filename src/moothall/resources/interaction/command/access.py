"""Access to the endpoints of application commands and of guilds' permissions for them."""

from typing import Final

from moothall.api.access import Access, PathValues
from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.permissions import Permissions
from moothall.objects.scopes import BOT, COMMANDS
from moothall.resources.application.access import find_application
from moothall.resources.integration.queries import select_of_application

PERMISSIONS_SCOPE: Final = "applications.commands.permissions.update"


class ManagesCommands(Access):
    """The bot of `{application_id}`, a token of it with applications.commands.update, or its owner.

    For the commands of a guild the application must be installed there with the scope bot or applications.commands.
    """

    label = "application's bot|token|owner"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Select the application. Raises Refusal: 404/10002, 403/20012, 403/50001 for a guild that it is not in."""
        row = await find_application(ctx, path["application_id"])
        actor = ctx.actor
        owns = actor.kind is TokenKind.SESSION and actor.user_id == row.owner_id
        if not owns and actor.application_id != row.id:
            raise Refusal(errors.NOT_APPLICATION_OWNER)
        ctx.set_resource(row)
        guild_id = path.get("guild_id")
        if guild_id is not None:
            integration = await select_of_application(ctx.tx, guild_id, row.id)
            if integration is None or {COMMANDS, BOT}.isdisjoint(integration.scopes):
                raise Refusal(errors.MISSING_ACCESS)
            await ctx.visit_guild(guild_id)


class EditsCommandPermissions(Access):
    """A user with MANAGE_GUILD and MANAGE_ROLES, by a session or by a bearer token of the application.

    A bot's token is refused: the users of the guild decide who can use a command in it.
    """

    label = "MANAGE_GUILD + MANAGE_ROLES"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Enter the guild. Raises Refusal: 403/20001 for bots, 404/10002, 404/10004, 403/50013."""
        if ctx.actor.bot:
            raise Refusal(errors.BOTS_CANNOT_USE)
        row = await find_application(ctx, path["application_id"])
        if ctx.actor.kind is TokenKind.BEARER and ctx.actor.application_id != row.id:
            raise Refusal(errors.NOT_APPLICATION_OWNER)
        await ctx.enter_guild(path["guild_id"])
        ctx.require(Permissions.MANAGE_GUILD | Permissions.MANAGE_ROLES)
        ctx.set_resource(row)


class ReadsCommandPermissions(Access):
    """Those who may manage an application's commands, and the users who may edit the permissions for them."""

    label = "application's bot|token|owner, or MANAGE_GUILD + MANAGE_ROLES"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Select the application, and for a user the guild. Raises Refusal as `ManagesCommands` does."""
        if ctx.actor.kind is TokenKind.SESSION:
            try:
                await EDITS_PERMISSIONS.check(ctx, path)
            except Refusal:
                await MANAGES.check(ctx, path)
        else:
            await MANAGES.check(ctx, path)


MANAGES: Final = ManagesCommands()
EDITS_PERMISSIONS: Final = EditsCommandPermissions()
READS_PERMISSIONS: Final = ReadsCommandPermissions()
