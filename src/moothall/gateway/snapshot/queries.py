"""Queries of the gateway that no resource has: pages of members, voice states of a guild."""

from collections.abc import Sequence

from msgspec import Struct

from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.resources.voice.queries import VoiceStateRow
from moothall.storage.database import Query, Reader, has_prefix, in_list
from moothall.storage.rows import MemberRow
from moothall.storage.sql import bindparam, or_, select
from moothall.storage.tables import guild_counters, members, users, voice_states

MAX_LISTED_MEMBERS = 250
"""The highest `large_threshold` of Identify."""
MEMBERS_PAGE = 100

_in_guild = members.c.guild_id == bindparam("guild_id")

_select_all_members = Query(
    lambda: select(members).where(_in_guild).order_by(members.c.user_id).limit(MAX_LISTED_MEMBERS),
    into=MemberRow,
)
_select_members_page = Query(
    lambda: (
        select(members)
        .where(_in_guild, members.c.user_id > bindparam("after"))
        .order_by(members.c.user_id)
        .limit(MEMBERS_PAGE)
    ),
    into=MemberRow,
)
_select_members_by_prefix = Query(
    lambda: (
        select(members)
        .where(_in_guild, or_(has_prefix(members.c.username_key, "prefix"), has_prefix(members.c.nick_key, "prefix")))
        .order_by(members.c.user_id)
        .limit(bindparam("maximum"))
    ),
    into=MemberRow,
)
_select_voice_states = Query(
    lambda: (
        select(voice_states).where(voice_states.c.guild_id == bindparam("guild_id")).order_by(voice_states.c.user_id)
    ),
    into=VoiceStateRow,
)


class ListedMemberRow(Struct):
    """What member lists sort members by."""

    user_id: UserId
    nick: str | None
    roles: list[Snowflake]
    guest_channel_id: ChannelId | None
    username: str
    global_name: str | None


_listed = select(
    members.c.user_id,
    members.c.nick,
    members.c.roles,
    members.c.guest_channel_id,
    users.c.username,
    users.c.global_name,
).select_from(members.join(users, users.c.id == members.c.user_id))
_select_listed = Query(lambda: _listed.where(_in_guild, in_list(members.c.user_id, "user_ids")), into=ListedMemberRow)
_select_listed_page = Query(
    lambda: (
        _listed.where(_in_guild, members.c.user_id > bindparam("after"))
        .order_by(members.c.user_id)
        .limit(bindparam("maximum"))
    ),
    into=ListedMemberRow,
)


class MemberAtRow(Struct):
    """What a member sees a guild by, and after which event of the guild it is that."""

    roles: list[Snowflake]
    pending: bool
    communication_disabled_until: int | None
    guest_channel_id: ChannelId | None
    flags: int
    state_version: int


_select_member_at = Query(
    lambda: (
        select(
            members.c.roles,
            members.c.pending,
            members.c.communication_disabled_until,
            members.c.guest_channel_id,
            members.c.flags,
            guild_counters.c.state_version,
        )
        .select_from(members.join(guild_counters, guild_counters.c.guild_id == members.c.guild_id))
        .where(_in_guild, members.c.user_id == bindparam("user_id"))
    ),
    into=MemberAtRow,
)


async def select_member_at(reader: Reader, guild_id: GuildId, user_id: UserId) -> MemberAtRow | None:
    """A member with the number of the guild's last event, as they are at one moment; None for a user who is none."""
    return await reader.one(_select_member_at, guild_id=guild_id, user_id=user_id)


async def select_listed(reader: Reader, guild_id: GuildId, user_ids: Sequence[UserId]) -> list[ListedMemberRow]:
    """The members among some users as lists sort them."""
    return await reader.all(_select_listed, guild_id=guild_id, user_ids=list(user_ids))


async def select_listed_page(reader: Reader, guild_id: GuildId, after: UserId, limit: int) -> list[ListedMemberRow]:
    """At most `limit` members with a user id above `after` as lists sort them, lowest id first."""
    return await reader.all(_select_listed_page, guild_id=guild_id, after=after, maximum=limit)


async def select_all_members(reader: Reader, guild_id: GuildId) -> list[MemberRow]:
    """The members of a guild by user id, at most `MAX_LISTED_MEMBERS`."""
    return await reader.all(_select_all_members, guild_id=guild_id)


async def select_members_page(reader: Reader, guild_id: GuildId, after: UserId) -> list[MemberRow]:
    """At most `MEMBERS_PAGE` members with a user id above `after`, lowest first."""
    return await reader.all(_select_members_page, guild_id=guild_id, after=after)


async def select_members_by_prefix(reader: Reader, guild_id: GuildId, prefix: str, limit: int) -> list[MemberRow]:
    """At most `limit` members whose username or nick starts with a search key, by user id."""
    return await reader.all(_select_members_by_prefix, guild_id=guild_id, prefix=prefix, maximum=limit)


async def select_voice_states(reader: Reader, guild_id: GuildId) -> list[VoiceStateRow]:
    """Every voice state of a guild, by user id."""
    return await reader.all(_select_voice_states, guild_id=guild_id)
