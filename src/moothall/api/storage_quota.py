"""How many bytes of files each account and each guild has stored, and how many it may.

An account is charged for each file that its messages and unused uploads have, once however many of them have it, from
the transaction that stores the first to the one that drops the last. So `storage_usage` always equals a new count.
A guild is charged in the same way for the files of messages in its channels (`guild_storage`).
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from moothall.api.context import Limits, Services
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import bindparam, select, update
from moothall.storage.tables import channels, guild_storage, storage_usage

FILE_BYTES_MIN: Final = 4096
"""The bytes of a file on the disk are a multiple of this, so that a quota bounds the number of small files as well."""

MEGABYTE: Final = 1_000_000

_usage = storage_usage.c
_add = Query(
    lambda: upsert(
        storage_usage,
        key=("payer_id",),
        update={"bytes": _usage.bytes + bindparam("added", type_=_usage.bytes.type)},
        returning=(_usage.bytes,),
    )
)
_select = Query(lambda: select(_usage.bytes).where(_usage.payer_id == bindparam("payer_id")))
_stored = guild_storage.c
_added = bindparam("added", type_=_stored.bytes.type)
_add_of_guild = Query(lambda: upsert(guild_storage, key=("guild_id",), update={"bytes": _stored.bytes + _added}))
_take_of_guild = Query(
    lambda: update(guild_storage).where(_stored.guild_id == bindparam("of_guild")).values(bytes=_stored.bytes + _added)
)
_select_of_guild = Query(
    lambda: (
        select(_stored.bytes, _stored.quota_mb)
        .select_from(channels.join(guild_storage, _stored.guild_id == channels.c.guild_id))
        .where(channels.c.id == bindparam("channel_id"))
    )
)


def charged_bytes(size: int) -> int:
    """The bytes that a file of a size is charged as."""
    return max(size, FILE_BYTES_MIN)


async def add_stored_bytes(tx: Transaction, user_id: UserId, added: int) -> int:
    """Count bytes that an account has stored since, or fewer; how many it has now.

    Other transactions that count those of the same account wait until this one ends.
    """
    return int(await tx.scalar(_add, payer_id=user_id, bytes=added, added=added))


async def add_stored_bytes_of_all(tx: Transaction, added: Mapping[UserId, int]) -> None:
    """The same for several accounts, in the order of their ids, so that transactions seldom deadlock."""
    rows = [{"payer_id": user_id, "bytes": added[user_id], "added": added[user_id]} for user_id in sorted(added)]
    if rows:
        await tx.execute_many(_add, rows)


async def add_bytes_of_guilds(tx: Transaction, added: Mapping[GuildId, int]) -> None:
    """Count bytes that guilds have stored since, or fewer, in the order of their ids.

    Other transactions that count those of the same guild wait until this one ends. A deleted guild, whose files are
    deleted in batches, is not counted.
    """
    for guild_id in sorted(added):
        if added[guild_id] > 0:
            await tx.execute(_add_of_guild, guild_id=guild_id, bytes=added[guild_id], added=added[guild_id])
        else:
            await tx.execute(_take_of_guild, of_guild=guild_id, added=added[guild_id])


async def require_room_in_guild(reader: Reader, limits: Limits, channel_id: ChannelId) -> None:
    """Raise Refusal, 413/40005, if the guild of a channel has stored more than it may."""
    row = await reader.one(_select_of_guild, channel_id=channel_id)
    if row is None:
        return
    stored, own = row
    megabytes = limits.storage_quota_mb_per_guild if own is None else int(own)
    if megabytes and stored > megabytes * MEGABYTE:
        raise Refusal(
            errors.REQUEST_TOO_LARGE,
            message=f"The files here may have {megabytes} MB in all. Delete messages with files to make room.",
        )


async def select_stored_bytes(reader: Reader, user_id: UserId) -> int:
    """How many bytes an account has stored."""
    return int(await reader.scalar(_select, payer_id=user_id) or 0)


def require_within_quota(limits: Limits, stored: int) -> None:
    """Raise Refusal, 413/40005, if an account would have stored more than it may."""
    if limits.storage_quota_bytes and stored > limits.storage_quota_bytes:
        raise over_quota(limits)


def over_quota(limits: Limits) -> Refusal:
    """The refusal of a file for which an account has no room left."""
    megabytes = limits.storage_quota_bytes // MEGABYTE
    return Refusal(
        errors.REQUEST_TOO_LARGE,
        message=f"Your files may have {megabytes} MB in all. Delete messages with files to make room.",
    )


class UploadsInFlight:
    """Bytes of files that accounts are uploading to this process: no transaction has counted them yet."""

    def __init__(self) -> None:
        self._bytes: Counter[UserId] = Counter()

    def of(self, user_id: UserId) -> int:
        """The bytes of an account."""
        return self._bytes[user_id]

    def add(self, user_id: UserId, size: int) -> None:
        """Count bytes, or fewer."""
        self._bytes[user_id] += size
        if not self._bytes[user_id]:
            del self._bytes[user_id]

    def __len__(self) -> int:
        """How many accounts upload."""
        return len(self._bytes)


class QuotaShare:
    """What one request uploads of the quota of its account."""

    __slots__ = ("_in_flight", "_left", "_limits", "_size", "_user_id")

    def __init__(self, limits: Limits, in_flight: UploadsInFlight, user_id: UserId, left: int) -> None:
        self._limits = limits
        self._in_flight = in_flight
        self._user_id = user_id
        self._left = left
        self._size = 0

    def take(self, size: int) -> None:
        """Take bytes that are about to be written. Raises Refusal: 413/40005 if there are not so many left."""
        self.require(size)
        self._in_flight.add(self._user_id, size)
        self._size += size

    def require(self, size: int) -> None:
        """Raise Refusal, 413/40005, unless there are so many bytes left."""
        if self._in_flight.of(self._user_id) + size > self._left:
            raise over_quota(self._limits)

    def release(self) -> None:
        """Count the bytes no more: a transaction has counted them, or the files are deleted."""
        size, self._size = self._size, 0
        if size:
            self._in_flight.add(self._user_id, -size)


async def open_quota_share(services: Services, reader: Reader, user_id: UserId | None) -> QuotaShare | None:
    """Begin to count what a request uploads for an account; None where there is no quota.

    Raises Refusal: 413/40005 for an account that has used it up.
    """
    limits = services.limits
    if not limits.storage_quota_bytes or user_id is None:
        return None
    left = limits.storage_quota_bytes - await select_stored_bytes(reader, user_id)
    share = QuotaShare(limits, services.resources[UploadsInFlight], user_id, left)
    share.require(FILE_BYTES_MIN)
    return share
