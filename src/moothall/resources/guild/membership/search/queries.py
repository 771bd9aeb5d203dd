"""The SQL of searching members."""

from typing import Final

from msgspec import Struct

from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import members, users

ROWS_AT_ONCE: Final = 2000
"""Members that one query reads, which takes some milliseconds."""


class SearchedMember(Struct):
    """What searches compare of a member."""

    user_id: UserId
    nick_key: str | None
    username_key: str
    roles: list[Snowflake]
    joined_at: Timestamp
    flags: int
    pending: bool
    communication_disabled_until: Timestamp | None
    guest_channel_id: ChannelId | None
    global_name: str | None
    public_flags: int


_own = ("global_name", "public_flags")
_select_after = Query(
    lambda: (
        select(*(users.c[name] if name in _own else members.c[name] for name in SearchedMember.__struct_fields__))
        .select_from(members.join(users, users.c.id == members.c.user_id))
        .where(members.c.guild_id == bindparam("guild_id"), members.c.user_id > bindparam("after"))
        .order_by(members.c.user_id)
        .limit(bindparam("maximum"))
    ),
    into=SearchedMember,
)


async def select_searched(reader: Reader, guild_id: GuildId, after: UserId) -> list[SearchedMember]:
    """The next `ROWS_AT_ONCE` members of a guild by ascending user id."""
    return await reader.all_long(_select_after, guild_id=guild_id, after=after, maximum=ROWS_AT_ONCE)
