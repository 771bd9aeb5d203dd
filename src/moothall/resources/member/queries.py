"""The SQL of members."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.member import Member
from moothall.objects.wire import Timestamp
from moothall.resources.user.queries import get_users
from moothall.storage.database import (
    Query,
    Reader,
    Transaction,
    has_prefix,
    in_list,
    insert_ignore,
    update_columns,
    upsert,
)
from moothall.storage.rows import MemberRow, member_from_row
from moothall.storage.sql import ColumnElement, bindparam, delete, func, select, update
from moothall.storage.tables import (
    bans,
    channels,
    former_members,
    guild_counters,
    home_progress,
    member_activity,
    members,
    onboarding_answers,
    thread_members,
    users,
)

TABLES: Final = (members.name, users.name)
"""The tables that member objects are read from."""
_KEY = ("guild_id", "user_id")


class FormerMember(Struct, frozen=True):
    """A row of `former_members`: who left a guild, and what holds for them if they rejoin."""

    guild_id: GuildId
    user_id: UserId
    left_at: Timestamp
    deaf: bool
    mute: bool
    communication_disabled_until: Timestamp | None


_select_member = Query(
    lambda: select(members).where(
        members.c.guild_id == bindparam("guild_id"), members.c.user_id == bindparam("user_id")
    ),
    into=MemberRow,
    key=_KEY,
)
_select_members = Query(
    lambda: select(members).where(members.c.guild_id == bindparam("guild_id"), in_list(members.c.user_id, "user_ids")),
    into=MemberRow,
)
_select_memberships = Query(
    lambda: select(members).where(in_list(members.c.guild_id, "guild_ids"), in_list(members.c.user_id, "user_ids")),
    into=MemberRow,
)
_select_members_after = Query(
    lambda: (
        select(members)
        .where(members.c.guild_id == bindparam("guild_id"), members.c.user_id > bindparam("after"))
        .order_by(members.c.user_id)
        .limit(bindparam("maximum"))
    ),
    into=MemberRow,
)


def _search(column: ColumnElement[str]) -> Query[MemberRow]:
    # One query per index, which ends after `maximum` rows: an OR of both would sort every match.
    return Query(
        select(members)
        .where(members.c.guild_id == bindparam("guild_id"), has_prefix(column, "prefix"))
        .order_by(column)
        .limit(bindparam("maximum")),
        into=MemberRow,
    )


_search_usernames = _search(members.c.username_key)
_search_nicks = _search(members.c.nick_key)
_count_guilds = Query(
    lambda: select(func.count()).select_from(members).where(members.c.user_id == bindparam("user_id"))
)
_select_guild_ids = Query(lambda: select(members.c.guild_id).where(members.c.user_id == bindparam("user_id")))
_select_ban = Query(
    lambda: select(bans.c.user_id).where(
        bans.c.guild_id == bindparam("guild_id"), bans.c.user_id == bindparam("user_id")
    )
)
_select_former = Query(
    lambda: select(former_members).where(
        former_members.c.guild_id == bindparam("guild_id"), former_members.c.user_id == bindparam("user_id")
    ),
    into=FormerMember,
)
_select_membership_keys = Query(
    lambda: select(members.c.guild_id, members.c.user_id).where(in_list(members.c.user_id, "user_ids"))
)
_select_temporary_guild_ids = Query(
    lambda: select(members.c.guild_id).where(members.c.user_id == bindparam("user_id"), members.c.temporary)
)
_select_guests = Query(
    lambda: select(members).where(
        members.c.guild_id == bindparam("guild_id"), members.c.guest_channel_id == bindparam("channel_id")
    ),
    into=MemberRow,
)
_insert_member = Query(lambda: insert_ignore(members, key=_KEY))
_delete_member = Query(
    lambda: delete(members).where(
        members.c.guild_id == bindparam("guild_id"), members.c.user_id == bindparam("user_id")
    )
)
_delete_activity = Query(
    lambda: delete(member_activity).where(
        member_activity.c.guild_id == bindparam("guild_id"), member_activity.c.user_id == bindparam("user_id")
    )
)
_delete_own_answers = Query(
    lambda: delete(onboarding_answers).where(
        onboarding_answers.c.guild_id == bindparam("guild_id"), onboarding_answers.c.user_id == bindparam("user_id")
    )
)
_delete_own_home_progress = Query(
    lambda: delete(home_progress).where(
        home_progress.c.guild_id == bindparam("guild_id"), home_progress.c.user_id == bindparam("user_id")
    )
)
_delete_answers = Query(
    lambda: delete(onboarding_answers).where(
        onboarding_answers.c.guild_id == bindparam("guild_id"), in_list(onboarding_answers.c.user_id, "user_ids")
    )
)
_delete_home_progress = Query(
    lambda: delete(home_progress).where(
        home_progress.c.guild_id == bindparam("guild_id"), in_list(home_progress.c.user_id, "user_ids")
    )
)
_upsert_former_member = Query(
    lambda: upsert(former_members, key=_KEY, update=["left_at", "deaf", "mute", "communication_disabled_until"])
)
_increment_member_count = Query(
    lambda: (
        update(guild_counters)
        .where(
            guild_counters.c.guild_id == bindparam("guild_id"), guild_counters.c.member_count < bindparam("max_members")
        )
        .values(member_count=guild_counters.c.member_count + 1)
    )
)
_undo_increment = Query(
    lambda: (
        update(guild_counters)
        .where(guild_counters.c.guild_id == bindparam("guild_id"))
        .values(member_count=guild_counters.c.member_count - 1)
    )
)
_decrease_member_count = Query(
    lambda: (
        update(guild_counters)
        .where(guild_counters.c.guild_id == bindparam("guild_id"))
        .values(member_count=guild_counters.c.member_count - bindparam("fewer"))
    )
)
_lock_count = Query(
    lambda: (
        select(guild_counters.c.member_count)
        .where(guild_counters.c.guild_id == bindparam("guild_id"))
        .with_for_update()
    )
)
_select_count = Query(
    lambda: select(guild_counters.c.member_count).where(guild_counters.c.guild_id == bindparam("guild_id"))
)
_select_count_and_version = Query(
    lambda: select(guild_counters.c.member_count, guild_counters.c.state_version).where(
        guild_counters.c.guild_id == bindparam("guild_id")
    )
)


def _in_threads_of_guild() -> ColumnElement[bool]:
    # A join instead would let SQLite look at every thread of the guild, rather than at those of the user.
    guild_id = select(channels.c.guild_id).where(channels.c.id == thread_members.c.thread_id).scalar_subquery()
    return guild_id == bindparam("guild_id")


_select_threads = Query(
    lambda: select(thread_members.c.thread_id).where(
        thread_members.c.user_id == bindparam("user_id"), _in_threads_of_guild()
    )
)
_leave_threads = Query(
    lambda: delete(thread_members).where(
        thread_members.c.user_id == bindparam("user_id"), in_list(thread_members.c.thread_id, "thread_ids")
    )
)
_shrink_threads = Query(
    lambda: (
        update(channels).where(in_list(channels.c.id, "thread_ids")).values(member_count=channels.c.member_count - 1)
    )
)

_insert_last_seen = Query(lambda: insert_ignore(member_activity, key=_KEY))
_renew_last_seen = Query(
    lambda: (
        update(member_activity)
        .where(
            member_activity.c.guild_id == bindparam("in_guild"),
            member_activity.c.user_id == bindparam("of_user"),
            member_activity.c.last_seen_at < bindparam("stale"),
        )
        .values(last_seen_at=bindparam("seen_at"))
    )
)
_upsert_last_seen = Query(lambda: upsert(member_activity, key=_KEY, update=["last_seen_at"]))
_clear_pending = Query(
    lambda: (
        update(members)
        .where(members.c.guild_id == bindparam("guild_id"), in_list(members.c.user_id, "user_ids"))
        .values(pending=False)
    )
)
_delete_members = Query(
    lambda: delete(members).where(members.c.guild_id == bindparam("guild_id"), in_list(members.c.user_id, "user_ids"))
)
_delete_activities = Query(
    lambda: delete(member_activity).where(
        member_activity.c.guild_id == bindparam("guild_id"), in_list(member_activity.c.user_id, "user_ids")
    )
)
_select_threads_of = Query(
    lambda: select(thread_members.c.thread_id).where(
        in_list(thread_members.c.user_id, "user_ids"), _in_threads_of_guild()
    )
)
_leave_threads_all = Query(
    lambda: delete(thread_members).where(
        in_list(thread_members.c.user_id, "user_ids"), in_list(thread_members.c.thread_id, "thread_ids")
    )
)
_shrink_thread = Query(
    lambda: (
        update(channels)
        .where(channels.c.id == bindparam("thread_id"))
        .values(member_count=channels.c.member_count - bindparam("fewer"))
    )
)


async def get_member(reader: Reader, guild_id: GuildId, user_id: UserId) -> MemberRow | None:
    """One member's row; None if the user is not a member."""
    return await reader.one(_select_member, guild_id=guild_id, user_id=user_id)


async def get_members(reader: Reader, guild_id: GuildId, user_ids: Iterable[UserId]) -> dict[UserId, MemberRow]:
    """Members' rows by user id, in one query; users who are not members are left out."""
    ids = list(set(user_ids))
    if not ids:
        return {}
    return {row.user_id: row for row in await reader.all(_select_members, guild_id=guild_id, user_ids=ids)}


async def select_memberships(
    reader: Reader, keys: Collection[tuple[GuildId, UserId]]
) -> dict[tuple[GuildId, UserId], MemberRow]:
    """Members of several guilds by (guild, user), in one query; users who are not members are left out."""
    if not keys:
        return {}
    rows = await reader.all(
        _select_memberships,
        guild_ids=list({guild_id for guild_id, _ in keys}),
        user_ids=list({user_id for _, user_id in keys}),
    )
    return {(row.guild_id, row.user_id): row for row in rows}


async def select_members_after(reader: Reader, guild_id: GuildId, after: UserId, maximum: int) -> list[MemberRow]:
    """The next `maximum` members by ascending user id."""
    return await reader.all_up_to(maximum, _select_members_after, guild_id=guild_id, after=after, maximum=maximum)


async def search_members(reader: Reader, guild_id: GuildId, prefix: str, maximum: int) -> list[MemberRow]:
    """At most `maximum` members whose username or nickname starts with a search key, ordered by the matching name."""
    options = {"guild_id": guild_id, "prefix": prefix, "maximum": maximum}
    matches: dict[UserId, tuple[str, MemberRow]] = {}
    for row in await reader.all_up_to(maximum, _search_usernames, **options):
        matches[row.user_id] = (row.username_key, row)
    for row in await reader.all_up_to(maximum, _search_nicks, **options):
        key = row.nick_key or ""
        if row.user_id not in matches or key < matches[row.user_id][0]:
            matches[row.user_id] = (key, row)
    ranked = sorted(matches.values(), key=lambda item: (item[0], item[1].user_id))
    return [row for _, row in ranked[:maximum]]


async def member_object(reader: Reader, row: MemberRow) -> Member:
    """The member object of a row, with its user."""
    users = await get_users(reader, [row.user_id])
    return member_from_row(row, users[row.user_id])


async def member_objects(reader: Reader, rows: Sequence[MemberRow]) -> list[Member]:
    """The member objects of rows, with their users, in the order of the rows, in one query."""
    users = await get_users(reader, [row.user_id for row in rows])
    return [member_from_row(row, users[row.user_id]) for row in rows]


async def count_members(reader: Reader, guild_id: GuildId) -> int:
    """The number of members of a guild."""
    return int(await reader.scalar(_select_count, guild_id=guild_id) or 0)


async def count_guilds(reader: Reader, user_id: UserId) -> int:
    """The number of guilds that a user is in."""
    return int(await reader.scalar(_count_guilds, user_id=user_id) or 0)


async def select_guild_ids(reader: Reader, user_id: UserId) -> list[GuildId]:
    """The guilds that a user is in."""
    return [GuildId(Snowflake(row[0])) for row in await reader.all(_select_guild_ids, user_id=user_id)]


async def select_membership_keys(reader: Reader, user_ids: Sequence[UserId]) -> set[tuple[GuildId, UserId]]:
    """The (guild, user) of every membership of several users, in one query."""
    if not user_ids:
        return set()
    rows = await reader.all(_select_membership_keys, user_ids=user_ids)
    return {(GuildId(Snowflake(guild)), UserId(Snowflake(user))) for guild, user in rows}


async def select_temporary_guild_ids(reader: Reader, user_id: UserId) -> list[GuildId]:
    """The guilds in which a user's membership is temporary."""
    return [GuildId(Snowflake(row[0])) for row in await reader.all(_select_temporary_guild_ids, user_id=user_id)]


async def select_guests(reader: Reader, guild_id: GuildId, channel_id: ChannelId) -> list[MemberRow]:
    """The guests of one voice channel, connected to it or not."""
    return await reader.all(_select_guests, guild_id=guild_id, channel_id=channel_id)


async def is_banned(reader: Reader, guild_id: GuildId, user_id: UserId) -> bool:
    """Whether a user is banned from a guild."""
    return await reader.one(_select_ban, guild_id=guild_id, user_id=user_id) is not None


async def get_former_member(reader: Reader, guild_id: GuildId, user_id: UserId) -> FormerMember | None:
    """Who left a guild, as they were when they last did; None for a user who never left it."""
    return await reader.one(_select_former, guild_id=guild_id, user_id=user_id)


async def count_members_at(reader: Reader, guild_id: GuildId) -> tuple[int, int]:
    """The number of members of a guild, and the number of the event of its state after which it is that."""
    row = await reader.one(_select_count_and_version, guild_id=guild_id)
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


async def increment_member_count(tx: Transaction, guild_id: GuildId, max_members: int) -> bool:
    """Add one to a guild's member count; False if the guild is full.

    Joining and banning both update this row first, so that concurrent ones run one after the other.
    """
    return await tx.execute(_increment_member_count, guild_id=guild_id, max_members=max_members) > 0


async def undo_increment(tx: Transaction, guild_id: GuildId) -> None:
    """Undo `increment_member_count` in the same transaction: nothing is announced."""
    await tx.execute(_undo_increment, guild_id=guild_id)


async def lock_member_count(tx: Transaction, guild_id: GuildId) -> None:
    """Lock a guild's member count until the transaction ends, so that joins wait for it."""
    await tx.one(_lock_count, guild_id=guild_id)


async def insert_member(tx: Transaction, row: MemberRow) -> bool:
    """Insert a member; False if the user is a member already."""
    return await tx.execute(_insert_member, **{name: getattr(row, name) for name in row.__struct_fields__}) > 0


async def update_member(tx: Transaction, guild_id: GuildId, user_id: UserId, **values: object) -> None:
    """Set columns of a member's row."""
    query = update_columns(members, key=_KEY, columns=frozenset(values))
    await tx.write(query, guild_id=guild_id, user_id=user_id, **values)


async def clear_pending(tx: Transaction, guild_id: GuildId, user_ids: Sequence[UserId]) -> None:
    """Set `pending` of several members to false."""
    await tx.execute(_clear_pending, guild_id=guild_id, user_ids=list(user_ids))


async def delete_member(tx: Transaction, row: MemberRow, left_at: Timestamp) -> bool:
    """Delete a member with their thread memberships, and insert them as a former member; False if there is none."""
    guild_id, user_id = row.guild_id, row.user_id
    if not await tx.execute(_delete_member, guild_id=guild_id, user_id=user_id):
        return False
    await tx.execute(_decrease_member_count, guild_id=guild_id, fewer=1)
    await tx.execute(_delete_activity, guild_id=guild_id, user_id=user_id)
    await tx.execute(_delete_own_answers, guild_id=guild_id, user_id=user_id)
    await tx.execute(_delete_own_home_progress, guild_id=guild_id, user_id=user_id)
    await tx.execute(_upsert_former_member, **structs.asdict(_former_member(row, left_at)))
    threads = [ChannelId(row[0]) for row in await tx.all(_select_threads, guild_id=guild_id, user_id=user_id)]
    if threads:
        await tx.execute(_leave_threads, user_id=user_id, thread_ids=threads)
        await tx.execute(_shrink_threads, thread_ids=threads)
    return True


async def delete_members(tx: Transaction, guild_id: GuildId, rows: Collection[MemberRow], left_at: Timestamp) -> None:
    """Delete several members of a guild as `delete_member` does. All of them must be members."""
    user_ids = [row.user_id for row in rows]
    removed = await tx.execute(_delete_members, guild_id=guild_id, user_ids=user_ids)
    await tx.execute(_decrease_member_count, guild_id=guild_id, fewer=removed)
    for query in (_delete_activities, _delete_answers, _delete_home_progress):
        await tx.execute(query, guild_id=guild_id, user_ids=user_ids)
    await tx.execute_many(_upsert_former_member, [structs.asdict(_former_member(row, left_at)) for row in rows])
    joined = [ChannelId(row[0]) for row in await tx.all(_select_threads_of, guild_id=guild_id, user_ids=user_ids)]
    if joined:
        await tx.execute(_leave_threads_all, user_ids=user_ids, thread_ids=joined)
        counts = Counter(joined)
        await tx.execute_many(
            _shrink_thread, [{"thread_id": thread_id, "fewer": count} for thread_id, count in counts.items()]
        )


def _former_member(row: MemberRow, left_at: Timestamp) -> FormerMember:
    return FormerMember(row.guild_id, row.user_id, left_at, row.deaf, row.mute, row.communication_disabled_until)


async def renew_last_seen(
    tx: Transaction, seen: Sequence[tuple[GuildId, UserId]], at: Timestamp, *, stale: Timestamp
) -> None:
    """Set when members, as (guild, user), were last seen, unless the stored time is `stale` or later."""
    await tx.execute_many(_insert_last_seen, [{"guild_id": g, "user_id": u, "last_seen_at": at} for g, u in seen])
    await tx.execute_many(
        _renew_last_seen, [{"in_guild": g, "of_user": u, "stale": stale, "seen_at": at} for g, u in seen]
    )


async def write_last_seen(tx: Transaction, guild_id: GuildId, user_id: UserId, at: Timestamp) -> None:
    """Set when a member was last seen, overwriting any stored time."""
    await tx.execute(_upsert_last_seen, guild_id=guild_id, user_id=user_id, last_seen_at=at)
