"""The SQL of application commands and of guilds' permissions for them."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from moothall.objects.ids import ApplicationId, CommandId, GuildId, Snowflake
from moothall.objects.json_object import JsonObject
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.sql import bindparam, delete, func, insert, select, update
from moothall.storage.tables import command_creations, command_permissions, commands, interactions

GLOBAL_SCOPE: Final = GuildId(Snowflake(0))
"""The `guild_id` of global commands."""


class CommandRow(Struct):
    """A row of `commands`; `definition` has the fields of the Application Command object that are not columns."""

    application_id: ApplicationId
    guild_id: GuildId
    id: CommandId
    type: int
    name: str
    definition: JsonObject
    version: Snowflake


class PermissionsRow(Struct):
    """A row of `command_permissions`; `command_id` is the application's id in permissions for all its commands."""

    guild_id: GuildId
    application_id: ApplicationId
    command_id: Snowflake
    permissions: list[JsonObject]


_scope = (commands.c.application_id == bindparam("application_id")) & (commands.c.guild_id == bindparam("guild_id"))
_command = _scope & (commands.c.id == bindparam("command_id"))
_select_command = Query(lambda: select(commands).where(_command), into=CommandRow)
_select_command_by_id = Query(lambda: select(commands).where(commands.c.id == bindparam("command_id")), into=CommandRow)
_select_commands_by_ids = Query(
    lambda: select(commands).where(in_list(commands.c.id, "command_ids")).order_by(commands.c.id), into=CommandRow
)
_select_commands = Query(lambda: select(commands).where(_scope).order_by(commands.c.id), into=CommandRow)
_select_command_by_name = Query(
    lambda: select(commands).where(_scope, commands.c.type == bindparam("type"), commands.c.name == bindparam("name")),
    into=CommandRow,
)
_select_commands_of_applications = Query(
    lambda: (
        select(commands)
        .where(
            in_list(commands.c.application_id, "application_ids"),
            commands.c.guild_id.in_((0, bindparam("guild_id"))),
        )
        .order_by(commands.c.id)
    ),
    into=CommandRow,
)
_count_commands = Query(
    lambda: select(func.count()).select_from(commands).where(_scope, commands.c.type == bindparam("type"))
)
_insert_command = Query(lambda: insert(commands))
_update_command = Query(
    lambda: (
        update(commands)
        .where(_command)
        .values(name=bindparam("new_name"), definition=bindparam("new_definition"), version=bindparam("new_version"))
    )
)
_delete_commands = Query(lambda: delete(commands).where(_scope, in_list(commands.c.id, "command_ids")))
_delete_commands_of_application = Query(
    lambda: delete(commands).where(commands.c.application_id == bindparam("application_id"))
)
_delete_commands_in_guild = Query(lambda: delete(commands).where(_scope))
_guild_permissions = (command_permissions.c.guild_id == bindparam("guild_id")) & (
    command_permissions.c.application_id == bindparam("application_id")
)
_select_permissions = Query(
    lambda: select(command_permissions).where(_guild_permissions).order_by(command_permissions.c.command_id),
    into=PermissionsRow,
)
_select_guild_permissions = Query(
    lambda: select(command_permissions).where(command_permissions.c.guild_id == bindparam("guild_id")),
    into=PermissionsRow,
)
_upsert_permissions = Query(
    lambda: upsert(command_permissions, key=("guild_id", "application_id", "command_id"), update=("permissions",))
)
_delete_permissions = Query(
    lambda: delete(command_permissions).where(
        command_permissions.c.application_id == bindparam("application_id"),
        in_list(command_permissions.c.command_id, "command_ids"),
    )
)
_delete_permissions_in_guild = Query(lambda: delete(command_permissions).where(_guild_permissions))
_delete_permissions_of_application = Query(
    lambda: delete(command_permissions).where(command_permissions.c.application_id == bindparam("application_id"))
)
_select_creation_count = Query(
    lambda: select(command_creations.c.day, command_creations.c.count).where(
        command_creations.c.application_id == bindparam("application_id"),
        command_creations.c.guild_id == bindparam("guild_id"),
    )
)
_upsert_creation_count = Query(
    lambda: upsert(command_creations, key=("application_id", "guild_id"), update=("day", "count"))
)
_delete_interactions_in_guild = Query(
    lambda: delete(interactions).where(
        interactions.c.application_id == bindparam("application_id"), interactions.c.guild_id == bindparam("guild_id")
    )
)
_delete_interactions = Query(
    lambda: delete(interactions).where(interactions.c.application_id == bindparam("application_id"))
)
_delete_creation_counts = Query(
    lambda: delete(command_creations).where(command_creations.c.application_id == bindparam("application_id"))
)


async def select_command(
    reader: Reader, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId
) -> CommandRow | None:
    """Select a command of an application in one scope; None if there is none."""
    return await reader.one(_select_command, application_id=application_id, guild_id=guild_id, command_id=command_id)


async def select_command_by_id(reader: Reader, command_id: CommandId) -> CommandRow | None:
    """Select a command of any application; None if there is none."""
    return await reader.one(_select_command_by_id, command_id=command_id)


async def select_commands_by_ids(reader: Reader, command_ids: Iterable[Snowflake]) -> list[CommandRow]:
    """Select commands of any application, oldest first."""
    ids = list(set(command_ids))
    return await reader.all(_select_commands_by_ids, command_ids=ids) if ids else []


async def select_commands(reader: Reader, application_id: ApplicationId, guild_id: GuildId) -> list[CommandRow]:
    """Select the commands of an application in one scope, oldest first."""
    return await reader.all(_select_commands, application_id=application_id, guild_id=guild_id)


async def select_command_by_name(
    reader: Reader, application_id: ApplicationId, guild_id: GuildId, command_type: int, name: str
) -> CommandRow | None:
    """Select the command of a type and name in one scope; None if there is none."""
    return await reader.one(
        _select_command_by_name, application_id=application_id, guild_id=guild_id, type=command_type, name=name
    )


async def select_commands_of_applications(
    reader: Reader, application_ids: Iterable[ApplicationId], guild_id: GuildId
) -> list[CommandRow]:
    """Select the global commands of applications, and their commands of one guild, oldest first."""
    ids = list(set(application_ids))
    if not ids:
        return []
    return await reader.all(_select_commands_of_applications, application_ids=ids, guild_id=guild_id)


async def count_commands(reader: Reader, application_id: ApplicationId, guild_id: GuildId, command_type: int) -> int:
    """Count an application's commands of a type in one scope."""
    count = await reader.scalar(_count_commands, application_id=application_id, guild_id=guild_id, type=command_type)
    return int(count or 0)


async def insert_command(tx: Transaction, row: CommandRow) -> None:
    """Insert a command."""
    await tx.execute(_insert_command, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_command(tx: Transaction, row: CommandRow) -> None:
    """Update the name, definition and version of a command."""
    await tx.execute(
        _update_command,
        application_id=row.application_id,
        guild_id=row.guild_id,
        command_id=row.id,
        new_name=row.name,
        new_definition=row.definition,
        new_version=row.version,
    )


async def delete_commands(
    tx: Transaction, application_id: ApplicationId, guild_id: GuildId, command_ids: Sequence[CommandId]
) -> None:
    """Delete commands, and guilds' permissions for them."""
    await tx.execute(_delete_commands, application_id=application_id, guild_id=guild_id, command_ids=list(command_ids))
    await delete_permissions(tx, application_id, command_ids)


async def delete_permissions(tx: Transaction, application_id: ApplicationId, command_ids: Sequence[CommandId]) -> None:
    """Delete all guilds' permissions for commands."""
    ids = [Snowflake(command_id) for command_id in command_ids]
    await tx.execute(_delete_permissions, application_id=application_id, command_ids=ids)


async def delete_all_in_guild(tx: Transaction, application_id: ApplicationId, guild_id: GuildId) -> None:
    """Delete an application's commands of a guild, their permissions there, and its interactions with their tokens."""
    for query in (_delete_commands_in_guild, _delete_permissions_in_guild, _delete_interactions_in_guild):
        await tx.execute(query, application_id=application_id, guild_id=guild_id)


async def delete_all_of_application(tx: Transaction, application_id: ApplicationId) -> None:
    """Delete an application's commands, their permissions, its creation counts and its interactions."""
    for query in (
        _delete_commands_of_application,
        _delete_permissions_of_application,
        _delete_creation_counts,
        _delete_interactions,
    ):
        await tx.execute(query, application_id=application_id)


async def select_permissions(reader: Reader, guild_id: GuildId, application_id: ApplicationId) -> list[PermissionsRow]:
    """Select a guild's permissions for an application and its commands."""
    return await reader.all(_select_permissions, guild_id=guild_id, application_id=application_id)


async def select_guild_permissions(reader: Reader, guild_id: GuildId) -> list[PermissionsRow]:
    """Select a guild's permissions for all applications and commands."""
    return await reader.all(_select_guild_permissions, guild_id=guild_id)


async def upsert_permissions(tx: Transaction, row: PermissionsRow) -> None:
    """Insert or replace a guild's permissions for a command."""
    await tx.execute(_upsert_permissions, **{name: getattr(row, name) for name in row.__struct_fields__})


async def select_creation_count(reader: Reader, application_id: ApplicationId, guild_id: GuildId, day: int) -> int:
    """Select how many commands an application has created in a scope on a day (days since 1970)."""
    row = await reader.one(_select_creation_count, application_id=application_id, guild_id=guild_id)
    return row[1] if row is not None and row[0] == day else 0


async def upsert_creation_count(
    tx: Transaction, application_id: ApplicationId, guild_id: GuildId, day: int, count: int
) -> None:
    """Insert or replace how many commands an application has created in a scope on a day (days since 1970)."""
    await tx.execute(_upsert_creation_count, application_id=application_id, guild_id=guild_id, day=day, count=count)
