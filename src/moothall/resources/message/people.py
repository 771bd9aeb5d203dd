"""The people of messages as JSON: authors, those mentioned, and who they are in the guild.

Users and members are encoded straight from their rows, and equal rows only once: the functions
from row to bytes are pure, so a cached result is never stale.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, Struct
from sqlalchemy import bindparam, select

from moothall.kernel.context import Context
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.objects.member import Member
from moothall.objects.user import User
from moothall.objects.wire import Timestamp, encode
from moothall.storage.database import Database, Query, Reader, in_list
from moothall.storage.schema import members, users

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
    members.c.pending,
    members.c.communication_disabled_until,
)
_USER_COLUMNS = len(_USER)
_BOT = 5
_MAX_KNOWN = 20_000

_select_user = Query(select(*_USER).where(users.c.id == bindparam("user_id")))
_select_users = Query(select(*_USER).where(in_list(users.c.id, "user_ids")))
_people = select(*_USER, *(column.label(f"member_{column.name}") for column in _MEMBER)).select_from(
    users.outerjoin(members, (members.c.guild_id == bindparam("guild_id")) & (members.c.user_id == users.c.id))
)
_select_person = Query(_people.where(users.c.id == bindparam("user_id")))
_select_people = Query(_people.where(in_list(users.c.id, "user_ids")))


class Person(Struct, frozen=True):
    """Somebody whom a message names."""

    bot: bool
    user: bytes
    """JSON of the user object."""
    member: bytes | None
    """JSON of the member object without its user; None for those not in the guild."""


async def encoded_users(reader: Reader, user_ids: set[int]) -> dict[int, bytes]:
    """User objects as JSON, by id, in one query; ids that name nobody are left out."""
    if not user_ids:
        return {}
    if len(user_ids) == 1:
        rows = await reader.all(_select_user, user_id=next(iter(user_ids)))
    else:
        rows = await reader.all(_select_users, user_ids=list(user_ids))
    return {row[0]: _encode_user(row) for row in rows}


class KnownUsers:
    """User objects as JSON that were read before, where no other process changes users.

    The first commit about any user forgets them all before it is answered, so none is ever stale.
    For reads of what is committed: a transaction may see users that nobody else does yet.
    """

    def __init__(self, database: Database) -> None:
        self._known: dict[int, bytes] = {}
        self._on = database.watch(users.name, self._known.clear)

    @classmethod
    def of(cls, ctx: Context) -> "KnownUsers | None":
        """Those of the platform; None inside a transaction."""
        if not ctx.tx.committed:
            return None
        found: KnownUsers | None = ctx.services.extra.get(cls)
        if found is None:
            found = ctx.services.extra[cls] = cls(ctx.services.database)
        return found

    async def get(self, reader: Reader, user_ids: set[int]) -> dict[int, bytes]:
        """The same as `encoded_users`."""
        known = self._known
        missing = user_ids.difference(known)
        if missing:
            read = await encoded_users(reader, missing)
            if not self._on:
                return read
            if len(known) + len(read) > _MAX_KNOWN:
                known.clear()
                return await encoded_users(reader, user_ids)
            known.update(read)
        return known


async def find_people(reader: Reader, user_ids: Iterable[int], guild_id: GuildId | None) -> dict[int, Person]:
    """Users with their membership of a guild, by id, in one query; ids that name nobody are left out."""
    wanted = list(set(user_ids))
    access = guild_id or 0  # in a direct message there is no guild, and 0 is no guild's id
    if len(wanted) == 1:
        rows = await reader.all(_select_person, user_id=wanted[0], guild_id=access)
    else:
        rows = await reader.all(_select_people, user_ids=wanted, guild_id=access)
    return {row[0]: _person(row) for row in rows}


@lru_cache(maxsize=20_000)
def _person(row: tuple[Any, ...]) -> Person:
    member = row[_USER_COLUMNS:]
    return Person(
        bot=bool(row[_BOT]),
        user=_encode_user(row[:_USER_COLUMNS]),
        member=None if member[0] is None else _encode_member(member),
    )


@lru_cache(maxsize=20_000)
def _encode_user(row: tuple[Any, ...]) -> bytes:
    user_id, username, discriminator, global_name, avatar, bot, system, banner, accent_color, public_flags = row
    return encode(
        User(
            id=UserId(Snowflake(user_id)),
            username=username,
            discriminator=discriminator,
            global_name=global_name,
            avatar=avatar,
            bot=True if bot else UNSET,
            system=True if system else UNSET,
            banner=banner,
            accent_color=accent_color,
            public_flags=public_flags,
            flags=public_flags,
        )
    )


def _encode_member(row: tuple[Any, ...]) -> bytes:
    joined_at, nick, avatar, banner, roles, premium_since, deaf, mute, flags, pending, until = row
    return encode(
        Member(
            nick=nick,
            avatar=avatar,
            banner=banner,
            roles=[RoleId(Snowflake(role)) for role in msgspec.json.decode(roles, type=list[int])],
            joined_at=Timestamp(joined_at),
            premium_since=None if premium_since is None else Timestamp(premium_since),
            deaf=bool(deaf),
            mute=bool(mute),
            flags=flags,
            pending=bool(pending),
            communication_disabled_until=None if until is None else Timestamp(until),
        )
    )
