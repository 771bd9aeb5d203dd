"""The SQL of integrations."""

from typing import Any

from msgspec import Struct
from sqlalchemy import bindparam, delete, select

from moothall.objects.ids import ApplicationId, GuildId, IntegrationId, UserId
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.schema import integrations, users


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
    account: dict[str, Any] | None


_select_of_bot = Query(
    select(integrations)
    .select_from(integrations.join(users, users.c.application_id == integrations.c.application_id))
    .where(integrations.c.guild_id == bindparam("guild_id"), users.c.id == bindparam("user_id"), users.c.bot),
    into=IntegrationRow,
)
_delete_integration = Query(
    delete(integrations).where(
        integrations.c.guild_id == bindparam("guild_id"), integrations.c.id == bindparam("integration_id")
    )
)


async def select_of_bot(reader: Reader, guild_id: GuildId, bot_id: UserId) -> list[IntegrationRow]:
    """The integrations that a bot user stands for in a guild."""
    return await reader.all(_select_of_bot, guild_id=guild_id, user_id=bot_id)


async def delete_integration(tx: Transaction, guild_id: GuildId, integration_id: IntegrationId) -> bool:
    """Remove an integration; False if there is none."""
    return await tx.execute(_delete_integration, guild_id=guild_id, integration_id=integration_id) > 0
