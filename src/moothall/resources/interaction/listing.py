"""The commands that somebody may use, as the official clients ask for them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import UNSET, structs

from moothall.kernel.context import Context
from moothall.objects.application import ApplicationFlags, IntegrationType
from moothall.objects.command import Command, CommandPermissionType, CommandType, InteractionContext
from moothall.objects.command_index import CommandIndex, IndexedApplication, IndexedCommand, IndexedPermissions
from moothall.objects.ids import ApplicationId, Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.resources.application.authorization.queries import select_installed
from moothall.resources.application.queries import ApplicationRow, select_applications
from moothall.resources.integration.queries import select_of_guild
from moothall.resources.interaction.command.locales import locale_of
from moothall.resources.interaction.command.objects import command_object, permissions_object
from moothall.resources.interaction.command.queries import (
    EVERYWHERE,
    PermissionsRow,
    select_guild_permissions,
    select_of_applications,
)
from moothall.resources.interaction.rules import context_of, is_allowed

_MAX_APPLICATIONS: Final = 500
Said = dict[Snowflake, PermissionsRow]


async def commands_in_guild(ctx: Context) -> CommandIndex:
    """Those of the applications that are in the guild entered; where they may be used says each of them."""
    installed = await _of_guild(ctx)
    return await _index(ctx, [each for each in installed if ctx.has(Permissions.USE_APPLICATION_COMMANDS)], [])


async def commands_in_channel(ctx: Context) -> CommandIndex:
    """Those that may be used in the channel entered: of its guild, of one's own, or of the bot in a direct message."""
    access = ctx.channel
    own = await select_installed(ctx.tx, ctx.actor.user_id)
    if access.guild is not None:
        if not ctx.has(Permissions.USE_APPLICATION_COMMANDS):
            return await _index(ctx, [], [])
        return await _index(ctx, await _of_guild(ctx), own)
    bots = [ApplicationId(user_id) for user_id in access.recipients if user_id != ctx.actor.user_id]
    return await _index(ctx, bots, own)


async def commands_of_user(ctx: Context) -> CommandIndex:
    """Those of the applications that the caller has installed to their account."""
    return await _index(ctx, [], await select_installed(ctx.tx, ctx.actor.user_id))


async def _of_guild(ctx: Context) -> list[ApplicationId]:
    rows = await select_of_guild(ctx.tx, ctx.guild.id, _MAX_APPLICATIONS)
    return [row.application_id for row in rows if row.application_id is not None]


async def _index(ctx: Context, here: Sequence[ApplicationId], own: Sequence[ApplicationId]) -> CommandIndex:
    guild_id = ctx.guild.id if ctx.in_guild else EVERYWHERE
    wanted = list(dict.fromkeys([*here, *own[:_MAX_APPLICATIONS]]))
    applications = await select_applications(ctx.tx, wanted) if wanted else {}
    rows = await select_of_applications(ctx.tx, applications, guild_id)
    locale = await locale_of(ctx)
    said: dict[ApplicationId, Said] = defaultdict(dict)
    if ctx.in_guild and here:
        for each in await select_guild_permissions(ctx.tx, guild_id):
            said[each.application_id][each.command_id] = each
    installed, users = frozenset(here), frozenset(own)
    listed = []
    for row in rows:
        command = command_object(row, localizations=False, locale=locale)
        application = applications[row.application_id]
        if _fits(
            ctx, command, application, in_place=row.application_id in installed, by_user=row.application_id in users
        ):
            if ctx.in_guild and row.application_id in installed and not _may(ctx, command, said[row.application_id]):
                continue
            told = _permissions(ctx, said[row.application_id].get(Snowflake(row.id)))
            listed.append(IndexedCommand(**structs.asdict(command), permissions=told))
    named = {command.application_id for command in listed}
    return CommandIndex(
        applications=[
            _application(row, _permissions(ctx, said[row.id].get(Snowflake(row.id))))
            for row in applications.values()
            if row.id in named
        ],
        application_commands=listed,
        version=str(max((int(command.version) for command in listed), default=0)),
    )


def _fits(ctx: Context, command: Command, application: ApplicationRow, *, in_place: bool, by_user: bool) -> bool:
    """Whether a command is there at all for the caller, where they are."""
    if command.type == CommandType.PRIMARY_ENTRY_POINT and not application.flags & ApplicationFlags.EMBEDDED:
        return False
    kinds = command.integration_types if isinstance(command.integration_types, list) else [0]
    for_place = in_place and IntegrationType.GUILD_INSTALL in kinds
    for_user = by_user and IntegrationType.USER_INSTALL in kinds
    contexts = command.contexts if isinstance(command.contexts, list) else list(InteractionContext)
    where = _context(ctx, application.id)
    if where is not None and command.guild_id is UNSET and where not in contexts:
        return False
    if where is InteractionContext.PRIVATE_CHANNEL:
        return for_user
    access = ctx.entered_channel
    if command.nsfw and access is not None and access.guild is not None:
        channel = access.parent or access.channel
        if channel.nsfw is not True:
            return False
    return for_place or for_user


def _context(ctx: Context, application_id: ApplicationId) -> InteractionContext | None:
    """Where the caller is; None for nowhere in particular."""
    if ctx.entered_channel is not None:
        return context_of(ctx.entered_channel, application_id)
    return InteractionContext.GUILD if ctx.in_guild else None


def _may(ctx: Context, command: Command, said: Said) -> bool:
    access = ctx.entered_channel
    where = None if access is None else access.audience_channel_id
    return is_allowed(ctx.member, ctx.permissions, where, command, said)


def _permissions(ctx: Context, row: PermissionsRow | None) -> IndexedPermissions:
    """What the guild says of a command that concerns the caller: of themself, of their roles, of channels."""
    if row is None:
        return IndexedPermissions()
    entries = permissions_object(row).permissions
    roles = {ctx.guild.id, *ctx.member.role_ids}
    by_kind: Mapping[int, Iterable[int]] = {
        CommandPermissionType.ROLE: roles,
        CommandPermissionType.USER: {ctx.actor.user_id},
    }
    found: dict[int, dict[str, bool]] = defaultdict(dict)
    for entry in entries:
        concerned = by_kind.get(entry.type)
        if concerned is None or entry.id in concerned:
            found[entry.type][str(int(entry.id))] = entry.permission
    own = found.get(CommandPermissionType.USER, {})
    return IndexedPermissions(
        user=next(iter(own.values()), UNSET),
        roles=found.get(CommandPermissionType.ROLE) or UNSET,
        channels=found.get(CommandPermissionType.CHANNEL) or UNSET,
    )


def _application(row: ApplicationRow, permissions: IndexedPermissions) -> IndexedApplication:
    return IndexedApplication(
        id=row.id,
        name=row.name,
        description=row.description,
        icon=row.icon,
        bot_id=UserId(row.id) if row.bot_user_id is None else row.bot_user_id,
        flags=row.flags,
        permissions=permissions,
    )
