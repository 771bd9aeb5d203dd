"""The SQL of roles."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import UNSET

from moothall.objects.channel_types import NOT_THREADS, type_numbers
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.objects.role import Role
from moothall.objects.wire import to_plain
from moothall.storage.database import Query, Reader, Transaction, update_columns
from moothall.storage.rows import ChannelRow
from moothall.storage.sql import Text, bindparam, delete, func, insert, select, type_coerce, update
from moothall.storage.tables import channels, members, roles

MEMBERS_PER_STEP: Final = 2_000
"""Members from whom a role is removed in one transaction: more than most guilds have."""
_NO_END: Final = UserId(Snowflake((1 << 63) - 1))

_insert_role = Query(lambda: insert(roles))
_update_role_position = Query(
    lambda: (
        update(roles)
        .where(roles.c.guild_id == bindparam("guild_id"), roles.c.id == bindparam("role_id"))
        .values(position=bindparam("new_position"))
    )
)
_delete_role = Query(
    lambda: delete(roles).where(roles.c.guild_id == bindparam("guild_id"), roles.c.id == bindparam("role_id"))
)

_listed = type_coerce(members.c.roles, Text)
# With a comma on either side, an id cannot match a part of a longer one.
_between_commas = func.replace(func.replace(_listed, "[", ","), "]", ",")
_without = func.replace(_between_commas, bindparam("id_between_commas", type_=Text), ",")
_remove_from_members = Query(
    lambda: (
        update(members)
        .where(
            members.c.guild_id == bindparam("guild_id"),
            members.c.user_id > bindparam("after"),
            members.c.user_id <= bindparam("up_to"),
            # This excludes most rows at half the cost of the next condition.
            _listed.contains(bindparam("digits", type_=Text)),
            _between_commas.contains(bindparam("id_between_commas", type_=Text)),
        )
        .values(roles=type_coerce("[", Text).concat(func.rtrim(func.ltrim(_without, ","), ",")).concat("]"))
    )
)
_select_member_ids = Query(
    lambda: (
        select(members.c.user_id)
        .where(
            members.c.guild_id == bindparam("guild_id"),
            _listed.contains(bindparam("digits", type_=Text)),
            _between_commas.contains(bindparam("id_between_commas", type_=Text)),
        )
        .order_by(members.c.user_id)
        .limit(bindparam("maximum"))
    )
)
_select_last_member = Query(
    lambda: (
        select(members.c.user_id)
        .where(members.c.guild_id == bindparam("guild_id"), members.c.user_id > bindparam("after"))
        .order_by(members.c.user_id)
        .limit(1)
        .offset(bindparam("maximum"))
    )
)
_overwrites = type_coerce(channels.c.permission_overwrites, Text)
_select_channels_with_overwrite = Query(
    lambda: select(channels).where(
        channels.c.guild_id == bindparam("guild_id"),
        channels.c.type.in_(type_numbers(NOT_THREADS)),
        _overwrites.contains(bindparam("quoted_id", type_=Text)),
    ),
    into=ChannelRow,
)
_set_overwrites = Query(
    lambda: (
        update(channels)
        .where(channels.c.id == bindparam("channel_id"))
        .values(permission_overwrites=bindparam("new_overwrites"))
    )
)
# Members share few distinct lists, so the result is short in large guilds too.
_count_role_lists = Query(
    lambda: select(_listed, func.count()).where(members.c.guild_id == bindparam("guild_id")).group_by(members.c.roles)
)
_read_ids = msgspec.json.Decoder(list[int]).decode


def role_columns(role: Role) -> dict[str, object]:
    """The columns of a role's row, without its keys."""
    return {
        "name": role.name,
        "color": role.colors.primary_color,
        "secondary_color": role.colors.secondary_color,
        "tertiary_color": role.colors.tertiary_color,
        "hoist": role.hoist,
        "icon": role.icon,
        "unicode_emoji": role.unicode_emoji,
        "position": role.position,
        "permissions": role.permissions,
        "managed": role.managed,
        "mentionable": role.mentionable,
        "flags": role.flags,
        "tags": None if role.tags is UNSET else to_plain(role.tags),
    }


async def insert_roles(tx: Transaction, guild_id: GuildId, listed: Iterable[Role]) -> None:
    """Insert roles at their positions."""
    await tx.execute_many(_insert_role, [{"guild_id": guild_id, "id": r.id, **role_columns(r)} for r in listed])


async def update_role(tx: Transaction, guild_id: GuildId, before: Role, after: Role) -> None:
    """Update the columns of a role that differ between `before` and `after`."""
    old, new = role_columns(before), role_columns(after)
    changed = {name: value for name, value in new.items() if old[name] != value}
    query = update_columns(roles, key=("guild_id", "id"), columns=frozenset(changed))
    await tx.write(query, guild_id=guild_id, id=after.id, **changed)


async def update_role_positions(tx: Transaction, guild_id: GuildId, moved: Iterable[Role]) -> None:
    """Update the positions of roles."""
    await tx.execute_many(
        _update_role_position,
        [{"guild_id": guild_id, "role_id": role.id, "new_position": role.position} for role in moved],
    )


async def delete_role(tx: Transaction, guild_id: GuildId, role_id: RoleId) -> bool:
    """Delete a role's row, not its occurrences in members' lists; False if there is none."""
    return await tx.execute(_delete_role, guild_id=guild_id, role_id=role_id) > 0


async def remove_from_members(tx: Transaction, guild_id: GuildId, role_id: RoleId, after: UserId) -> UserId | None:
    """Remove a role from the next `MEMBERS_PER_STEP` members by user id; returns the last one, None at the end."""
    last: UserId | None = await tx.scalar(
        _select_last_member, guild_id=guild_id, after=after, maximum=MEMBERS_PER_STEP - 1
    )
    await tx.execute(
        _remove_from_members,
        guild_id=guild_id,
        after=after,
        up_to=_NO_END if last is None else last,
        digits=str(int(role_id)),
        id_between_commas=f",{int(role_id)},",
    )
    return last


async def remove_from_channels(tx: Transaction, guild_id: GuildId, role_id: RoleId) -> list[ChannelRow]:
    """Delete a role's permission overwrites; returns the changed rows of the channels that had one."""
    digits = str(int(role_id))
    rows = await tx.all(_select_channels_with_overwrite, guild_id=guild_id, quoted_id=f'"{digits}"')
    for row in rows:
        row.permission_overwrites = [item for item in row.permission_overwrites if item["id"] != digits]
    await tx.execute_many(
        _set_overwrites, [{"channel_id": row.id, "new_overwrites": row.permission_overwrites} for row in rows]
    )
    return rows


async def select_member_ids(reader: Reader, guild_id: GuildId, role_id: RoleId, maximum: int) -> list[UserId]:
    """The members with a role, at most `maximum`, by ascending id."""
    rows = await reader.all_long(
        _select_member_ids,
        guild_id=guild_id,
        digits=str(int(role_id)),
        id_between_commas=f",{int(role_id)},",
        maximum=maximum,
    )
    return [UserId(Snowflake(row[0])) for row in rows]


async def count_members_by_role(reader: Reader, guild_id: GuildId) -> Counter[RoleId]:
    """The number of members of each role, without @everyone."""
    counts: Counter[RoleId] = Counter()
    for listed, count in await reader.all_long(_count_role_lists, guild_id=guild_id):
        for role_id in _read_ids(listed):
            counts[RoleId(Snowflake(role_id))] += count
    return counts
