"""The application command index: the commands that a user can use, as the official clients request them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects.application import ApplicationFlags, IntegrationType
from moothall.objects.command import Command, CommandPermissionType, CommandType, InteractionContext
from moothall.objects.command_index import CommandIndex, IndexedApplication, IndexedCommand, IndexedPermissions
from moothall.objects.ids import ApplicationId, Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.resources.application.authorization.queries import select_installed
from moothall.resources.application.queries import ApplicationRow, select_applications
from moothall.resources.integration.queries import select_of_guild
from moothall.resources.interaction.command.locales import caller_locale
from moothall.resources.interaction.command.objects import command_object, permissions_object
from moothall.resources.interaction.command.queries import (
    GLOBAL_SCOPE,
    PermissionsRow,
    select_commands_of_applications,
    select_guild_permissions,
)
from moothall.resources.interaction.command.usage import can_use_command
from moothall.resources.interaction.rules import interaction_context

_MAX_APPLICATIONS: Final = 500
PermissionsById = dict[Snowflake, PermissionsRow]
"""A guild's permissions for an application's commands, by the command's id; by the application's id for all of them."""


async def get_guild_index(ctx: Context) -> CommandIndex:
    """The commands of the applications in the guild entered; each command says where in it the caller can use it."""
    application_ids = await _applications_of_guild(ctx)
    if not ctx.has(Permissions.USE_APPLICATION_COMMANDS):
        application_ids = []
    return await _build_index(ctx, application_ids, [])


async def get_channel_index(ctx: Context) -> CommandIndex:
    """The commands that the caller can use in the channel entered.

    Those are commands of applications in its guild, of the bot in a direct message, and of the caller's applications.
    """
    access = ctx.channel
    user_installed = await select_installed(ctx.tx, ctx.actor.user_id)
    if access.guild is not None:
        if not ctx.has(Permissions.USE_APPLICATION_COMMANDS):
            return await _build_index(ctx, [], [])
        return await _build_index(ctx, await _applications_of_guild(ctx), user_installed)
    bots = [ApplicationId(user_id) for user_id in access.recipients if user_id != ctx.actor.user_id]
    return await _build_index(ctx, bots, user_installed)


async def get_user_index(ctx: Context) -> CommandIndex:
    """The commands of the applications that the caller has installed to their account."""
    return await _build_index(ctx, [], await select_installed(ctx.tx, ctx.actor.user_id))


async def _applications_of_guild(ctx: Context) -> list[ApplicationId]:
    rows = await select_of_guild(ctx.tx, ctx.guild.id, _MAX_APPLICATIONS)
    return [row.application_id for row in rows if row.application_id is not None]


async def _build_index(
    ctx: Context, guild_installed: Sequence[ApplicationId], user_installed: Sequence[ApplicationId]
) -> CommandIndex:
    """The index of applications installed to the guild (or the bots of a direct message) and to the caller."""
    guild_id = ctx.guild.id if ctx.in_guild else GLOBAL_SCOPE
    application_ids = list(dict.fromkeys([*guild_installed, *user_installed[:_MAX_APPLICATIONS]]))
    applications = await select_applications(ctx.tx, application_ids) if application_ids else {}
    applications = {each_id: row for each_id, row in applications.items() if not row.disabled}
    rows = await select_commands_of_applications(ctx.tx, applications, guild_id)
    locale = await caller_locale(ctx)
    permissions: dict[ApplicationId, PermissionsById] = defaultdict(dict)
    if ctx.in_guild and guild_installed:
        for permissions_row in await select_guild_permissions(ctx.tx, guild_id):
            permissions[permissions_row.application_id][permissions_row.command_id] = permissions_row
    guild_ids, user_ids = frozenset(guild_installed), frozenset(user_installed)
    indexed: list[IndexedCommand] = []
    for row in rows:
        command = command_object(row, localizations=False, locale=locale)
        application, by_id = applications[row.application_id], permissions[row.application_id]
        in_guild = row.application_id in guild_ids
        if not _is_available(ctx, command, application, in_guild=in_guild, by_user=row.application_id in user_ids):
            continue
        if ctx.in_guild and in_guild and not _is_permitted(ctx, command, by_id):
            continue
        own = _caller_permissions(ctx, by_id.get(Snowflake(row.id)))
        indexed.append(IndexedCommand(**structs.asdict(command), permissions=own))
    with_commands = {command.application_id for command in indexed}
    return CommandIndex(
        applications=[
            _indexed_application(row, _caller_permissions(ctx, permissions[row.id].get(Snowflake(row.id))))
            for row in applications.values()
            if row.id in with_commands
        ],
        application_commands=indexed,
        version=str(max((int(command.version) for command in indexed), default=0)),
    )


def _is_available(
    ctx: Context, command: Command, application: ApplicationRow, *, in_guild: bool, by_user: bool
) -> bool:
    """Whether a command exists for the caller in the channel or guild entered.

    `in_guild` says whether the application is installed to the guild, `by_user` whether it is to the caller.
    """
    if command.type == CommandType.PRIMARY_ENTRY_POINT and not application.flags & ApplicationFlags.EMBEDDED:
        return False
    types = command.integration_types if isinstance(command.integration_types, list) else [0]
    guild_install = in_guild and IntegrationType.GUILD_INSTALL in types
    user_install = by_user and IntegrationType.USER_INSTALL in types
    contexts = command.contexts if isinstance(command.contexts, list) else list(InteractionContext)
    context = _context(ctx, application.id)
    if context is not None and command.guild_id is UNSET and context not in contexts:
        return False
    if context is InteractionContext.PRIVATE_CHANNEL:
        return user_install
    access = ctx.entered_channel
    if command.nsfw and access is not None and access.guild is not None:
        channel = access.parent or access.channel
        if channel.nsfw is not True:
            return False
    return guild_install or user_install


def _context(ctx: Context, application_id: ApplicationId) -> InteractionContext | None:
    """The context of interactions in the channel or guild entered; None if neither has been entered."""
    if ctx.entered_channel is not None:
        return interaction_context(ctx.entered_channel, application_id)
    return InteractionContext.GUILD if ctx.in_guild else None


def _is_permitted(ctx: Context, command: Command, permissions: PermissionsById) -> bool:
    access = ctx.entered_channel
    channel_id = None if access is None else access.audience_channel_id
    return can_use_command(ctx.member, ctx.permissions, channel_id, command, permissions)


def _caller_permissions(ctx: Context, row: PermissionsRow | None) -> IndexedPermissions:
    """The guild's permissions for a command that apply to the caller, to one of their roles, or to channels."""
    if row is None:
        return IndexedPermissions()
    ids_by_type: Mapping[int, Iterable[int]] = {
        CommandPermissionType.ROLE: {ctx.guild.id, *ctx.member.role_ids},
        CommandPermissionType.USER: {ctx.actor.user_id},
    }
    by_type: dict[int, dict[str, bool]] = defaultdict(dict)
    for entry in permissions_object(row).permissions:
        ids = ids_by_type.get(entry.type)
        if ids is None or entry.id in ids:
            by_type[entry.type][str(int(entry.id))] = entry.permission
    return IndexedPermissions(
        user=next(iter(by_type.get(CommandPermissionType.USER, {}).values()), UNSET),
        roles=by_type.get(CommandPermissionType.ROLE) or UNSET,
        channels=by_type.get(CommandPermissionType.CHANNEL) or UNSET,
    )


def _indexed_application(row: ApplicationRow, permissions: IndexedPermissions) -> IndexedApplication:
    return IndexedApplication(
        id=row.id,
        name=row.name,
        description=row.description,
        icon=row.icon,
        bot_id=UserId(row.id) if row.bot_user_id is None else row.bot_user_id,
        flags=row.flags,
        permissions=permissions,
    )
