"""Application commands over HTTP (interactions: application commands)."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.kernel.context import Context
from moothall.kernel.endpoint import Response, delete, get, patch, post, put
from moothall.objects import limits
from moothall.objects.command import Command, CommandPermission, CommandPermissions
from moothall.objects.ids import ApplicationId, CommandId, GuildId, Snowflake
from moothall.objects.wire import encode
from moothall.resources.application.access import application_of
from moothall.resources.interaction.command import operations, queries
from moothall.resources.interaction.command.access import MANAGES, PERMISSIONS_SCOPE, SETS, UPDATING
from moothall.resources.interaction.command.events import ApplicationCommandPermissionsUpdate
from moothall.resources.interaction.command.locales import locale_of
from moothall.resources.interaction.command.objects import command_object, permissions_object
from moothall.resources.interaction.command.queries import EVERYWHERE
from moothall.resources.interaction.command.requests import CreateCommand, ModifyCommand

_MAX = sum(limits.COMMANDS_MAX.values())
Bulk = Annotated[list[CreateCommand], Meta(max_length=_MAX)]


class EditPermissions(Struct, frozen=True):
    """The body of Edit Application Command Permissions."""

    permissions: Annotated[list[CommandPermission], Meta(max_length=limits.COMMAND_PERMISSIONS_MAX)]


@get("/applications/{application_id}/commands", permission=MANAGES, scope=UPDATING)
async def list_application_commands(
    ctx: Context, application_id: ApplicationId, *, with_localizations: bool = False
) -> list[Command]:
    """An application's global commands, oldest first."""
    return await _list(ctx, application_id, EVERYWHERE, with_localizations=with_localizations)


@post("/applications/{application_id}/commands", permission=MANAGES, scope=UPDATING, status=201)
async def create_application_command(
    ctx: Context, application_id: ApplicationId, body: CreateCommand
) -> Command | Response:
    """Make a global command; with a name that is taken, 200: the command of that name becomes this one."""
    return await _create(ctx, EVERYWHERE, body)


@put("/applications/{application_id}/commands", permission=MANAGES, scope=UPDATING)
async def bulk_set_application_commands(ctx: Context, application_id: ApplicationId, body: Bulk) -> list[Command]:
    """Make an application's global commands exactly those listed."""
    return await operations.overwrite_commands(ctx, application_of(ctx), EVERYWHERE, body)


@get("/applications/{application_id}/commands/{command_id}", permission=MANAGES, scope=UPDATING)
async def get_application_command(ctx: Context, application_id: ApplicationId, command_id: CommandId) -> Command:
    """A global command."""
    return command_object(await operations.get_command(ctx, application_id, EVERYWHERE, command_id))


@patch("/applications/{application_id}/commands/{command_id}", permission=MANAGES, scope=UPDATING)
async def update_application_command(
    ctx: Context, application_id: ApplicationId, command_id: CommandId, body: ModifyCommand
) -> Command:
    """Change a global command."""
    return await operations.modify_command(ctx, application_of(ctx), EVERYWHERE, command_id, body)


@delete("/applications/{application_id}/commands/{command_id}", permission=MANAGES, scope=UPDATING)
async def delete_application_command(ctx: Context, application_id: ApplicationId, command_id: CommandId) -> None:
    """Remove a global command."""
    await operations.delete_command(ctx, application_id, EVERYWHERE, command_id)


@get("/applications/{application_id}/guilds/{guild_id}/commands", permission=MANAGES, scope=UPDATING)
async def list_guild_application_commands(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, *, with_localizations: bool = False
) -> list[Command]:
    """An application's commands of one guild, oldest first."""
    return await _list(ctx, application_id, guild_id, with_localizations=with_localizations)


@post("/applications/{application_id}/guilds/{guild_id}/commands", permission=MANAGES, scope=UPDATING, status=201)
async def create_guild_application_command(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, body: CreateCommand
) -> Command | Response:
    """Make a command of one guild; with a name that is taken, 200: the command of that name becomes this one."""
    return await _create(ctx, guild_id, body)


@put("/applications/{application_id}/guilds/{guild_id}/commands", permission=MANAGES, scope=UPDATING)
async def bulk_set_guild_application_commands(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, body: Bulk
) -> list[Command]:
    """Make an application's commands of one guild exactly those listed."""
    return await operations.overwrite_commands(ctx, application_of(ctx), guild_id, body)


@get("/applications/{application_id}/guilds/{guild_id}/commands/{command_id}", permission=MANAGES, scope=UPDATING)
async def get_guild_application_command(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId
) -> Command:
    """A command of one guild."""
    return command_object(await operations.get_command(ctx, application_id, guild_id, command_id))


@patch("/applications/{application_id}/guilds/{guild_id}/commands/{command_id}", permission=MANAGES, scope=UPDATING)
async def update_guild_application_command(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId, body: ModifyCommand
) -> Command:
    """Change a command of one guild."""
    return await operations.modify_command(ctx, application_of(ctx), guild_id, command_id, body)


@delete("/applications/{application_id}/guilds/{guild_id}/commands/{command_id}", permission=MANAGES, scope=UPDATING)
async def delete_guild_application_command(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId
) -> None:
    """Remove a command of one guild."""
    await operations.delete_command(ctx, application_id, guild_id, command_id)


@get("/applications/{application_id}/guilds/{guild_id}/commands/permissions", permission=MANAGES, scope=UPDATING)
async def list_guild_application_command_permissions(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId
) -> list[CommandPermissions]:
    """What a guild says about an application's commands."""
    return [permissions_object(row) for row in await queries.select_permissions(ctx.tx, guild_id, application_id)]


@get(
    "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}/permissions",
    permission=MANAGES,
    scope=UPDATING,
)
async def get_guild_application_command_permissions(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: Snowflake
) -> CommandPermissions:
    """What a guild says about one command; 404/10066 where it says nothing."""
    return await operations.get_permissions(ctx, application_id, command_id)


@put(
    "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}/permissions",
    permission=SETS,
    scope=PERMISSIONS_SCOPE,
    fires=(ApplicationCommandPermissionsUpdate,),
)
async def set_guild_application_command_permissions(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: Snowflake, body: EditPermissions
) -> CommandPermissions:
    """Say who may use a command in a guild; what was said before is replaced."""
    return await operations.set_permissions(ctx, application_of(ctx), command_id, body.permissions)


async def _list(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, *, with_localizations: bool
) -> list[Command]:
    rows = await queries.select_scope(ctx.tx, application_id, guild_id)
    locale = None if with_localizations else await locale_of(ctx)
    return [command_object(row, localizations=with_localizations, locale=locale) for row in rows]


async def _create(ctx: Context, guild_id: GuildId, body: CreateCommand) -> Command | Response:
    made, new = await operations.create_command(ctx, application_of(ctx), guild_id, body)
    return made if new else Response(encode(made))
