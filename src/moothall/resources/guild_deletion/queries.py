"""The SQL that moves a guild out of reach and back.

The rows by which a guild is found are moved to tables of their own (`storage/schema/deleted_guilds.py`); channels,
roles and messages stay, and no request reaches them without the guild.
"""

from typing import Any, Final

from msgspec import Struct

from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list
from moothall.storage.sql import ClauseElement, Table, and_, bindparam, delete, exists, func, insert, select, update
from moothall.storage.statements.store import table_facts
from moothall.storage.tables import (
    deleted_guilds,
    deleted_members,
    guild_counters,
    guilds,
    members,
    table_named,
    users,
    voice_states,
)

MAX_MEMBERS_AT_ONCE: Final = 500
"""Members that one step moves, which takes some milliseconds."""

_OTHERS: Final = (
    "guild_counters",
    "guild_templates",
    "invites",
    "linked_role_applications",
    "webhooks",
    "commands",
    "command_creations",
)
"""Tables with rows that are read without the guild, by a code, token or application."""


class DeletedGuildRow(Struct, frozen=True):
    """A deleted guild that can be restored."""

    id: GuildId
    name: str
    owner_id: UserId
    vanity_url_code: str | None
    deleted_at: Timestamp
    deletes_at: Timestamp
    deleted_by: UserId | None
    restoring: bool


def _columns(name: str) -> list[str]:
    return list(table_facts()[name].columns)


def _move(name: str, *, back: bool) -> tuple[Query[Any], Query[Any]]:
    """The statements that copy a guild's rows of a table to its other one, and that delete them."""
    present, deleted = table_named(name), table_named(f"deleted_{name}")
    source, target = (deleted, present) if back else (present, deleted)

    def copy() -> ClauseElement:
        names = _columns(name)
        rows = select(*(source.c[each] for each in names)).where(source.c.guild_id == bindparam("guild_id"))
        return insert(target).from_select(names, rows)

    return Query(copy), Query(lambda: delete(source).where(source.c.guild_id == bindparam("guild_id")))


_HIDE: Final = [_move(name, back=False) for name in _OTHERS]
_SHOW: Final = [_move(name, back=True) for name in _OTHERS]


def _hide_guild() -> ClauseElement:
    names = _columns("guilds")
    added = {
        "deleted_at": bindparam("deleted_at", type_=deleted_guilds.c.deleted_at.type),
        "deletes_at": bindparam("deletes_at", type_=deleted_guilds.c.deletes_at.type),
        "deleted_by": bindparam("deleted_by", type_=deleted_guilds.c.deleted_by.type),
        "restoring": bindparam("restoring", type_=deleted_guilds.c.restoring.type),
    }
    rows = select(*(guilds.c[name] for name in names), *added.values()).where(guilds.c.id == bindparam("guild_id"))
    return insert(deleted_guilds).from_select([*names, *added], rows)


def _show_guild() -> ClauseElement:
    new: dict[str, Any] = {
        "version": bindparam("version", type_=guilds.c.version.type),
        "owner_id": bindparam("owner_id", type_=guilds.c.owner_id.type),
        "vanity_url_code": bindparam("vanity_url_code", type_=guilds.c.vanity_url_code.type),
        "recent_changes": bindparam("recent_changes", type_=guilds.c.recent_changes.type),
    }
    names = _columns("guilds")
    rows = select(*(new.get(name, deleted_guilds.c[name]) for name in names))
    return insert(guilds).from_select(names, rows.where(deleted_guilds.c.id == bindparam("guild_id")))


_hide = Query(_hide_guild)
_show = Query(_show_guild)
_delete_guild = Query(lambda: delete(guilds).where(guilds.c.id == bindparam("guild_id")))
_delete_deleted = Query(lambda: delete(deleted_guilds).where(deleted_guilds.c.id == bindparam("guild_id")))
_delete_voice_states = Query(lambda: delete(voice_states).where(voice_states.c.guild_id == bindparam("guild_id")))
_select = Query(
    lambda: select(*(deleted_guilds.c[name] for name in DeletedGuildRow.__struct_fields__)).where(
        deleted_guilds.c.id == bindparam("guild_id")
    ),
    into=DeletedGuildRow,
)
_set_restoring = Query(
    lambda: update(deleted_guilds).where(deleted_guilds.c.id == bindparam("guild_id")).values(restoring=True)
)
_is_vanity_taken = Query(lambda: select(guilds.c.id).where(guilds.c.vanity_url_code == bindparam("code")))
_is_deleted_member = Query(
    lambda: select(deleted_members.c.user_id).where(
        deleted_members.c.guild_id == bindparam("guild_id"),
        deleted_members.c.user_id == bindparam("user_id"),
        deleted_members.c.guest_channel_id.is_(None),
    )
)
_is_present_member = Query(
    lambda: select(members.c.user_id).where(
        members.c.guild_id == bindparam("guild_id"),
        members.c.user_id == bindparam("user_id"),
        members.c.guest_channel_id.is_(None),
    )
)


def _some_members(table: Table) -> Query[Any]:
    return Query(
        lambda: (
            select(table.c.user_id)
            .where(table.c.guild_id == bindparam("guild_id"))
            .order_by(table.c.user_id)
            .limit(bindparam("maximum"))
        )
    )


_some_present, _some_deleted = _some_members(members), _some_members(deleted_members)


def _hide_some() -> ClauseElement:
    names = _columns("members")
    rows = select(*(members.c[name] for name in names)).where(_of_some(members))
    return insert(deleted_members).from_select(names, rows)


def _show_some() -> ClauseElement:
    # An account may have another name since, or be deleted.
    names = _columns("members")
    values = (users.c.username_key if name == "username_key" else deleted_members.c[name] for name in names)
    rows = (
        select(*values)
        .select_from(deleted_members.join(users, users.c.id == deleted_members.c.user_id))
        .where(_of_some(deleted_members), ~users.c.deleted)
    )
    return insert(members).from_select(names, rows)


def _of_some(table: Table) -> Any:
    return and_(table.c.guild_id == bindparam("guild_id"), in_list(table.c.user_id, "user_ids"))


_copy_hidden, _copy_shown = Query(_hide_some), Query(_show_some)
_delete_present = Query(lambda: delete(members).where(_of_some(members)))
_delete_hidden = Query(lambda: delete(deleted_members).where(_of_some(deleted_members)))
_count_again = Query(
    lambda: (
        update(guild_counters)
        .where(guild_counters.c.guild_id == bindparam("guild_id"))
        .values(
            member_count=select(func.count())
            .select_from(members)
            .where(members.c.guild_id == bindparam("guild_id"))
            .scalar_subquery()
        )
    )
)
_select_after = Query(
    lambda: (
        select(members.c.user_id)
        .where(members.c.guild_id == bindparam("guild_id"), members.c.user_id > bindparam("after"))
        .order_by(members.c.user_id)
        .limit(bindparam("maximum"))
    )
)
_exists_guild = Query(lambda: select(exists().where(guilds.c.id == bindparam("guild_id"))))


async def hide_guild(
    tx: Transaction, guild_id: GuildId, *, deleted_at: Timestamp, deletes_at: Timestamp, deleted_by: UserId | None
) -> None:
    """Move the row of a guild and all by which it is found out of reach, without its members."""
    await tx.execute(
        _hide,
        guild_id=guild_id,
        deleted_at=deleted_at,
        deletes_at=deletes_at,
        deleted_by=deleted_by,
        restoring=False,
    )
    await tx.execute(_delete_guild, guild_id=guild_id)
    for copy, remove in _HIDE:
        await tx.execute(copy, guild_id=guild_id)
        await tx.execute(remove, guild_id=guild_id)
    await tx.execute(_delete_voice_states, guild_id=guild_id)


async def show_guild(
    tx: Transaction, row: DeletedGuildRow, *, version: Snowflake, owner_id: UserId, vanity_url_code: str | None
) -> None:
    """Move the row of a guild and all by which it is found back, and count its members again."""
    await tx.execute(
        _show,
        guild_id=row.id,
        version=version,
        owner_id=owner_id,
        vanity_url_code=vanity_url_code,
        recent_changes="",
    )
    await tx.execute(_delete_deleted, guild_id=row.id)
    for copy, remove in _SHOW:
        await tx.execute(copy, guild_id=row.id)
        await tx.execute(remove, guild_id=row.id)
    await tx.execute(_count_again, guild_id=row.id)


async def hide_some_members(tx: Transaction, guild_id: GuildId) -> bool:
    """Move at most `MAX_MEMBERS_AT_ONCE` members out of reach; False if none are left."""
    user_ids = await _ids(tx, _some_present, guild_id)
    if user_ids:
        await tx.execute(_copy_hidden, guild_id=guild_id, user_ids=user_ids)
        await tx.execute(_delete_present, guild_id=guild_id, user_ids=user_ids)
    return len(user_ids) == MAX_MEMBERS_AT_ONCE


async def show_some_members(tx: Transaction, guild_id: GuildId) -> bool:
    """Move at most `MAX_MEMBERS_AT_ONCE` members back, whose accounts still exist; False if none are left."""
    user_ids = await _ids(tx, _some_deleted, guild_id)
    if user_ids:
        await tx.execute(_copy_shown, guild_id=guild_id, user_ids=user_ids)
        await tx.execute(_delete_hidden, guild_id=guild_id, user_ids=user_ids)
    return len(user_ids) == MAX_MEMBERS_AT_ONCE


async def _ids(tx: Transaction, query: Query[Any], guild_id: GuildId) -> list[UserId]:
    rows = await tx.all(query, guild_id=guild_id, maximum=MAX_MEMBERS_AT_ONCE)
    return [UserId(Snowflake(row[0])) for row in rows]


async def select_deleted(reader: Reader, guild_id: GuildId) -> DeletedGuildRow | None:
    """Read a deleted guild; None if there is none that can be restored."""
    return await reader.one(_select, guild_id=guild_id)


async def set_restoring(tx: Transaction, guild_id: GuildId) -> None:
    """Note that the members of a deleted guild are on their way back."""
    await tx.execute(_set_restoring, guild_id=guild_id)


async def is_vanity_taken(reader: Reader, code: str) -> bool:
    """Whether a guild has a vanity URL code."""
    return await reader.one(_is_vanity_taken, code=code) is not None


async def was_member(reader: Reader, guild_id: GuildId, user_id: UserId) -> bool:
    """Whether a user is a member of a deleted guild, and no guest. Some members may not be moved yet."""
    for query in (_is_deleted_member, _is_present_member):
        if await reader.one(query, guild_id=guild_id, user_id=user_id) is not None:
            return True
    return False


async def select_members_after(reader: Reader, guild_id: GuildId, after: int, maximum: int) -> list[UserId]:
    """Read the ids of the next members of a guild, in ascending order."""
    rows = await reader.all(_select_after, guild_id=guild_id, after=after, maximum=maximum)
    return [UserId(Snowflake(row[0])) for row in rows]


async def is_present(reader: Reader, guild_id: GuildId) -> bool:
    """Whether a guild is there and not deleted."""
    return bool(await reader.scalar(_exists_guild, guild_id=guild_id))


def _delete_of_guild(name: str) -> Query[Any]:
    table = table_named(name)
    return Query(lambda: delete(table).where(table.c.guild_id == bindparam("guild_id")))


_DELETE_FOR_GOOD: Final = [_delete_of_guild(f"deleted_{name}") for name in _OTHERS]


async def delete_for_good(tx: Transaction, guild_id: GuildId) -> None:
    """Delete the rows of `hide_guild`; the purge of the guild deletes the rest."""
    await tx.execute(_delete_deleted, guild_id=guild_id)
    for query in _DELETE_FOR_GOOD:
        await tx.execute(query, guild_id=guild_id)
