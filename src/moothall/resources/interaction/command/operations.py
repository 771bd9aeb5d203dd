"""How commands come to be, change and go, and what guilds say about them."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from msgspec import UNSET, structs

from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.application import ApplicationFlags
from moothall.objects.audit_log import AuditLogChange, AuditLogEvent, AuditLogOptions
from moothall.objects.command import Command, CommandPermission, CommandPermissions, CommandPermissionType, CommandType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ApplicationId, ChannelId, CommandId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.wire import to_plain
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.interaction.command import queries
from moothall.resources.interaction.command.events import ApplicationCommandPermissionsUpdate
from moothall.resources.interaction.command.objects import command_object, default_entry_point, permissions_object
from moothall.resources.interaction.command.queries import EVERYWHERE, CommandRow, PermissionsRow
from moothall.resources.interaction.command.requests import CommandFields, CreateCommand, ModifyCommand, check_command
from moothall.resources.member.queries import get_members

_DAY_MS: Final = 86_400_000
_PLAIN: Final = (
    "name_localizations",
    "description",
    "description_localizations",
    "options",
    "default_member_permissions",
    "nsfw",
    "handler",
)
_GLOBAL_ONLY: Final = ("contexts", "integration_types")


async def create_command(
    ctx: Context, application: ApplicationRow, guild_id: GuildId, body: CreateCommand
) -> tuple[Command, bool]:
    """Make a command, or change the one of its name; the command, and whether it is new.

    Raises Refusal: 50035 for what does not fit the application, 400/30032 where there are as many of
    its type as may be, 400/30034 for more than 200 made in a day.
    """
    _check(application, guild_id, body, body.kind)
    before = await queries.select_by_name(ctx.tx, application.id, guild_id, body.kind, body.name)
    if before is None and body.kind == CommandType.PRIMARY_ENTRY_POINT:
        before = next(
            (row for row in await queries.select_scope(ctx.tx, application.id, guild_id) if row.type == body.kind), None
        )
    if before is not None:
        return await _store(ctx, before, body.name, _definition(application, guild_id, body, {})), False
    if await queries.count_of_type(ctx.tx, application.id, guild_id, body.kind) >= limits.COMMANDS_MAX[body.kind]:
        raise Refusal(errors.TOO_MANY_COMMANDS)
    await _count_creations(ctx, application.id, guild_id, 1)
    row = _new_row(ctx, application, guild_id, body)
    await queries.insert_command(ctx.tx, row)
    return command_object(row), True


async def modify_command(
    ctx: Context, application: ApplicationRow, guild_id: GuildId, command_id: CommandId, body: ModifyCommand
) -> Command:
    """Change what a request names of a command. Renaming it ends what guilds say about it.

    Raises Refusal: 404/10063, 50035, also for a name that another command has.
    """
    row = await get_command(ctx, application.id, guild_id, command_id)
    form_errors = FormErrors()
    check_command(body, body.name, row.type, form_errors, whole=False)
    name = row.name if body.name is UNSET else body.name
    if name != row.name:
        other = await queries.select_by_name(ctx.tx, application.id, guild_id, row.type, name)
        if other is not None:
            form_errors.add("name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
    form_errors.raise_if_any()
    _check(application, guild_id, body, row.type)
    return await _store(ctx, row, name, _definition(application, guild_id, body, row.definition))


async def delete_command(ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId) -> None:
    """Remove a command. Raises Refusal: 404/10063."""
    row = await get_command(ctx, application_id, guild_id, command_id)
    await queries.delete_commands(ctx.tx, application_id, guild_id, [row.id])


async def overwrite_commands(
    ctx: Context, application: ApplicationRow, guild_id: GuildId, bodies: Sequence[CreateCommand]
) -> list[Command]:
    """Make a scope hold exactly the commands listed; those of a known id or name keep their ids.

    All or nothing. Raises as `create_command`, with the index of what is wrong.
    """
    _check_all(application, guild_id, bodies)
    before = await queries.select_scope(ctx.tx, application.id, guild_id)
    rows = _reused_rows(before, bodies)
    reused_ids = {row.id for row in rows.values()}
    if removed_ids := [row.id for row in before if row.id not in reused_ids]:
        await queries.delete_commands(ctx.tx, application.id, guild_id, removed_ids)
    await _count_creations(ctx, application.id, guild_id, len(bodies) - len(rows))
    commands = []
    for index, body in enumerate(bodies):
        if index in rows:
            definition = _definition(application, guild_id, body, {})
            commands.append(await _store(ctx, rows[index], body.name, definition))
        else:
            row = _new_row(ctx, application, guild_id, body)
            await queries.insert_command(ctx.tx, row)
            commands.append(command_object(row))
    return commands


def _check_all(application: ApplicationRow, guild_id: GuildId, bodies: Sequence[CreateCommand]) -> None:
    """Refuse commands that cannot be all those of a scope: 50035 by index, 400/30032 for too many of a type."""
    form = FormErrors()
    for index, body in enumerate(bodies):
        check_command(body, body.name, body.kind, form.at([index]))
        _check_into(application, guild_id, body, body.kind, form.at([index]))
        if any(body.kind == other.kind and body.name == other.name for other in bodies[:index]):
            form.add([index, "name"], "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
    form.raise_if_any()
    for kind, maximum in limits.COMMANDS_MAX.items():
        if sum(body.kind == kind for body in bodies) > maximum:
            raise Refusal(errors.TOO_MANY_COMMANDS)


def _reused_rows(before: Sequence[CommandRow], bodies: Sequence[CreateCommand]) -> dict[int, CommandRow]:
    """The rows that commands of a request take over, by the command's index: those of its name, else of its id."""
    by_id = {row.id: row for row in before}
    by_name = {(row.type, row.name): row for row in before}
    names = {(body.kind, body.name) for body in bodies}
    rows: dict[int, CommandRow] = {}
    for index, body in enumerate(bodies):
        row = by_name.get((body.kind, body.name))
        if row is None and body.id is not None:
            row = by_id.get(body.id)
            if row is not None and (row.type != body.kind or (row.type, row.name) in names):
                row = None
        if row is not None and row not in rows.values():
            rows[index] = row
    return rows


async def get_command(
    ctx: Context, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId
) -> CommandRow:
    """A command of an application in one scope. Raises Refusal: 404/10063."""
    row = await queries.select_command(ctx.tx, application_id, guild_id, command_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
    return row


async def keep_entry_point(ctx: Context, application: ApplicationRow) -> None:
    """Give an application that now has Activities its entry point, unless it has one."""
    if not application.flags & ApplicationFlags.EMBEDDED:
        return
    if await queries.count_of_type(ctx.tx, application.id, EVERYWHERE, CommandType.PRIMARY_ENTRY_POINT):
        return
    values = default_entry_point(CommandId(ctx.ids.next()), ctx.ids.next())
    await queries.insert_command(ctx.tx, CommandRow(application_id=application.id, guild_id=EVERYWHERE, **values))


async def set_permissions(
    ctx: Context, application: ApplicationRow, command_id: Snowflake, wanted: Sequence[CommandPermission]
) -> CommandPermissions:
    """Say in the guild entered who may use a command, or with the application's id all that nothing is said of.

    Raises Refusal: 404/10063, 50035 for more than 100, for one twice, and for what is not of the guild.
    """
    guild_id = ctx.guild.id
    if command_id != application.id:
        row = await queries.select_by_id(ctx.tx, CommandId(command_id))
        if row is None or row.application_id != application.id or row.guild_id not in {EVERYWHERE, guild_id}:
            raise Refusal(errors.UNKNOWN_APPLICATION_COMMAND)
    before = {row.command_id: row for row in await queries.select_permissions(ctx.tx, guild_id, application.id)}
    earlier = before.get(command_id)
    # Clients give back what they were told: who is gone meanwhile may stay where they were.
    kept = set() if earlier is None else {(each.id, each.type) for each in permissions_object(earlier).permissions}
    await _check_permissions(ctx, wanted, kept)
    after = PermissionsRow(
        guild_id=guild_id,
        application_id=application.id,
        command_id=command_id,
        permissions=[to_plain(permission) for permission in wanted],
    )
    await queries.put_permissions(ctx.tx, after)
    told = permissions_object(after)
    if earlier is None or earlier.permissions != after.permissions:
        await ctx.audit(
            AuditLogEvent.APPLICATION_COMMAND_PERMISSION_UPDATE,
            target=command_id,
            changes=_changes([] if earlier is None else earlier.permissions, after.permissions),
            options=AuditLogOptions(application_id=Snowflake(application.id)),
        )
        ctx.emit(ApplicationCommandPermissionsUpdate(guild_id=guild_id, permissions=told))
    return told


async def get_permissions(ctx: Context, application_id: ApplicationId, command_id: Snowflake) -> CommandPermissions:
    """What the guild visited says about a command. Raises Refusal: 404/10066 where it says nothing."""
    for row in await queries.select_permissions(ctx.tx, ctx.guild.id, application_id):
        if row.command_id == command_id:
            return permissions_object(row)
    raise Refusal(errors.UNKNOWN_COMMAND_PERMISSIONS)


def _changes(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[AuditLogChange]:
    """One change for each role, user or channel, under its id, as clients read it."""
    old, new = ({entry["id"]: entry for entry in entries} for entries in (before, after))
    return [
        AuditLogChange(key=str(key), old_value=old.get(key, UNSET), new_value=new.get(key, UNSET))
        for key in {**old, **new}
        if old.get(key) != new.get(key)
    ]


async def _check_permissions(
    ctx: Context, wanted: Sequence[CommandPermission], kept: Collection[tuple[Snowflake, int]]
) -> None:
    form_errors = FormErrors()
    if len(wanted) > limits.COMMAND_PERMISSIONS_MAX:
        form_errors.add("permissions", *FieldError.length(None, limits.COMMAND_PERMISSIONS_MAX))
        raise form_errors.refusal()
    users = [UserId(each.id) for each in wanted if each.type == CommandPermissionType.USER]
    members = await get_members(ctx.tx, ctx.guild.id, users)
    for index, each in enumerate(wanted):
        at = form_errors.at(["permissions", index, "id"])
        if any(each.id == other.id and each.type == other.type for other in wanted[:index]):
            at.add([], FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value.")
        if (each.id, each.type) in kept:
            known = True
        elif each.type == CommandPermissionType.ROLE:
            known = RoleId(each.id) in ctx.guild.roles
        elif each.type == CommandPermissionType.USER:
            known = UserId(each.id) in members
        else:
            everywhere = each.id == ctx.guild.id - 1
            known = everywhere or await ctx.guild.channel(ctx.tx, ChannelId(each.id)) is not None
        if not known:
            at.add([], FormCode.BASE_TYPE_CHOICES, f"{int(each.id)} is not of this guild.")
    form_errors.raise_if_any()


def _check(application: ApplicationRow, guild_id: GuildId, body: CommandFields, kind: int) -> None:
    form_errors = FormErrors()
    _check_into(application, guild_id, body, kind, form_errors)
    form_errors.raise_if_any()


def _check_into(
    application: ApplicationRow, guild_id: GuildId, body: CommandFields, kind: int, form_errors: FormErrors
) -> None:
    """What a command may be depends on its application too: its Activities, and where it can be installed."""
    if kind == CommandType.PRIMARY_ENTRY_POINT:
        if guild_id != EVERYWHERE:
            form_errors.add("type", FormCode.BASE_TYPE_CHOICES, "An entry point is never a guild's.")
        elif not application.flags & ApplicationFlags.EMBEDDED:
            form_errors.add(
                "type", FormCode.BASE_TYPE_CHOICES, "Only applications with Activities have an entry point."
            )
    supported = {int(key) for key in application.integration_types_config or {}}
    for index, each in enumerate(body.integration_types or ()):
        if int(each) not in supported:
            form_errors.add(["integration_types", index], *FieldError.choices(tuple(sorted(supported))))


async def _count_creations(ctx: Context, application_id: ApplicationId, guild_id: GuildId, more: int) -> None:
    if not more:
        return
    day = int(ctx.now) // _DAY_MS
    count = await queries.count_creations(ctx.tx, application_id, guild_id, day)
    if count + more > limits.COMMAND_CREATES_PER_DAY:
        raise Refusal(errors.TOO_MANY_COMMAND_CREATES)
    await queries.put_creations(ctx.tx, application_id, guild_id, day, count + more)


def _new_row(ctx: Context, application: ApplicationRow, guild_id: GuildId, body: CreateCommand) -> CommandRow:
    return CommandRow(
        application_id=application.id,
        guild_id=guild_id,
        id=CommandId(ctx.ids.next()),
        type=body.kind,
        name=body.name,
        definition=_definition(application, guild_id, body, {}),
        version=ctx.ids.next(),
    )


async def _store(ctx: Context, before: CommandRow, name: str, definition: dict[str, Any]) -> Command:
    if name == before.name and definition == before.definition:
        return command_object(before)
    after = structs.replace(before, name=name, definition=definition, version=ctx.ids.next())
    await queries.update_command(ctx.tx, after)
    if name != before.name:
        await queries.forget_permissions(ctx.tx, before.application_id, [before.id])
    return command_object(after)


def _definition(
    application: ApplicationRow, guild_id: GuildId, body: CommandFields, before: dict[str, Any]
) -> dict[str, Any]:
    """What is stored of a command: what was there, what the request says, and the defaults of the rest."""
    done: dict[str, Any] = {"description": "", "default_member_permissions": None, "nsfw": False} | before
    for field in _PLAIN:
        value = getattr(body, field)
        if value is not UNSET:
            done[field] = _without_nulls(to_plain(value))
    if done.get("description") is None:
        done["description"] = ""
    if done["nsfw"] is None:
        done["nsfw"] = False
    for field in ("options", "handler"):
        if not done.get(field):
            done.pop(field, None)
    if body.default_permission is False:
        done["default_member_permissions"] = "0"
    return done if guild_id != EVERYWHERE else _with_scope(application, body, done)


def _with_scope(application: ApplicationRow, body: CommandFields, done: dict[str, Any]) -> dict[str, Any]:
    """The same with where it can be used, which only global commands say."""
    for field in _GLOBAL_ONLY:
        value = getattr(body, field)
        if value is not UNSET:
            done[field] = None if value is None else [int(each) for each in value]
    if body.dm_permission is not UNSET and body.contexts is UNSET:
        done["contexts"] = [0] if body.dm_permission is False else None
    if done.get("integration_types") is None:
        done["integration_types"] = sorted(int(key) for key in application.integration_types_config or {"0": {}})
    done.setdefault("contexts", None)
    done["dm_permission"] = done["contexts"] is None or 1 in done["contexts"]
    return done


def _without_nulls(value: Any) -> Any:
    """The same without keys of null below the top, which stand for absence."""
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return value
