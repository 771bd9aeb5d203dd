"""Create, modify and delete application commands, and edit guilds' permissions for them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.application import ApplicationFlags
from moothall.objects.audit_log import AuditLogChange, AuditLogEvent, AuditLogOptions
from moothall.objects.command import Command, CommandPermission, CommandPermissions, CommandPermissionType, CommandType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ApplicationId, ChannelId, CommandId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import Permissions
from moothall.objects.wire import to_plain
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.interaction.command import queries
from moothall.resources.interaction.command.definition import build_definition, check_for_application
from moothall.resources.interaction.command.events import ApplicationCommandPermissionsUpdate
from moothall.resources.interaction.command.fields import CommandFields
from moothall.resources.interaction.command.objects import command_object, default_entry_point, permissions_object
from moothall.resources.interaction.command.queries import GLOBAL_SCOPE, CommandRow, PermissionsRow
from moothall.resources.interaction.command.requests import CreateCommand, ModifyCommand
from moothall.resources.interaction.command.usage import can_use_command, is_member_allowed
from moothall.resources.interaction.command.validation import check_command
from moothall.resources.member.queries import get_members

_DAY_MS: Final = 86_400_000
_DUPLICATE_NAME: Final = FieldError("APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")


async def create_command(
    ctx: Context, application: ApplicationRow, guild_id: GuildId, body: CreateCommand
) -> tuple[Command, bool]:
    """Create a command, or overwrite the one of the same type and name; the command, and whether it is new.

    Raises Refusal: 50035 for what the application cannot have, 400/30032 for too many commands of a type, 400/30034 for
    more than 200 created in a day.
    """
    _require_possible(application, guild_id, body, body.kind)
    existing = await queries.select_command_by_name(ctx.tx, application.id, guild_id, body.kind, body.name)
    if existing is None and body.kind == CommandType.PRIMARY_ENTRY_POINT:
        rows = await queries.select_commands(ctx.tx, application.id, guild_id)
        existing = next((row for row in rows if row.type == body.kind), None)
    if existing is not None:
        return await _update(ctx, existing, body.name, build_definition(application, guild_id, body, {})), False
    if await queries.count_commands(ctx.tx, application.id, guild_id, body.kind) >= limits.COMMANDS_MAX[body.kind]:
        raise Refusal(errors.TOO_MANY_COMMANDS)
    await _count_creations(ctx, application.id, guild_id, 1)
    return await _insert(ctx, application, guild_id, body), True


async def modify_command(
    ctx: Context, application: ApplicationRow, guild_id: GuildId, command_id: CommandId, body: ModifyCommand
) -> Command:
    """Change the fields of a command that a request has. A new name deletes guilds' permissions for the command.

    Raises Refusal: 404/10063, 50035, also for a name that another command has.
    """
    row = await get_command(ctx, application.id, guild_id, command_id)
    form_errors = FormErrors()
    check_command(body, body.name, row.type, form_errors, complete=False)
    name = row.name if body.name is UNSET else body.name
    if name != row.name:
        other = await queries.select_command_by_name(ctx.tx, application.id, guild_id, row.type, name)
        if other is not None:
            form_errors.add("name", *_DUPLICATE_NAME)
    form_errors.raise_if_any()
    _require_possible(application, guild_id, body, row.type)
    return await _update(ctx, row, name, build_definition(application, guild_id, body, row.definition))


async def delete_command(ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId) -> None:
    """Delete a command. Raises Refusal: 404/10063."""
    row = await get_command(ctx, application_id, guild_id, command_id)
    await queries.delete_commands(ctx.tx, application_id, guild_id, [row.id])


async def overwrite_commands(
    ctx: Context, application: ApplicationRow, guild_id: GuildId, bodies: Sequence[CreateCommand]
) -> list[Command]:
    """Replace the commands of a scope by those listed; a command with a known name or id keeps its id.

    All or nothing. Raises the errors of `create_command`, with the index of the command.
    """
    _check_overwrite(application, guild_id, bodies)
    before = await queries.select_commands(ctx.tx, application.id, guild_id)
    existing = _match_existing(before, bodies)
    kept_ids = {row.id for row in existing.values()}
    deleted_ids = [row.id for row in before if row.id not in kept_ids]
    if deleted_ids:
        await queries.delete_commands(ctx.tx, application.id, guild_id, deleted_ids)
    await _count_creations(ctx, application.id, guild_id, len(bodies) - len(existing))
    commands = []
    for index, body in enumerate(bodies):
        if index in existing:
            definition = build_definition(application, guild_id, body, {})
            commands.append(await _update(ctx, existing[index], body.name, definition))
        else:
            commands.append(await _insert(ctx, application, guild_id, body))
    return commands


def _check_overwrite(application: ApplicationRow, guild_id: GuildId, bodies: Sequence[CreateCommand]) -> None:
    form_errors = FormErrors()
    for index, body in enumerate(bodies):
        check_command(body, body.name, body.kind, form_errors.at([index]))
        check_for_application(application, guild_id, body, body.kind, form_errors.at([index]))
        if any(body.kind == other.kind and body.name == other.name for other in bodies[:index]):
            form_errors.add([index, "name"], *_DUPLICATE_NAME)
    form_errors.raise_if_any()
    for command_type, maximum in limits.COMMANDS_MAX.items():
        if sum(body.kind == command_type for body in bodies) > maximum:
            raise Refusal(errors.TOO_MANY_COMMANDS)


def _match_existing(rows: Sequence[CommandRow], bodies: Sequence[CreateCommand]) -> dict[int, CommandRow]:
    """The existing command that each body overwrites, by the body's index: of the same type and name, else by id."""
    by_id = {row.id: row for row in rows}
    by_name = {(row.type, row.name): row for row in rows}
    names = {(body.kind, body.name) for body in bodies}
    existing: dict[int, CommandRow] = {}
    for index, body in enumerate(bodies):
        row = by_name.get((body.kind, body.name))
        if row is None and body.id is not None:
            row = by_id.get(body.id)
            if row is not None and (row.type != body.kind or (row.type, row.name) in names):
                row = None
        if row is not None and row not in existing.values():
            existing[index] = row
    return existing


async def get_command(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId
) -> CommandRow:
    """A command of an application in one scope. Raises Refusal: 404/10063."""
    row = await queries.select_command(ctx.tx, application_id, guild_id, command_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
    return row


async def ensure_entry_point(ctx: Context, application: ApplicationRow) -> None:
    """Create the default entry point command of an application with Activities, unless it has one."""
    if not application.flags & ApplicationFlags.EMBEDDED:
        return
    if await queries.count_commands(ctx.tx, application.id, GLOBAL_SCOPE, CommandType.PRIMARY_ENTRY_POINT):
        return
    values = default_entry_point(CommandId(ctx.ids.next()), ctx.ids.next())
    await queries.insert_command(ctx.tx, CommandRow(application_id=application.id, guild_id=GLOBAL_SCOPE, **values))


async def edit_permissions(
    ctx: Context, application: ApplicationRow, command_id: Snowflake, permissions: Sequence[CommandPermission]
) -> CommandPermissions:
    """Replace the permissions for a command in the guild entered.

    With the application's id as `command_id` they apply to all its commands without permissions of their own.
    Raises Refusal: 404/10063, 403/50013 for a command that the caller cannot use, 50035 for more than 100
    permissions, for duplicates, and for ids of another guild.
    """
    guild_id, command = ctx.guild.id, None
    if command_id != application.id:
        row = await queries.select_command_by_id(ctx.tx, CommandId(command_id))
        if row is None or row.application_id != application.id or row.guild_id not in {GLOBAL_SCOPE, guild_id}:
            raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
        command = command_object(row)
    rows = {row.command_id: row for row in await queries.select_permissions(ctx.tx, guild_id, application.id)}
    _require_may_use(ctx, application, command, rows)
    before = rows.get(command_id)
    # Clients send back the permissions that they received, so those of deleted roles and former members may stay.
    kept = set() if before is None else {(each.id, each.type) for each in permissions_object(before).permissions}
    await _check_permissions(ctx, permissions, kept)
    after = PermissionsRow(
        guild_id=guild_id,
        application_id=application.id,
        command_id=command_id,
        permissions=[to_plain(permission) for permission in permissions],
    )
    await queries.upsert_permissions(ctx.tx, after)
    result = permissions_object(after)
    if before is None or before.permissions != after.permissions:
        await ctx.audit(
            AuditLogEvent.APPLICATION_COMMAND_PERMISSION_UPDATE,
            target=command_id,
            changes=_audit_changes([] if before is None else before.permissions, after.permissions),
            options=AuditLogOptions(application_id=Snowflake(application.id)),
        )
        ctx.emit(ApplicationCommandPermissionsUpdate(guild_id=guild_id, permissions=result))
    return result


def _require_may_use(
    ctx: Context, application: ApplicationRow, command: Command | None, rows: Mapping[Snowflake, PermissionsRow]
) -> None:
    """Refuse (403/50013) members who may not use a command, or with None those denied all of the application's."""
    ctx.require(Permissions.USE_APPLICATION_COMMANDS)
    if command is not None:
        allowed = can_use_command(ctx.member, ctx.permissions, None, command, rows)
    else:
        denied = is_member_allowed(ctx.member, rows.get(Snowflake(application.id))) is False
        allowed = not denied or ctx.has(Permissions.ADMINISTRATOR)
    if not allowed:
        raise Refusal(errors.MISSING_PERMISSIONS)


async def get_permissions(ctx: Context, application_id: ApplicationId, command_id: Snowflake) -> CommandPermissions:
    """The permissions for a command in the guild visited. Raises Refusal: 404/10066 if there are none."""
    for row in await queries.select_permissions(ctx.tx, ctx.guild.id, application_id):
        if row.command_id == command_id:
            return permissions_object(row)
    raise Refusal(errors.UNKNOWN_COMMAND_PERMISSIONS)


def _audit_changes(before: list[JsonObject], after: list[JsonObject]) -> list[AuditLogChange]:
    """One change for each role, user or channel; its key is the id, as clients read it."""
    old, new = ({entry["id"]: entry for entry in entries} for entries in (before, after))
    return [
        AuditLogChange(key=str(key), old_value=old.get(key, UNSET), new_value=new.get(key, UNSET))
        for key in {**old, **new}
        if old.get(key) != new.get(key)
    ]


async def _check_permissions(
    ctx: Context, permissions: Sequence[CommandPermission], kept: Collection[tuple[Snowflake, int]]
) -> None:
    """Refuse duplicates and ids that are not of the guild; those of `kept` need not be."""
    form_errors = FormErrors()
    if len(permissions) > limits.COMMAND_PERMISSIONS_MAX:
        form_errors.add("permissions", *FieldError.length(None, limits.COMMAND_PERMISSIONS_MAX))
        raise form_errors.refusal()
    user_ids = [UserId(each.id) for each in permissions if each.type == CommandPermissionType.USER]
    members = await get_members(ctx.tx, ctx.guild.id, user_ids)
    for index, each in enumerate(permissions):
        at = form_errors.at(["permissions", index, "id"])
        if any(each.id == other.id and each.type == other.type for other in permissions[:index]):
            at.add([], FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value.")
        if (each.id, each.type) in kept:
            known = True
        elif each.type == CommandPermissionType.ROLE:
            known = RoleId(each.id) in ctx.guild.roles
        elif each.type == CommandPermissionType.USER:
            known = UserId(each.id) in members
        else:
            all_channels = each.id == ctx.guild.id - 1
            known = all_channels or await ctx.guild.channel(ctx.tx, ChannelId(each.id)) is not None
        if not known:
            at.add([], FormCode.BASE_TYPE_CHOICES, f"{int(each.id)} is not of this guild.")
    form_errors.raise_if_any()


def _require_possible(application: ApplicationRow, guild_id: GuildId, body: CommandFields, command_type: int) -> None:
    form_errors = FormErrors()
    check_for_application(application, guild_id, body, command_type, form_errors)
    form_errors.raise_if_any()


async def _count_creations(ctx: Context, application_id: ApplicationId, guild_id: GuildId, number: int) -> None:
    """Count new commands of a scope. Raises Refusal: 400/30034 for more than 200 on a day."""
    if not number:
        return
    day = int(ctx.now) // _DAY_MS
    count = await queries.select_creation_count(ctx.tx, application_id, guild_id, day)
    if count + number > limits.COMMAND_CREATES_PER_DAY:
        raise Refusal(errors.TOO_MANY_COMMAND_CREATES)
    await queries.upsert_creation_count(ctx.tx, application_id, guild_id, day, count + number)


async def _insert(ctx: Context, application: ApplicationRow, guild_id: GuildId, body: CreateCommand) -> Command:
    row = CommandRow(
        application_id=application.id,
        guild_id=guild_id,
        id=CommandId(ctx.ids.next()),
        type=body.kind,
        name=body.name,
        definition=build_definition(application, guild_id, body, {}),
        version=ctx.ids.next(),
    )
    await queries.insert_command(ctx.tx, row)
    return command_object(row)


async def _update(ctx: Context, before: CommandRow, name: str, definition: JsonObject) -> Command:
    """Update a command with a new version, unless nothing changes."""
    if name == before.name and definition == before.definition:
        return command_object(before)
    after = structs.replace(before, name=name, definition=definition, version=ctx.ids.next())
    await queries.update_command(ctx.tx, after)
    if name != before.name:
        await queries.delete_permissions(ctx.tx, before.application_id, [before.id])
    return command_object(after)
