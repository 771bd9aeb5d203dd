"""The SQL of role connections and linked roles."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from moothall.objects.ids import ApplicationId, GuildId, RoleId, UserId
from moothall.objects.role_connection import MetadataRecord, Requirement
from moothall.objects.wire import Timestamp
from moothall.resources.message.queries.purge import delete_some
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.rows import MemberRow
from moothall.storage.sql import bindparam, delete, insert, or_, select, update
from moothall.storage.tables import (
    linked_role_applications,
    linked_role_members,
    linked_roles,
    members,
    role_connection_metadata,
    role_connections,
)


class MetadataRow(Struct):
    """A row of `role_connection_metadata`."""

    application_id: ApplicationId
    records: list[MetadataRecord]


class RoleConnectionRow(Struct):
    """A row of `role_connections`."""

    application_id: ApplicationId
    user_id: UserId
    platform_name: str | None
    platform_username: str | None
    metadata: dict[str, str]


class LinkedRoleRow(Struct):
    """A row of `linked_roles`."""

    guild_id: GuildId
    role_id: RoleId
    rules: list[list[Requirement]]


class ClaimRow(Struct):
    """A row of `linked_role_members`."""

    guild_id: GuildId
    role_id: RoleId
    user_id: UserId
    expires_at: Timestamp | None


# Metadata

_select_metadata = Query(
    lambda: select(role_connection_metadata).where(
        in_list(role_connection_metadata.c.application_id, "application_ids")
    ),
    into=MetadataRow,
)
_upsert_metadata = Query(lambda: upsert(role_connection_metadata, key=("application_id",), update=("records",)))
_delete_metadata = Query(
    lambda: delete(role_connection_metadata).where(
        role_connection_metadata.c.application_id == bindparam("application_id")
    )
)


async def select_metadata(
    reader: Reader, application_ids: Iterable[ApplicationId]
) -> dict[ApplicationId, list[MetadataRecord]]:
    """The metadata records of applications; those without any are left out."""
    unique_ids = list(set(application_ids))
    if not unique_ids:
        return {}
    rows = await reader.all(_select_metadata, application_ids=unique_ids)
    return {row.application_id: row.records for row in rows}


async def upsert_metadata(tx: Transaction, application_id: ApplicationId, records: list[MetadataRecord]) -> None:
    """Store the metadata records of an application."""
    await tx.execute(_upsert_metadata, application_id=application_id, records=records)


async def delete_metadata(tx: Transaction, application_id: ApplicationId) -> None:
    """Delete the metadata records of an application."""
    await tx.execute(_delete_metadata, application_id=application_id)


# Role connections

_own = (role_connections.c.application_id == bindparam("application_id")) & (
    role_connections.c.user_id == bindparam("user_id")
)
_select_connection = Query(lambda: select(role_connections).where(_own), into=RoleConnectionRow)
_select_connections = Query(
    lambda: select(role_connections).where(
        in_list(role_connections.c.application_id, "application_ids"), in_list(role_connections.c.user_id, "user_ids")
    ),
    into=RoleConnectionRow,
)
_upsert_connection = Query(
    lambda: upsert(
        role_connections,
        key=("application_id", "user_id"),
        update=("platform_name", "platform_username", "metadata"),
    )
)
_delete_connections = Query(
    lambda: delete(role_connections).where(
        in_list(role_connections.c.application_id, "application_ids"),
        role_connections.c.user_id == bindparam("user_id"),
    )
)
_delete_some_connections = delete_some(role_connections)


async def select_connection(reader: Reader, application_id: ApplicationId, user_id: UserId) -> RoleConnectionRow | None:
    """The role connection of a user with an application; None if there is none."""
    return await reader.one(_select_connection, application_id=application_id, user_id=user_id)


async def select_connections(
    reader: Reader, application_ids: Iterable[ApplicationId], user_ids: Sequence[UserId]
) -> list[RoleConnectionRow]:
    """The role connections of users with applications."""
    return await reader.all(_select_connections, application_ids=list(set(application_ids)), user_ids=list(user_ids))


async def upsert_connection(tx: Transaction, row: RoleConnectionRow) -> None:
    """Store a role connection."""
    await tx.execute(_upsert_connection, **structs.asdict(row))


async def delete_connections(tx: Transaction, application_ids: Sequence[ApplicationId], user_id: UserId) -> int:
    """Delete the role connections of a user with applications; how many there were."""
    return await tx.execute(_delete_connections, application_ids=list(application_ids), user_id=user_id)


async def delete_some_connections(tx: Transaction, application_id: ApplicationId) -> bool:
    """Delete some hundred role connections of an application; False once there are none."""
    return await tx.execute(_delete_some_connections, owner=application_id) > 0


# Linked roles

_of_role = (linked_roles.c.guild_id == bindparam("guild_id")) & (linked_roles.c.role_id == bindparam("role_id"))
_select_linked_role = Query(lambda: select(linked_roles).where(_of_role), into=LinkedRoleRow)
_select_linked_roles = Query(
    lambda: (
        select(linked_roles).where(linked_roles.c.guild_id == bindparam("guild_id")).order_by(linked_roles.c.role_id)
    ),
    into=LinkedRoleRow,
)
_upsert_linked_role = Query(lambda: upsert(linked_roles, key=("guild_id", "role_id"), update=("rules",)))
_delete_linked_role = Query(lambda: delete(linked_roles).where(_of_role))
_insert_application = Query(lambda: insert(linked_role_applications))
_delete_applications = Query(
    lambda: delete(linked_role_applications).where(
        linked_role_applications.c.guild_id == bindparam("guild_id"),
        linked_role_applications.c.role_id == bindparam("role_id"),
    )
)
_select_next_of_application = Query(
    lambda: (
        select(linked_role_applications.c.guild_id, linked_role_applications.c.role_id)
        .where(
            linked_role_applications.c.application_id == bindparam("application_id"),
            or_(
                linked_role_applications.c.guild_id > bindparam("after_guild_id"),
                (linked_role_applications.c.guild_id == bindparam("after_guild_id"))
                & (linked_role_applications.c.role_id > bindparam("after_role_id")),
            ),
        )
        .order_by(linked_role_applications.c.guild_id, linked_role_applications.c.role_id)
        .limit(1)
    )
)


async def select_linked_role(reader: Reader, guild_id: GuildId, role_id: RoleId) -> LinkedRoleRow | None:
    """The requirements of a role; None for a role that is not linked."""
    return await reader.one(_select_linked_role, guild_id=guild_id, role_id=role_id)


async def select_linked_roles(reader: Reader, guild_id: GuildId) -> list[LinkedRoleRow]:
    """The linked roles of a guild by ascending id."""
    return await reader.all(_select_linked_roles, guild_id=guild_id)


async def upsert_linked_role(tx: Transaction, row: LinkedRoleRow) -> None:
    """Store the requirements of a role, with the applications that they refer to."""
    await tx.execute(_upsert_linked_role, **structs.asdict(row))
    await tx.execute(_delete_applications, guild_id=row.guild_id, role_id=row.role_id)
    application_ids = {requirement.application_id for rule in row.rules for requirement in rule}
    keys = {"guild_id": row.guild_id, "role_id": row.role_id}
    await tx.execute_many(
        _insert_application, [{"application_id": application_id, **keys} for application_id in application_ids]
    )


async def delete_linked_role(tx: Transaction, guild_id: GuildId, role_id: RoleId) -> bool:
    """Delete the requirements of a role; False if it had none. Its claims stay."""
    await tx.execute(_delete_applications, guild_id=guild_id, role_id=role_id)
    return await tx.execute(_delete_linked_role, guild_id=guild_id, role_id=role_id) > 0


async def select_next_of_application(
    reader: Reader, application_id: ApplicationId, after_guild_id: GuildId, after_role_id: RoleId
) -> tuple[GuildId, RoleId] | None:
    """The next linked role that refers to an application, by guild and role; None after the last one."""
    row = await reader.one(
        _select_next_of_application,
        application_id=application_id,
        after_guild_id=after_guild_id,
        after_role_id=after_role_id,
    )
    return None if row is None else (GuildId(row[0]), RoleId(row[1]))


# Claims

_select_claims_of_role = Query(
    lambda: (
        select(linked_role_members)
        .where(
            linked_role_members.c.guild_id == bindparam("guild_id"),
            linked_role_members.c.role_id == bindparam("role_id"),
            linked_role_members.c.user_id > bindparam("after"),
        )
        .order_by(linked_role_members.c.user_id)
        .limit(bindparam("maximum"))
    ),
    into=ClaimRow,
)
_select_claims_of_member = Query(
    lambda: select(linked_role_members).where(
        linked_role_members.c.user_id == bindparam("user_id"), linked_role_members.c.guild_id == bindparam("guild_id")
    ),
    into=ClaimRow,
)
_select_next_guild = Query(
    lambda: (
        select(linked_role_members.c.guild_id)
        .where(
            linked_role_members.c.user_id == bindparam("user_id"), linked_role_members.c.guild_id > bindparam("after")
        )
        .order_by(linked_role_members.c.guild_id)
        .limit(1)
    )
)
_upsert_claim = Query(
    lambda: upsert(linked_role_members, key=("guild_id", "role_id", "user_id"), update=("expires_at",))
)
_delete_claim = Query(
    lambda: delete(linked_role_members).where(
        linked_role_members.c.guild_id == bindparam("guild_id"),
        linked_role_members.c.role_id == bindparam("role_id"),
        linked_role_members.c.user_id == bindparam("user_id"),
    )
)
_update_roles = Query(
    lambda: (
        update(members)
        .where(members.c.guild_id == bindparam("the_guild_id"), members.c.user_id == bindparam("the_user_id"))
        .values(roles=bindparam("new_roles"))
    )
)


async def select_claims_of_role(
    reader: Reader, guild_id: GuildId, role_id: RoleId, after: UserId, maximum: int
) -> list[ClaimRow]:
    """The next claims of a linked role by user id."""
    return await reader.all(_select_claims_of_role, guild_id=guild_id, role_id=role_id, after=after, maximum=maximum)


async def select_claims_of_member(reader: Reader, guild_id: GuildId, user_id: UserId) -> list[ClaimRow]:
    """The claims of a user in a guild."""
    return await reader.all(_select_claims_of_member, guild_id=guild_id, user_id=user_id)


async def select_next_guild(reader: Reader, user_id: UserId, after: GuildId) -> GuildId | None:
    """The next guild in which a user has claims; None after the last one."""
    guild_id = await reader.scalar(_select_next_guild, user_id=user_id, after=after)
    return None if guild_id is None else GuildId(guild_id)


async def upsert_claims(tx: Transaction, rows: Iterable[ClaimRow]) -> None:
    """Store claims."""
    await tx.execute_many(_upsert_claim, [structs.asdict(row) for row in rows])


async def delete_claims(tx: Transaction, rows: Iterable[ClaimRow]) -> None:
    """Delete claims."""
    keys = [{"guild_id": row.guild_id, "role_id": row.role_id, "user_id": row.user_id} for row in rows]
    await tx.execute_many(_delete_claim, keys)


async def update_roles(tx: Transaction, rows: Iterable[MemberRow]) -> None:
    """Store the role lists of members."""
    await tx.execute_many(
        _update_roles,
        [{"the_guild_id": row.guild_id, "the_user_id": row.user_id, "new_roles": row.roles} for row in rows],
    )
