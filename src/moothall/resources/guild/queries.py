"""The SQL of guilds."""

from typing import Final

from msgspec import Struct, structs
from sqlalchemy import bindparam, delete, func, insert, select

from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.permissions import PermissionSet
from moothall.objects.wire import Timestamp
from moothall.resources.message.purge_queries import delete_some_of_channel, owned_by
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.rows import GuildRow, UserRow
from moothall.storage.schema import (
    channels,
    command_creations,
    commands,
    guild_counters,
    guilds,
    invites,
    members,
    roles,
    users,
    voice_states,
    webhooks,
)

_insert_guild = Query(insert(guilds))
_insert_counter = Query(insert(guild_counters))
_insert_member = Query(insert(members))
_select_count = Query(select(guild_counters.c.member_count).where(guild_counters.c.guild_id == bindparam("guild_id")))
# The user's row is locked first where rows can be locked: of two requests at once the second counts the first one's.
_lock_user = Query(select(users.c.id).where(users.c.id == bindparam("user_id")).with_for_update())
_count_guilds = Query(
    select(func.count())
    .select_from(members.join(guilds, guilds.c.id == members.c.guild_id))
    .where(members.c.user_id == bindparam("user_id"))
)


class MembershipRow(Struct):
    """One guild of someone's, as the list of them needs it."""

    id: GuildId
    name: str
    icon: str | None
    banner: str | None
    owner_id: UserId
    features: list[str]
    roles: list[Snowflake]
    """Those of the member, without @everyone."""
    guest_channel_id: ChannelId | None
    member_count: int


class RolePermissions(Struct):
    """What one role may do."""

    guild_id: GuildId
    id: RoleId
    permissions: PermissionSet


_memberships = (
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
_select_first_memberships = Query(_memberships.order_by(members.c.guild_id), into=MembershipRow)
_select_last_memberships = Query(_memberships.order_by(members.c.guild_id.desc()), into=MembershipRow)
_select_permissions = Query(
    select(roles.c.guild_id, roles.c.id, roles.c.permissions).where(
        in_list(roles.c.guild_id, "guild_ids"), in_list(roles.c.id, "role_ids")
    ),
    into=RolePermissions,
)


async def insert_guild(tx: Transaction, row: GuildRow, owner: UserRow, joined_at: Timestamp) -> None:
    """Store a new guild whose owner is its only member."""
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
    """How many members a guild has."""
    return int(await reader.scalar(_select_count, guild_id=guild_id) or 0)


async def count_guilds(tx: Transaction, user_id: UserId) -> int:
    """How many guilds someone is in; until the transaction ends nobody else learns that of them."""
    await tx.one(_lock_user, user_id=user_id)
    return int(await tx.scalar(_count_guilds, user_id=user_id))


async def select_memberships(
    reader: Reader, user_id: UserId, *, after: int, before: int | None, maximum: int
) -> list[MembershipRow]:
    """Guilds of someone's, ascending by id: the first after one, or the last before another."""
    if before is None:
        return await reader.all(
            _select_first_memberships, user_id=user_id, after=after, before=(1 << 63) - 1, maximum=maximum
        )
    found = await reader.all(_select_last_memberships, user_id=user_id, after=after, before=before, maximum=maximum)
    return found[::-1]


async def select_permissions(reader: Reader, held: dict[GuildId, list[RoleId]]) -> list[RolePermissions]:
    """What the roles that someone has in some guilds may do."""
    role_ids = {role_id for listed in held.values() for role_id in listed}
    return await reader.all(_select_permissions, guild_ids=list(held), role_ids=list(role_ids))


# The end of a guild. What leads to something else by itself (codes, tokens, a voice channel) and what is found by
# its user goes at once; all that could be found through the guild or its channels only, a job takes away.

MAX_MEMBERS_AT_ONCE: Final = 1000
"""Members that are removed in the transaction which deletes the guild; of more the job takes care."""

_AT_ONCE: Final = [
    Query(delete(table).where(table.c[key] == bindparam("owner")))
    for table, key in (
        (guilds, "id"),
        (guild_counters, "guild_id"),
        (invites, "guild_id"),
        (webhooks, "guild_id"),
        (voice_states, "guild_id"),
        (commands, "guild_id"),
        (command_creations, "guild_id"),
    )
]
_delete_members = Query(delete(members).where(members.c.guild_id == bindparam("owner")))
_select_some_channel = Query(select(channels.c.id).where(channels.c.guild_id == bindparam("guild_id")).limit(1))
_delete_channel = Query(delete(channels).where(channels.c.id == bindparam("channel_id")))


_OF_GUILD: Final = owned_by("guild_id")


async def delete_guild(tx: Transaction, guild_id: GuildId) -> None:
    """Remove a guild so that nobody finds it any more; `delete_some_of_guild` removes what it leaves behind."""
    few = await count_members(tx, guild_id) <= MAX_MEMBERS_AT_ONCE
    for query in (*_AT_ONCE, _delete_members) if few else _AT_ONCE:
        await tx.execute(query, owner=guild_id)


async def delete_some_of_guild(tx: Transaction, guild_id: GuildId) -> bool:
    """Remove at most some hundred rows of what a deleted guild has left behind; False once nothing is."""
    channel_id: ChannelId | None = await tx.scalar(_select_some_channel, guild_id=guild_id)
    if channel_id is not None:
        if not await delete_some_of_channel(tx, channel_id):
            await tx.execute(_delete_channel, channel_id=channel_id)
        return True
    for query in _OF_GUILD:
        if await tx.execute(query, owner=guild_id):
            return True
    return False
