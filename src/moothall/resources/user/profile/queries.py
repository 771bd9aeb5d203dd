"""The SQL of what two users share."""

from moothall.objects import limits
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.profile import MutualGuild
from moothall.objects.relationship import RelationshipType
from moothall.objects.user import User
from moothall.storage.database import Query, Reader
from moothall.storage.rows import UserRow, user_from_row
from moothall.storage.sql import bindparam, func, select
from moothall.storage.tables import members, relationships, users

_FRIEND = int(RelationshipType.FRIEND)
_own = members.alias()
_theirs = members.alias()
_own_friends = relationships.alias()
_their_friends = relationships.alias()

_select_mutual_guilds = Query(
    lambda: (
        select(_theirs.c.guild_id, _theirs.c.nick)
        .select_from(_own.join(_theirs, _own.c.guild_id == _theirs.c.guild_id))
        .where(_own.c.user_id == bindparam("user_id"), _theirs.c.user_id == bindparam("other_id"))
        .order_by(_theirs.c.guild_id)
    )
)
_mutual_friends = _own_friends.join(_their_friends, _own_friends.c.other_id == _their_friends.c.other_id)
_are_mutual = (
    (_own_friends.c.user_id == bindparam("user_id"))
    & (_own_friends.c.type == _FRIEND)
    & (_their_friends.c.user_id == bindparam("other_id"))
    & (_their_friends.c.type == _FRIEND)
)
_select_mutual_friends = Query(
    lambda: (
        select(users)
        .select_from(_mutual_friends.join(users, users.c.id == _own_friends.c.other_id))
        .where(_are_mutual)
        .order_by(users.c.id)
        .limit(limits.FRIENDS_MAX)
    ),
    into=UserRow,
)
_count_mutual_friends = Query(lambda: select(func.count()).select_from(_mutual_friends).where(_are_mutual))


async def select_mutual_guilds(reader: Reader, user_id: UserId, other_id: UserId) -> list[MutualGuild]:
    """The guilds that both users are in, by id, with the other user's nicknames."""
    rows = await reader.all(_select_mutual_guilds, user_id=user_id, other_id=other_id)
    return [MutualGuild(id=GuildId(Snowflake(row[0])), nick=row[1]) for row in rows]


async def select_mutual_friends(reader: Reader, user_id: UserId, other_id: UserId) -> list[User]:
    """The users who are friends of both, by id."""
    rows = await reader.all(_select_mutual_friends, user_id=user_id, other_id=other_id)
    return [user_from_row(row) for row in rows]


async def count_mutual_friends(reader: Reader, user_id: UserId, other_id: UserId) -> int:
    """How many users are friends of both."""
    return int(await reader.scalar(_count_mutual_friends, user_id=user_id, other_id=other_id))
