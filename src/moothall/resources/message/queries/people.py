"""The SQL of the users that messages show, and of their members in a guild.

Rows are plain tuples, so that `people` can cache what it encodes from them.
"""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import bindparam, select

from moothall.objects.ids import GuildId
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.schema import members, users

UserRow = tuple[Any, ...]
"""The columns of `_USER`."""
PersonRow = tuple[Any, ...]
"""The columns of `_USER`, then those of `_MEMBER`, which are NULL for a user who is no member."""

_USER = (
    users.c.id,
    users.c.username,
    users.c.discriminator,
    users.c.global_name,
    users.c.avatar,
    users.c.bot,
    users.c.system,
    users.c.banner,
    users.c.accent_color,
    users.c.public_flags,
)
_MEMBER = (
    members.c.joined_at,
    members.c.nick,
    members.c.avatar,
    members.c.banner,
    members.c.roles,
    members.c.premium_since,
    members.c.deaf,
    members.c.mute,
    members.c.flags,
    members.c.communication_disabled_until,
)
USERS_TABLE: Final = users.name
USER_COLUMNS: Final = len(_USER)
BOT_COLUMN: Final = _USER.index(users.c.bot)

_select_user = Query(lambda: select(*_USER).where(users.c.id == bindparam("user_id")))
_select_users = Query(lambda: select(*_USER).where(in_list(users.c.id, "user_ids")))
_people = select(*_USER, *(column.label(f"member_{column.name}") for column in _MEMBER)).select_from(
    users.outerjoin(members, (members.c.guild_id == bindparam("guild_id")) & (members.c.user_id == users.c.id))
)
_select_person = Query(lambda: _people.where(users.c.id == bindparam("user_id")), kept=True)
_select_people = Query(lambda: _people.where(in_list(users.c.id, "user_ids")))

_NO_GUILD: Final = 0
"""No guild has this id: in a direct message no user has a member."""


async def select_users(reader: Reader, user_ids: Collection[int]) -> list[UserRow]:
    """Users by id, unordered; ids of no user are left out."""
    if len(user_ids) == 1:
        return await reader.all(_select_user, user_id=next(iter(user_ids)))
    return await reader.all(_select_users, user_ids=list(user_ids))


async def select_people(reader: Reader, user_ids: Collection[int], guild_id: GuildId | None) -> list[PersonRow]:
    """Users by id with their members in a guild, unordered; ids of no user are left out."""
    guild = guild_id or _NO_GUILD
    if len(user_ids) == 1:
        return await reader.all(_select_person, user_id=next(iter(user_ids)), guild_id=guild)
    return await reader.all(_select_people, user_ids=list(user_ids), guild_id=guild)
