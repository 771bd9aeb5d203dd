"""Queries of the gateway that no resource has: pages of members, voice states of a guild."""

from sqlalchemy import bindparam, or_, select

from moothall.objects.ids import GuildId, UserId
from moothall.resources.voice.queries import VoiceStateRow
from moothall.storage.database import Query, Reader, has_prefix
from moothall.storage.rows import MemberRow
from moothall.storage.schema import members, voice_states

MAX_LISTED_MEMBERS = 250
"""The highest `large_threshold` of Identify."""
MEMBERS_PAGE = 100

_in_guild = members.c.guild_id == bindparam("guild_id")

_select_all_members = Query(
    select(members).where(_in_guild).order_by(members.c.user_id).limit(MAX_LISTED_MEMBERS),
    into=MemberRow,
)
_select_members_page = Query(
    select(members)
    .where(_in_guild, members.c.user_id > bindparam("after"))
    .order_by(members.c.user_id)
    .limit(MEMBERS_PAGE),
    into=MemberRow,
)
_select_members_by_prefix = Query(
    select(members)
    .where(_in_guild, or_(has_prefix(members.c.username_key, "prefix"), has_prefix(members.c.nick_key, "prefix")))
    .order_by(members.c.user_id)
    .limit(bindparam("maximum")),
    into=MemberRow,
)
_select_voice_states = Query(
    select(voice_states).where(voice_states.c.guild_id == bindparam("guild_id")).order_by(voice_states.c.user_id),
    into=VoiceStateRow,
)


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
