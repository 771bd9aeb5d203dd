"""The SQL of commands."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import bindparam, delete, func, insert, select, update

from moothall.objects.ids import ApplicationId, CommandId, GuildId, Snowflake
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.schema import command_creations, command_permissions, commands, interactions

EVERYWHERE: Final = GuildId(Snowflake(0))
"""The scope of global commands."""


class CommandRow(Struct):
    """A row of `commands`."""

    application_id: ApplicationId
    guild_id: GuildId
    id: CommandId
    type: int
    name: str
    definition: dict[str, Any]
    version: Snowflake


class PermissionsRow(Struct):
    """A row of `command_permissions`."""

    guild_id: GuildId
    application_id: ApplicationId
    command_id: Snowflake
    permissions: list[dict[str, Any]]


_scope = (commands.c.application_id == bindparam("application_id")) & (commands.c.guild_id == bindparam("guild_id"))
_this = _scope & (commands.c.id == bindparam("command_id"))
_select_command = Query(select(commands).where(_this), into=CommandRow)
_select_by_id = Query(select(commands).where(commands.c.id == bindparam("command_id")), into=CommandRow)
_select_by_ids = Query(
    select(commands).where(in_list(commands.c.id, "command_ids")).order_by(commands.c.id), into=CommandRow
)
_select_scope = Query(select(commands).where(_scope).order_by(commands.c.id), into=CommandRow)
_select_by_name = Query(
    select(commands).where(_scope, commands.c.type == bindparam("type"), commands.c.name == bindparam("name")),
    into=CommandRow,
)
_select_of_applications = Query(
    select(commands)
    .where(
        in_list(commands.c.application_id, "application_ids"),
        commands.c.guild_id.in_((0, bindparam("guild_id"))),
    )
    .order_by(commands.c.id),
    into=CommandRow,
)
_count_of_type = Query(select(func.count()).select_from(commands).where(_scope, commands.c.type == bindparam("type")))
_insert_command = Query(insert(commands))
_update_command = Query(
    update(commands)
    .where(_this)
    .values(name=bindparam("new_name"), definition=bindparam("new_definition"), version=bindparam("new_version"))
)
_delete_commands = Query(delete(commands).where(_scope, in_list(commands.c.id, "command_ids")))
_delete_of_application = Query(delete(commands).where(commands.c.application_id == bindparam("application_id")))
_delete_in_guild = Query(delete(commands).where(_scope))
_settings = (command_permissions.c.guild_id == bindparam("guild_id")) & (
    command_permissions.c.application_id == bindparam("application_id")
)
_select_permissions = Query(
    select(command_permissions).where(_settings).order_by(command_permissions.c.command_id), into=PermissionsRow
)
_select_guild_permissions = Query(
    select(command_permissions).where(command_permissions.c.guild_id == bindparam("guild_id")), into=PermissionsRow
)
_put_permissions = Query(
    upsert(command_permissions, key=("guild_id", "application_id", "command_id"), update=("permissions",))
)
_delete_permissions = Query(
    delete(command_permissions).where(
        command_permissions.c.application_id == bindparam("application_id"),
        in_list(command_permissions.c.command_id, "command_ids"),
    )
)
_delete_permissions_in_guild = Query(delete(command_permissions).where(_settings))
_delete_permissions_of = Query(
    delete(command_permissions).where(command_permissions.c.application_id == bindparam("application_id"))
)
_select_creations = Query(
    select(command_creations.c.day, command_creations.c.count).where(
        command_creations.c.application_id == bindparam("application_id"),
        command_creations.c.guild_id == bindparam("guild_id"),
    )
)
_put_creations = Query(upsert(command_creations, key=("application_id", "guild_id"), update=("day", "count")))
_delete_interactions_in_guild = Query(
    delete(interactions).where(
        interactions.c.application_id == bindparam("application_id"), interactions.c.guild_id == bindparam("guild_id")
    )
)
_delete_interactions = Query(delete(interactions).where(interactions.c.application_id == bindparam("application_id")))
_delete_creations = Query(
    delete(command_creations).where(command_creations.c.application_id == bindparam("application_id"))
)


async def select_command(
    reader: Reader, application_id: ApplicationId, guild_id: GuildId, command_id: CommandId
) -> CommandRow | None:
    """A command of an application in one scope; None if there is none."""
    return await reader.one(_select_command, application_id=application_id, guild_id=guild_id, command_id=command_id)


async def select_by_id(reader: Reader, command_id: CommandId) -> CommandRow | None:
    """A command, whosever it is; None if there is none."""
    return await reader.one(_select_by_id, command_id=command_id)


async def select_by_ids(reader: Reader, command_ids: Iterable[Snowflake]) -> list[CommandRow]:
    """Commands by their ids, oldest first."""
    wanted = list(set(command_ids))
    return await reader.all(_select_by_ids, command_ids=wanted) if wanted else []


async def select_scope(reader: Reader, application_id: ApplicationId, guild_id: GuildId) -> list[CommandRow]:
    """The commands of an application in one scope, oldest first."""
    return await reader.all(_select_scope, application_id=application_id, guild_id=guild_id)


async def select_by_name(
    reader: Reader, application_id: ApplicationId, guild_id: GuildId, kind: int, name: str
) -> CommandRow | None:
    """The command of a name; None if there is none."""
    return await reader.one(_select_by_name, application_id=application_id, guild_id=guild_id, type=kind, name=name)


async def select_of_applications(
    reader: Reader, application_ids: Iterable[ApplicationId], guild_id: GuildId
) -> list[CommandRow]:
    """The global commands of some applications, and those that they have in one guild."""
    wanted = list(set(application_ids))
    if not wanted:
        return []
    return await reader.all(_select_of_applications, application_ids=wanted, guild_id=guild_id)


async def count_of_type(reader: Reader, application_id: ApplicationId, guild_id: GuildId, kind: int) -> int:
    """How many commands of a type an application has in one scope."""
    return int(await reader.scalar(_count_of_type, application_id=application_id, guild_id=guild_id, type=kind) or 0)


async def insert_command(tx: Transaction, row: CommandRow) -> None:
    """Store a new command."""
    await tx.execute(_insert_command, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_command(tx: Transaction, row: CommandRow) -> None:
    """Store what a command has become."""
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
    """Remove commands with what guilds say about them."""
    await tx.execute(_delete_commands, application_id=application_id, guild_id=guild_id, command_ids=list(command_ids))
    await forget_permissions(tx, application_id, command_ids)


async def forget_permissions(tx: Transaction, application_id: ApplicationId, command_ids: Sequence[CommandId]) -> None:
    """Remove what guilds say about commands of an application."""
    listed = [Snowflake(command_id) for command_id in command_ids]
    await tx.execute(_delete_permissions, application_id=application_id, command_ids=listed)


async def delete_in_guild(tx: Transaction, application_id: ApplicationId, guild_id: GuildId) -> None:
    """Remove what an application has in a guild that it leaves; the tokens of its interactions there end as well."""
    for query in (_delete_in_guild, _delete_permissions_in_guild, _delete_interactions_in_guild):
        await tx.execute(query, application_id=application_id, guild_id=guild_id)


async def delete_of_application(tx: Transaction, application_id: ApplicationId) -> None:
    """Remove everything of an application that ends."""
    for query in (_delete_of_application, _delete_permissions_of, _delete_creations, _delete_interactions):
        await tx.execute(query, application_id=application_id)


async def select_permissions(reader: Reader, guild_id: GuildId, application_id: ApplicationId) -> list[PermissionsRow]:
    """What a guild says about an application's commands."""
    return await reader.all(_select_permissions, guild_id=guild_id, application_id=application_id)


async def select_guild_permissions(reader: Reader, guild_id: GuildId) -> list[PermissionsRow]:
    """What a guild says about all commands."""
    return await reader.all(_select_guild_permissions, guild_id=guild_id)


async def put_permissions(tx: Transaction, row: PermissionsRow) -> None:
    """Store what a guild says about a command."""
    await tx.execute(_put_permissions, **{name: getattr(row, name) for name in row.__struct_fields__})


async def count_creations(tx: Transaction, application_id: ApplicationId, guild_id: GuildId, day: int) -> int:
    """How many commands an application has made in a scope on a day."""
    found = await tx.one(_select_creations, application_id=application_id, guild_id=guild_id)
    return found[1] if found is not None and found[0] == day else 0


async def put_creations(
    tx: Transaction, application_id: ApplicationId, guild_id: GuildId, day: int, count: int
) -> None:
    """Remember how many commands an application has made in a scope on a day."""
    await tx.execute(_put_creations, application_id=application_id, guild_id=guild_id, day=day, count=count)
