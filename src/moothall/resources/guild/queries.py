"""The SQL of guilds."""

from typing import Any, Final

from msgspec import Struct, structs

from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.permissions import PermissionSet
from moothall.objects.wire import Timestamp
from moothall.resources.message.queries.purge import MAX_AT_ONCE, delete_some_of_channel, owned_by
from moothall.resources.user.queries import lock_user
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.rows import GuildRow, UserRow
from moothall.storage.sql import Delete, Select, Table, bindparam, delete, func, insert, select
from moothall.storage.tables import (
    channels,
    command_creations,
    commands,
    entitlements,
    guild_counters,
    guild_templates,
    guilds,
    invites,
    linked_role_applications,
    members,
    roles,
    user_guild_settings,
    voice_states,
    webhooks,
)

_insert_guild = Query(lambda: insert(guilds))
_insert_counter = Query(lambda: insert(guild_counters))
_insert_member = Query(lambda: insert(members))
_select_count = Query(
    lambda: select(guild_counters.c.member_count).where(guild_counters.c.guild_id == bindparam("guild_id"))
)
_count_guilds = Query(
    lambda: (
        select(func.count())
        .select_from(members.join(guilds, guilds.c.id == members.c.guild_id))
        .where(members.c.user_id == bindparam("user_id"))
    )
)


class MembershipRow(Struct):
    """A guild of a user, with the columns of a partial guild object."""

    id: GuildId
    name: str
    icon: str | None
    banner: str | None
    owner_id: UserId
    features: list[str]
    roles: list[Snowflake]
    """The member's roles, without @everyone."""
    guest_channel_id: ChannelId | None
    member_count: int


class RolePermissions(Struct):
    """The permissions of one role."""

    guild_id: GuildId
    id: RoleId
    permissions: PermissionSet


def _memberships() -> Select[Any]:
    return (
        select(
            guilds.c.id,
            guilds.c.name,
            guilds.c.icon,
            guilds.c.banner,
            guilds.c.owner_id,
            guilds.c.features,
            members.c.roles,
            members.c.guest_channel_id,
            guild_counters.c.member_count,
        )
        .select_from(
            members.join(guilds, guilds.c.id == members.c.guild_id).join(
                guild_counters, guild_counters.c.guild_id == members.c.guild_id
            )
        )
        .where(
            members.c.user_id == bindparam("user_id"),
            members.c.guild_id > bindparam("after"),
            members.c.guild_id < bindparam("before"),
        )
        .limit(bindparam("maximum"))
    )


_select_first_memberships = Query(lambda: _memberships().order_by(members.c.guild_id), into=MembershipRow)
_select_last_memberships = Query(lambda: _memberships().order_by(members.c.guild_id.desc()), into=MembershipRow)
_select_permissions = Query(
    lambda: select(roles.c.guild_id, roles.c.id, roles.c.permissions).where(
        in_list(roles.c.guild_id, "guild_ids"), in_list(roles.c.id, "role_ids")
    ),
    into=RolePermissions,
)


async def insert_guild(tx: Transaction, row: GuildRow, owner: UserRow, joined_at: Timestamp) -> None:
    """Insert a guild whose owner is its only member."""
    await tx.execute(_insert_guild, **structs.asdict(row))
    await tx.execute(_insert_counter, guild_id=row.id, member_count=1)
    await tx.execute(
        _insert_member, guild_id=row.id, user_id=owner.id, username_key=owner.username_key, joined_at=joined_at
    )


async def update_guild(tx: Transaction, guild_id: GuildId, columns: dict[str, object]) -> None:
    """Set columns of a guild's row."""
    query = update_columns(guilds, key=("id",), columns=frozenset(columns))
    await tx.execute(query, id=guild_id, **columns)


async def count_members(reader: Reader, guild_id: GuildId) -> int:
    """The number of members of a guild."""
    return int(await reader.scalar(_select_count, guild_id=guild_id) or 0)


async def count_guilds(tx: Transaction, user_id: UserId) -> int:
    """The number of guilds that a user is in. Locks the user until the transaction ends, so that it stays true."""
    await lock_user(tx, user_id)
    return int(await tx.scalar(_count_guilds, user_id=user_id))


async def select_memberships(
    reader: Reader, user_id: UserId, *, after: int, before: int | None, maximum: int
) -> list[MembershipRow]:
    """Guilds of a user, ascending by id: the first `maximum` after one, or the last `maximum` before another."""
    if before is None:
        return await reader.all(
            _select_first_memberships, user_id=user_id, after=after, before=(1 << 63) - 1, maximum=maximum
        )
    rows = await reader.all(_select_last_memberships, user_id=user_id, after=after, before=before, maximum=maximum)
    return rows[::-1]


async def select_permissions(reader: Reader, roles_by_guild: dict[GuildId, list[RoleId]]) -> list[RolePermissions]:
    """The permissions of roles in several guilds."""
    role_ids = {role_id for role_ids_of_guild in roles_by_guild.values() for role_id in role_ids_of_guild}
    return await reader.all(_select_permissions, guild_ids=list(roles_by_guild), role_ids=list(role_ids))


# Deleting a guild. Rows that are read without the guild (by code, token or user) are deleted at once; a job deletes the
# rows that are only read through the guild or its channels.

MAX_MEMBERS_DELETED_AT_ONCE: Final = 1000
"""With more members than this, the job deletes them instead of the transaction that deletes the guild."""

_DELETE_AT_ONCE: Final = [
    Query(delete(table).where(table.c[key] == bindparam("owner")))
    for table, key in (
        (guilds, "id"),
        (guild_counters, "guild_id"),
        (guild_templates, "guild_id"),
        (invites, "guild_id"),
        (linked_role_applications, "guild_id"),
        (webhooks, "guild_id"),
        (voice_states, "guild_id"),
        (commands, "guild_id"),
        (command_creations, "guild_id"),
    )
]
_delete_members = Query(lambda: delete(members).where(members.c.guild_id == bindparam("owner")))
_select_some_channel = Query(lambda: select(channels.c.id).where(channels.c.guild_id == bindparam("guild_id")).limit(1))
_delete_channel = Query(lambda: delete(channels).where(channels.c.id == bindparam("channel_id")))


def _delete_some(table: Table, key: str) -> Query[tuple[object, ...]]:
    """The statement that deletes at most `MAX_AT_ONCE` rows of a guild from a table with another primary key."""

    def build() -> Delete:
        some = select(table.c[key]).where(table.c.guild_id == bindparam("owner")).limit(MAX_AT_ONCE)
        return delete(table).where(table.c.guild_id == bindparam("owner"), table.c[key].in_(some))

    return Query(build)


_DELETE_LATER: Final = [
    *owned_by("guild_id"),
    _delete_some(entitlements, "id"),
    _delete_some(user_guild_settings, "user_id"),
]


async def delete_guild(tx: Transaction, guild_id: GuildId) -> None:
    """Delete the rows that make a guild accessible; `delete_guild_batch` deletes its remaining rows."""
    few = await count_members(tx, guild_id) <= MAX_MEMBERS_DELETED_AT_ONCE
    for query in (*_DELETE_AT_ONCE, _delete_members) if few else _DELETE_AT_ONCE:
        await tx.execute(query, owner=guild_id)


async def delete_guild_batch(tx: Transaction, guild_id: GuildId) -> bool:
    """Delete a few hundred of the remaining rows of a deleted guild; False once there are none."""
    channel_id: ChannelId | None = await tx.scalar(_select_some_channel, guild_id=guild_id)
    if channel_id is not None:
        if not await delete_some_of_channel(tx, channel_id):
            await tx.execute(_delete_channel, channel_id=channel_id)
        return True
    for query in _DELETE_LATER:
        if await tx.execute(query, owner=guild_id):
            return True
    return False
