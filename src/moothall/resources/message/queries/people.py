"""The SQL of the users that messages show, and of their members in a guild.

Rows are plain tuples, so that `people` can cache what it encodes from them.
"""

from collections.abc import Collection
from typing import Any, Final

from moothall.objects.ids import GuildId
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import members, users

UserRow = tuple[Any, ...]
"""The columns of `_USER`."""
PersonRow = tuple[Any, ...]
"""The columns of `_USER`, then those of `_MEMBER`, which are NULL for a user who is no member."""

_USER: Final = (
    "id",
    "username",
    "discriminator",
    "global_name",
    "avatar",
    "bot",
    "system",
    "banner",
    "accent_color",
    "public_flags",
    "primary_guild_id",
    "primary_guild_tag",
    "primary_guild_badge",
)
_MEMBER: Final = (
    "joined_at",
    "nick",
    "avatar",
    "banner",
    "roles",
    "premium_since",
    "deaf",
    "mute",
    "flags",
    "communication_disabled_until",
)
USERS_TABLE: Final = users.name
USER_COLUMNS: Final = len(_USER)
BOT_COLUMN: Final = _USER.index("bot")
_user_columns = tuple(users.c[name] for name in _USER)
_member_columns = tuple(members.c[name].label(f"member_{name}") for name in _MEMBER)

_select_user = Query(lambda: select(*_user_columns).where(users.c.id == bindparam("user_id")))
_select_users = Query(lambda: select(*_user_columns).where(in_list(users.c.id, "user_ids")))
_people = select(*_user_columns, *_member_columns).select_from(
    users.outerjoin(members, (members.c.guild_id == bindparam("guild_id")) & (members.c.user_id == users.c.id))
)
_select_person = Query(lambda: _people.where(users.c.id == bindparam("user_id")), key=("guild_id", "user_id"))
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
