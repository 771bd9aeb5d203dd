"""The users of messages as JSON: authors, mentioned users, and their members in the guild.

Users and members are encoded straight from their rows, and equal rows only once: the functions from row to bytes are
pure, so a cached result is never stale.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from moothall.api.context import Context
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.objects.member import Member
from moothall.objects.user import User
from moothall.objects.wire import Timestamp, encode
from moothall.resources.message.queries.people import BOT_COLUMN, USER_COLUMNS, USERS_TABLE, select_people, select_users
from moothall.runtime.cache import Cache
from moothall.storage.database import Database, Reader
from moothall.storage.rows import primary_guild

_MAX_CACHED = 20_000


class Person(Struct, frozen=True):
    """A user in a message."""

    bot: bool
    user: bytes
    """The user object as JSON."""
    member: bytes | None
    """The member object as JSON, without its user and `pending`; None for a user who is no member of the guild."""


async def encoded_users(reader: Reader, user_ids: set[int]) -> dict[int, bytes]:
    """User objects as JSON, by id, in one query; ids of no user are left out."""
    return {row[0]: _encode_user(row) for row in await select_users(reader, user_ids)} if user_ids else {}


class UserCache:
    """User objects as JSON that were read before, for a database that no other process changes.

    The first commit that changes any user clears it before the response is sent, so no entry is ever stale. Only for
    reads outside of transactions: a transaction may see users that are not committed yet.
    """

    def __init__(self, database: Database) -> None:
        self._users: Cache[int, bytes] = Cache(_MAX_CACHED)
        self._users.watch(database, USERS_TABLE)

    @property
    def generation(self) -> int:
        """Grows when entries may have become stale: what was built from entries of the same generation is fresh."""
        return self._users.generation

    async def get(self, reader: Reader, user_ids: set[int]) -> dict[int, bytes]:
        """User objects of at least the ids that exist, as `encoded_users`."""
        cached = self._users
        missing = user_ids.difference(cached)
        if missing:
            read = await encoded_users(reader, missing)
            if not cached.enabled:
                return read
            if len(cached) + len(read) > _MAX_CACHED:
                cached.forget_all()
                return await encoded_users(reader, user_ids)
            for user_id, user in read.items():
                cached.keep(user_id, user)
        return cached


def user_cache(ctx: Context) -> UserCache | None:
    """The cache of the process; None inside a transaction."""
    return ctx.services.resources[UserCache] if ctx.tx.committed else None


async def find_people(reader: Reader, user_ids: Iterable[int], guild_id: GuildId | None) -> dict[int, Person]:
    """Users with their members in a guild, by id, in one query; ids of no user are left out."""
    ids = set(user_ids)
    return {row[0]: _person(row) for row in await select_people(reader, ids, guild_id)} if ids else {}


@lru_cache(maxsize=_MAX_CACHED)
def _person(row: tuple[Any, ...]) -> Person:
    member = row[USER_COLUMNS:]
    return Person(
        bot=bool(row[BOT_COLUMN]),
        user=_encode_user(row[:USER_COLUMNS]),
        member=None if member[0] is None else _encode_member(member),
    )


@lru_cache(maxsize=_MAX_CACHED)
def _encode_user(row: tuple[Any, ...]) -> bytes:
    user_id, username, discriminator, global_name, avatar, bot, system, banner, accent_color, public_flags = row[:10]
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
            primary_guild=primary_guild(*row[10:]),
        )
    )


def _encode_member(row: tuple[Any, ...]) -> bytes:
    joined_at, nick, avatar, banner, roles, premium_since, deaf, mute, flags, until = row
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
            pending=UNSET,
            communication_disabled_until=None if until is None else Timestamp(until),
        )
    )
