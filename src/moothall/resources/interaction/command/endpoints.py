"""Application commands over HTTP (interactions: application commands)."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.api.context import Context
from moothall.api.endpoint import Response, delete, get, patch, post, put
from moothall.objects import limits
from moothall.objects.command import Command, CommandPermission, CommandPermissions
from moothall.objects.ids import ApplicationId, CommandId, GuildId, Snowflake
from moothall.objects.scopes import UPDATE_COMMANDS
from moothall.objects.wire import encode
from moothall.resources.application.access import requested_application
from moothall.resources.interaction.command import operations, queries
from moothall.resources.interaction.command.access import (
    EDITS_PERMISSIONS,
    MANAGES,
    PERMISSIONS_SCOPE,
    READS_PERMISSIONS,
)
from moothall.resources.interaction.command.events import ApplicationCommandPermissionsUpdate
from moothall.resources.interaction.command.locales import caller_locale
from moothall.resources.interaction.command.objects import command_object, permissions_object
from moothall.resources.interaction.command.queries import GLOBAL_SCOPE
from moothall.resources.interaction.command.requests import CreateCommand, ModifyCommand

_MAX_COMMANDS = sum(limits.COMMANDS_MAX.values())
BulkBody = Annotated[list[CreateCommand], Meta(max_length=_MAX_COMMANDS)]


class EditPermissions(Struct, frozen=True):
    """The body of Edit Application Command Permissions."""

    permissions: Annotated[list[CommandPermission], Meta(max_length=limits.COMMAND_PERMISSIONS_MAX)]


@get("/applications/{application_id}/commands", permission=MANAGES, scope=UPDATE_COMMANDS)
async def list_application_commands(
    ctx: Context, application_id: ApplicationId, *, with_localizations: bool = False
) -> list[Command]:
    """An application's global commands, oldest first."""
    return await _list(ctx, application_id, GLOBAL_SCOPE, with_localizations=with_localizations)


@post("/applications/{application_id}/commands", permission=MANAGES, scope=UPDATE_COMMANDS, status=201)
async def create_application_command(
    ctx: Context, application_id: ApplicationId, body: CreateCommand
) -> Command | Response:
    """Create a global command; 200 if it overwrites the one of the same name."""
    return await _create(ctx, GLOBAL_SCOPE, body)


@put("/applications/{application_id}/commands", permission=MANAGES, scope=UPDATE_COMMANDS)
async def bulk_set_application_commands(ctx: Context, application_id: ApplicationId, body: BulkBody) -> list[Command]:
    """Replace an application's global commands by those listed."""
    return await operations.overwrite_commands(ctx, requested_application(ctx), GLOBAL_SCOPE, body)


@get("/applications/{application_id}/commands/{command_id}", permission=MANAGES, scope=UPDATE_COMMANDS)
async def get_application_command(ctx: Context, application_id: ApplicationId, command_id: CommandId) -> Command:
    """A global command."""
    return command_object(await operations.get_command(ctx, application_id, GLOBAL_SCOPE, command_id))


@patch("/applications/{application_id}/commands/{command_id}", permission=MANAGES, scope=UPDATE_COMMANDS)
async def update_application_command(
    ctx: Context, application_id: ApplicationId, command_id: CommandId, body: ModifyCommand
) -> Command:
    """Change a global command; absent fields stay."""
    return await operations.modify_command(ctx, requested_application(ctx), GLOBAL_SCOPE, command_id, body)


@delete("/applications/{application_id}/commands/{command_id}", permission=MANAGES, scope=UPDATE_COMMANDS)
async def delete_application_command(ctx: Context, application_id: ApplicationId, command_id: CommandId) -> None:
    """Delete a global command."""
    await operations.delete_command(ctx, application_id, GLOBAL_SCOPE, command_id)


@get("/applications/{application_id}/guilds/{guild_id}/commands", permission=MANAGES, scope=UPDATE_COMMANDS)
async def list_guild_application_commands(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, *, with_localizations: bool = False
) -> list[Command]:
    """An application's commands of one guild, oldest first."""
    return await _list(ctx, application_id, guild_id, with_localizations=with_localizations)


@post(
    "/applications/{application_id}/guilds/{guild_id}/commands",
    permission=MANAGES,
    scope=UPDATE_COMMANDS,
    status=201,
)
async def create_guild_application_command(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, body: CreateCommand
) -> Command | Response:
    """Create a command of one guild; 200 if it overwrites the one of the same name."""
    return await _create(ctx, guild_id, body)


@put("/applications/{application_id}/guilds/{guild_id}/commands", permission=MANAGES, scope=UPDATE_COMMANDS)
async def bulk_set_guild_application_commands(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, body: BulkBody
) -> list[Command]:
    """Replace an application's commands of one guild by those listed."""
    return await operations.overwrite_commands(ctx, requested_application(ctx), guild_id, body)


@get(
    "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
    permission=MANAGES,
    scope=UPDATE_COMMANDS,
)
async def get_guild_application_command(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId
) -> Command:
    """A command of one guild."""
    return command_object(await operations.get_command(ctx, application_id, guild_id, command_id))


@patch(
    "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
    permission=MANAGES,
    scope=UPDATE_COMMANDS,
)
async def update_guild_application_command(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId, body: ModifyCommand
) -> Command:
    """Change a command of one guild; absent fields stay."""
    return await operations.modify_command(ctx, requested_application(ctx), guild_id, command_id, body)


@delete(
    "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
    permission=MANAGES,
    scope=UPDATE_COMMANDS,
)
async def delete_guild_application_command(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId
) -> None:
    """Delete a command of one guild."""
    await operations.delete_command(ctx, application_id, guild_id, command_id)


@get(
    "/applications/{application_id}/guilds/{guild_id}/commands/permissions",
    permission=READS_PERMISSIONS,
    scope=UPDATE_COMMANDS,
)
async def list_guild_application_command_permissions(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId
) -> list[CommandPermissions]:
    """A guild's permissions for an application's commands."""
    return [permissions_object(row) for row in await queries.select_permissions(ctx.tx, guild_id, application_id)]


@get(
    "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}/permissions",
    permission=READS_PERMISSIONS,
    scope=UPDATE_COMMANDS,
)
async def get_guild_application_command_permissions(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: Snowflake
) -> CommandPermissions:
    """A guild's permissions for one command; 404/10066 if there are none."""
    return await operations.get_permissions(ctx, application_id, command_id)


@put(
    "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}/permissions",
    permission=EDITS_PERMISSIONS,
    scope=PERMISSIONS_SCOPE,
    fires=(ApplicationCommandPermissionsUpdate,),
)
async def set_guild_application_command_permissions(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: Snowflake, body: EditPermissions
) -> CommandPermissions:
    """Replace a guild's permissions for a command."""
    return await operations.edit_permissions(ctx, requested_application(ctx), command_id, body.permissions)


async def _list(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, *, with_localizations: bool
) -> list[Command]:
    rows = await queries.select_commands(ctx.tx, application_id, guild_id)
    locale = None if with_localizations else await caller_locale(ctx)
    return [command_object(row, localizations=with_localizations, locale=locale) for row in rows]


async def _create(ctx: Context, guild_id: GuildId, body: CreateCommand) -> Command | Response:
    command, created = await operations.create_command(ctx, requested_application(ctx), guild_id, body)
    return command if created else Response(encode(command))
