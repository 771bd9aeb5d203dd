"""The SQL of users and groups that providers manage."""

from collections.abc import Collection, Iterable

from msgspec import Struct

from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.sql import Select, bindparam, delete, func, insert, or_, select
from moothall.storage.tables import scim_group_members, scim_groups, scim_users, users


class UserResourceRow(Struct):
    """A row of `scim_users`, with whether its account is open."""

    provider_id: Snowflake
    user_id: UserId
    user_name_key: str
    external_id: str | None
    attributes: str
    deactivated: bool
    removed: bool
    version: int
    created_at: Timestamp
    updated_at: Timestamp
    closed: bool


class GroupResourceRow(Struct):
    """A row of `scim_groups`."""

    provider_id: Snowflake
    id: Snowflake
    display_name: str
    external_id: str | None
    version: int
    created_at: Timestamp
    updated_at: Timestamp


class MemberName(Struct, frozen=True):
    """A member of a group, with the name of the group."""

    group_id: Snowflake
    user_id: UserId
    display_name: str


_Columns = tuple[object, ...]

_u, _g, _m = scim_users.c, scim_groups.c, scim_group_members.c


def _users() -> Select[_Columns]:
    return (
        select(scim_users, or_(users.c.suspended, users.c.disabled).label("closed"))
        .select_from(scim_users.join(users, users.c.id == _u.user_id))
        .where(_u.provider_id == bindparam("provider_id"))
    )


_select_user = Query(lambda: _users().where(_u.user_id == bindparam("user_id")), into=UserResourceRow)
_select_by_name = Query(lambda: _users().where(_u.user_name_key == bindparam("key")), into=UserResourceRow)
_select_by_external_id = Query(
    lambda: _users().where(_u.external_id == bindparam("external_id"), ~_u.removed).order_by(_u.user_id).limit(100),
    into=UserResourceRow,
)
_select_page = Query(
    lambda: _users().where(~_u.removed).order_by(_u.user_id).limit(bindparam("count")).offset(bindparam("skipped")),
    into=UserResourceRow,
)
_select_after = Query(
    lambda: _users().where(~_u.removed, _u.user_id > bindparam("after")).order_by(_u.user_id).limit(bindparam("count")),
    into=UserResourceRow,
)
_count_users = Query(
    lambda: select(func.count()).select_from(scim_users).where(_u.provider_id == bindparam("provider_id"), ~_u.removed)
)
_select_known = Query(
    lambda: select(_u.user_id).where(
        _u.provider_id == bindparam("provider_id"), in_list(_u.user_id, "user_ids"), ~_u.removed
    )
)
_insert_user = Query(lambda: insert(scim_users))
_delete_memberships_of = Query(
    lambda: delete(scim_group_members).where(
        _m.user_id == bindparam("user_id"), _m.provider_id == bindparam("provider_id")
    )
)
_select_group = Query(
    lambda: select(scim_groups).where(_g.provider_id == bindparam("provider_id"), _g.id == bindparam("group_id")),
    into=GroupResourceRow,
)
_select_group_by_name = Query(
    lambda: select(scim_groups).where(_g.provider_id == bindparam("provider_id"), _g.display_name == bindparam("name")),
    into=GroupResourceRow,
)
_select_groups = Query(
    lambda: select(scim_groups).where(_g.provider_id == bindparam("provider_id")).order_by(_g.id),
    into=GroupResourceRow,
)
_insert_group = Query(lambda: insert(scim_groups))
_delete_group = Query(
    lambda: delete(scim_groups).where(_g.provider_id == bindparam("provider_id"), _g.id == bindparam("group_id"))
)
_of_group = (_m.provider_id == bindparam("provider_id"), _m.group_id == bindparam("group_id"))
_select_member_ids = Query(lambda: select(_m.user_id).where(*_of_group).order_by(_m.user_id))
_insert_member = Query(lambda: insert(scim_group_members))
_delete_member = Query(lambda: delete(scim_group_members).where(*_of_group, _m.user_id == bindparam("user_id")))
_delete_members = Query(lambda: delete(scim_group_members).where(*_of_group))
_count_members = Query(
    lambda: select(_m.group_id, func.count()).where(_m.provider_id == bindparam("provider_id")).group_by(_m.group_id)
)


def _names() -> Select[_Columns]:
    return (
        select(_m.group_id, _m.user_id, _g.display_name)
        .select_from(scim_group_members.join(scim_groups, (_g.provider_id == _m.provider_id) & (_g.id == _m.group_id)))
        .where(_m.provider_id == bindparam("provider_id"))
    )


_select_names_of_groups = Query(
    lambda: _names().where(in_list(_m.group_id, "group_ids")).order_by(_m.group_id, _m.user_id), into=MemberName
)
_select_names_of_users = Query(
    lambda: _names().where(in_list(_m.user_id, "user_ids")).order_by(_m.user_id, _m.group_id), into=MemberName
)


async def select_user_resource(reader: Reader, provider_id: Snowflake, user_id: UserId) -> UserResourceRow | None:
    """Read the resource of an account, also one that the provider has deleted; None if it has never had one."""
    return await reader.one(_select_user, provider_id=provider_id, user_id=user_id)


async def select_by_name(reader: Reader, provider_id: Snowflake, key: str) -> UserResourceRow | None:
    """Read a resource by its casefolded userName; None if there is none."""
    return await reader.one(_select_by_name, provider_id=provider_id, key=key)


async def select_by_external_id(reader: Reader, provider_id: Snowflake, external_id: str) -> list[UserResourceRow]:
    """Read the resources with an externalId, at most 100."""
    return await reader.all(_select_by_external_id, provider_id=provider_id, external_id=external_id)


async def select_page(reader: Reader, provider_id: Snowflake, *, skipped: int, count: int) -> list[UserResourceRow]:
    """Read a page of resources by their ids."""
    return await reader.all(_select_page, provider_id=provider_id, skipped=skipped, count=count)


async def select_after(reader: Reader, provider_id: Snowflake, after: UserId, count: int) -> list[UserResourceRow]:
    """Read resources that follow an id."""
    return await reader.all(_select_after, provider_id=provider_id, after=after, count=count)


async def count_users(reader: Reader, provider_id: Snowflake) -> int:
    """Count the resources of a provider's users."""
    return int(await reader.scalar(_count_users, provider_id=provider_id))


async def select_known(reader: Reader, provider_id: Snowflake, user_ids: Collection[UserId]) -> set[UserId]:
    """Of some ids those of users whom a provider has."""
    rows = await reader.all(_select_known, provider_id=provider_id, user_ids=list(user_ids))
    return {UserId(Snowflake(row[0])) for row in rows}


async def insert_user_resource(tx: Transaction, **columns: object) -> None:
    """Store the resource of an account. Raises ConstraintFailed for a userName that another one has."""
    await tx.execute(_insert_user, **columns)


async def update_user_resource(tx: Transaction, provider_id: Snowflake, user_id: UserId, **columns: object) -> None:
    """Change columns of a resource. Raises ConstraintFailed for a userName that another one has."""
    query = update_columns(scim_users, key=("provider_id", "user_id"), columns=frozenset(columns))
    await tx.execute(query, provider_id=provider_id, user_id=user_id, **columns)


async def delete_memberships(tx: Transaction, provider_id: Snowflake, user_id: UserId) -> None:
    """Delete the memberships that a user has of a provider's groups."""
    await tx.execute(_delete_memberships_of, provider_id=provider_id, user_id=user_id)


async def select_group(reader: Reader, provider_id: Snowflake, group_id: Snowflake) -> GroupResourceRow | None:
    """Read a group; None for an unknown one."""
    return await reader.one(_select_group, provider_id=provider_id, group_id=group_id)


async def select_group_by_name(reader: Reader, provider_id: Snowflake, name: str) -> GroupResourceRow | None:
    """Read a group by its name; None if there is none."""
    return await reader.one(_select_group_by_name, provider_id=provider_id, name=name)


async def select_groups(reader: Reader, provider_id: Snowflake) -> list[GroupResourceRow]:
    """Read all groups of a provider, by their ids."""
    return await reader.all(_select_groups, provider_id=provider_id)


async def insert_group(tx: Transaction, row: GroupResourceRow) -> None:
    """Store a group. Raises ConstraintFailed for a name that another one has."""
    await tx.execute(_insert_group, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_group(tx: Transaction, provider_id: Snowflake, group_id: Snowflake, **columns: object) -> None:
    """Change columns of a group. Raises ConstraintFailed for a name that another one has."""
    query = update_columns(scim_groups, key=("provider_id", "id"), columns=frozenset(columns))
    await tx.execute(query, provider_id=provider_id, id=group_id, **columns)


async def delete_group(tx: Transaction, provider_id: Snowflake, group_id: Snowflake) -> None:
    """Delete a group with its memberships."""
    await tx.execute(_delete_members, provider_id=provider_id, group_id=group_id)
    await tx.execute(_delete_group, provider_id=provider_id, group_id=group_id)


async def select_member_ids(reader: Reader, provider_id: Snowflake, group_id: Snowflake) -> set[UserId]:
    """Read the ids of a group's members."""
    rows = await reader.all(_select_member_ids, provider_id=provider_id, group_id=group_id)
    return {UserId(Snowflake(row[0])) for row in rows}


async def insert_members(
    tx: Transaction, provider_id: Snowflake, group_id: Snowflake, user_ids: Iterable[UserId]
) -> None:
    """Store members of a group."""
    await tx.execute_many(
        _insert_member, [{"provider_id": provider_id, "group_id": group_id, "user_id": each} for each in user_ids]
    )


async def delete_members(
    tx: Transaction, provider_id: Snowflake, group_id: Snowflake, user_ids: Iterable[UserId]
) -> None:
    """Delete members of a group."""
    await tx.execute_many(
        _delete_member, [{"provider_id": provider_id, "group_id": group_id, "user_id": each} for each in user_ids]
    )


async def count_members(reader: Reader, provider_id: Snowflake) -> dict[Snowflake, int]:
    """Count the members of each group of a provider that has some."""
    return {Snowflake(row[0]): int(row[1]) for row in await reader.all(_count_members, provider_id=provider_id)}


async def select_members(reader: Reader, provider_id: Snowflake, group_ids: Collection[Snowflake]) -> list[MemberName]:
    """Read the members of groups, by group."""
    return await reader.all(_select_names_of_groups, provider_id=provider_id, group_ids=list(group_ids))


async def select_memberships(reader: Reader, provider_id: Snowflake, user_ids: Collection[UserId]) -> list[MemberName]:
    """Read the groups of users, by user."""
    return await reader.all(_select_names_of_users, provider_id=provider_id, user_ids=list(user_ids))
