"""The SQL of identity providers and their groups."""

from functools import partial
from typing import Any, Final

from msgspec import Struct

from moothall.objects.ids import GuildId, RoleId, Snowflake
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, update_columns
from moothall.storage.sql import Delete, Table, bindparam, delete, insert, select
from moothall.storage.tables import (
    auth_sessions,
    factor_tickets,
    guilds,
    identities,
    identity_providers,
    provider_groups,
    provider_memberships,
    roles,
)


class ProviderRow(Struct, frozen=True):
    """A row of `identity_providers`."""

    id: Snowflake
    name: str
    label: str
    issuer: str
    client_id: str
    client_secret: bytes | None
    scopes: str
    username_claim: str
    groups_claim: str
    creates_accounts: bool
    enabled: bool
    created_at: Timestamp


class GroupRow(Struct, frozen=True):
    """A row of `provider_groups`."""

    guild_id: GuildId
    id: Snowflake
    provider_id: Snowflake
    name: str
    role_id: RoleId | None


class NamedGroupRow(GroupRow, frozen=True):
    """A group with the names of what its people get; None for a role that is gone."""

    guild_name: str
    role_name: str | None


_p, _g = identity_providers.c, provider_groups.c
_select_all = Query(lambda: select(identity_providers).order_by(_p.id), into=ProviderRow)
_select = Query(lambda: select(identity_providers).where(_p.id == bindparam("provider_id")), into=ProviderRow)
_select_by_name = Query(lambda: select(identity_providers).where(_p.name == bindparam("name")), into=ProviderRow)
_insert = Query(lambda: insert(identity_providers))
_delete = Query(lambda: delete(identity_providers).where(_p.id == bindparam("provider_id")))
_select_groups = Query(
    lambda: select(provider_groups).where(_g.provider_id == bindparam("provider_id")).order_by(_g.id), into=GroupRow
)
_select_named_groups = Query(
    lambda: (
        select(provider_groups, guilds.c.name.label("guild_name"), roles.c.name.label("role_name"))
        .select_from(
            provider_groups.join(guilds, guilds.c.id == _g.guild_id).outerjoin(
                roles, (roles.c.guild_id == _g.guild_id) & (roles.c.id == _g.role_id)
            )
        )
        .where(_g.provider_id == bindparam("provider_id"))
        .order_by(_g.id)
    ),
    into=NamedGroupRow,
)
_select_provider_of_role = Query(
    lambda: select(_g.provider_id).where(_g.guild_id == bindparam("guild_id"), _g.role_id == bindparam("role_id"))
)
_insert_group = Query(lambda: insert(provider_groups))
_delete_group = Query(
    lambda: delete(provider_groups).where(
        _g.guild_id == bindparam("guild_id"), _g.id == bindparam("group_id"), _g.provider_id == bindparam("provider_id")
    )
)


def _delete_of(table: Table) -> Delete:
    return delete(table).where(table.c.provider_id == bindparam("provider_id"))


_OF_PROVIDER: Final[tuple[Query[Any], ...]] = tuple(
    Query(partial(_delete_of, table)) for table in (provider_groups, provider_memberships, identities, factor_tickets)
)
_select_session_tokens = Query(
    lambda: (
        select(auth_sessions.c.token_hash, auth_sessions.c.user_id)
        .where(auth_sessions.c.provider_id == bindparam("provider_id"))
        .limit(bindparam("maximum"))
    )
)


async def select_providers(reader: Reader) -> list[ProviderRow]:
    """Read every provider, the oldest first."""
    return await reader.all(_select_all)


async def select_provider(reader: Reader, provider_id: Snowflake) -> ProviderRow | None:
    """Read a provider; None for an unknown one."""
    return await reader.one(_select, provider_id=provider_id)


async def select_provider_by_name(reader: Reader, name: str) -> ProviderRow | None:
    """Read a provider by the name that URLs have; None for an unknown one."""
    return await reader.one(_select_by_name, name=name)


async def insert_provider(tx: Transaction, row: ProviderRow) -> None:
    """Insert a provider. Raises ConstraintFailed if its name is taken."""
    await tx.execute(_insert, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_provider(tx: Transaction, provider_id: Snowflake, columns: dict[str, Any]) -> None:
    """Change columns of a provider."""
    query = update_columns(identity_providers, key=("id",), columns=frozenset(columns))
    await tx.execute(query, id=provider_id, **columns)


async def delete_provider(tx: Transaction, provider_id: Snowflake) -> None:
    """Delete a provider with its groups and what they have given, and the identities of its people."""
    for query in _OF_PROVIDER:
        await tx.execute(query, provider_id=provider_id)
    await tx.execute(_delete, provider_id=provider_id)


async def select_groups(reader: Reader, provider_id: Snowflake) -> list[GroupRow]:
    """Read the groups of a provider, the oldest first."""
    return await reader.all(_select_groups, provider_id=provider_id)


async def select_named_groups(reader: Reader, provider_id: Snowflake) -> list[NamedGroupRow]:
    """Read the groups of a provider with the names of their guilds and roles, the oldest first."""
    return await reader.all(_select_named_groups, provider_id=provider_id)


async def select_provider_of_role(reader: Reader, guild_id: GuildId, role_id: RoleId) -> Snowflake | None:
    """The provider whose groups give a role; None if it is none's."""
    provider_id: Snowflake | None = await reader.scalar(_select_provider_of_role, guild_id=guild_id, role_id=role_id)
    return provider_id


async def insert_group(tx: Transaction, row: GroupRow) -> None:
    """Insert a group."""
    await tx.execute(_insert_group, **{name: getattr(row, name) for name in row.__struct_fields__})


async def delete_group(tx: Transaction, row: GroupRow) -> bool:
    """Delete a group; False if it is gone."""
    return (await tx.execute(_delete_group, guild_id=row.guild_id, group_id=row.id, provider_id=row.provider_id)) > 0


async def select_session_tokens(reader: Reader, provider_id: Snowflake, maximum: int) -> list[tuple[bytes, int]]:
    """Read hashes of tokens of logins by a provider, with the ids of their users."""
    return [
        (row[0], row[1]) for row in await reader.all(_select_session_tokens, provider_id=provider_id, maximum=maximum)
    ]
