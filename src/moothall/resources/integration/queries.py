"""The SQL of integrations."""

from collections.abc import Sequence

from msgspec import Struct

from moothall.objects.ids import ApplicationId, GuildId, IntegrationId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.sql import bindparam, delete, insert, select
from moothall.storage.tables import integrations, users


class IntegrationRow(Struct):
    """A row of `integrations`."""

    guild_id: GuildId
    id: IntegrationId
    name: str
    type: str
    enabled: bool
    application_id: ApplicationId | None
    user_id: UserId | None
    scopes: list[str]
    account: JsonObject | None


_select_of_bot = Query(
    lambda: (
        select(integrations)
        .select_from(integrations.join(users, users.c.application_id == integrations.c.application_id))
        .where(integrations.c.guild_id == bindparam("guild_id"), users.c.id == bindparam("user_id"), users.c.bot)
    ),
    into=IntegrationRow,
)
_select_of_guild = Query(
    lambda: (
        select(integrations)
        .where(integrations.c.guild_id == bindparam("guild_id"))
        .order_by(integrations.c.id)
        .limit(bindparam("maximum"))
    ),
    into=IntegrationRow,
)
_select_integration = Query(
    lambda: select(integrations).where(
        integrations.c.guild_id == bindparam("guild_id"), integrations.c.id == bindparam("integration_id")
    ),
    into=IntegrationRow,
)
_select_of_application = Query(
    lambda: (
        select(integrations)
        .where(
            integrations.c.guild_id == bindparam("guild_id"),
            integrations.c.application_id == bindparam("application_id"),
        )
        .limit(1)
    ),
    into=IntegrationRow,
)
_select_application_ids = Query(
    lambda: select(integrations.c.application_id).where(
        integrations.c.guild_id == bindparam("guild_id"), in_list(integrations.c.application_id, "application_ids")
    )
)
_insert_integration = Query(lambda: insert(integrations))
_delete_integration = Query(
    lambda: delete(integrations).where(
        integrations.c.guild_id == bindparam("guild_id"), integrations.c.id == bindparam("integration_id")
    )
)


async def select_of_bot(reader: Reader, guild_id: GuildId, bot_id: UserId) -> list[IntegrationRow]:
    """The integrations in a guild of the application of a bot."""
    return await reader.all(_select_of_bot, guild_id=guild_id, user_id=bot_id)


async def delete_integration(tx: Transaction, guild_id: GuildId, integration_id: IntegrationId) -> bool:
    """Delete an integration; False if there is none."""
    return await tx.execute(_delete_integration, guild_id=guild_id, integration_id=integration_id) > 0


async def select_of_guild(reader: Reader, guild_id: GuildId, maximum: int) -> list[IntegrationRow]:
    """The first `maximum` integrations of a guild, oldest first."""
    return await reader.all(_select_of_guild, guild_id=guild_id, maximum=maximum)


async def select_integration(reader: Reader, guild_id: GuildId, integration_id: IntegrationId) -> IntegrationRow | None:
    """One integration of a guild; None if there is none with this id."""
    return await reader.one(_select_integration, guild_id=guild_id, integration_id=integration_id)


async def select_of_application(
    reader: Reader, guild_id: GuildId, application_id: ApplicationId
) -> IntegrationRow | None:
    """The integration of an application in a guild; None if there is none."""
    return await reader.one(_select_of_application, guild_id=guild_id, application_id=application_id)


async def select_application_ids(
    reader: Reader, guild_id: GuildId, application_ids: Sequence[ApplicationId]
) -> list[ApplicationId]:
    """Those of the applications that have an integration in a guild."""
    rows = await reader.all(_select_application_ids, guild_id=guild_id, application_ids=list(application_ids))
    return [ApplicationId(Snowflake(row[0])) for row in rows]


async def insert_integration(tx: Transaction, row: IntegrationRow) -> None:
    """Insert an integration."""
    await tx.execute(_insert_integration, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_integration(tx: Transaction, row: IntegrationRow, **columns: object) -> None:
    """Set columns of an integration's row."""
    query = update_columns(integrations, key=("guild_id", "id"), columns=frozenset(columns))
    await tx.execute(query, guild_id=row.guild_id, id=row.id, **columns)
