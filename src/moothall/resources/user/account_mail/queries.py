"""SQL of the links that are used once."""

from enum import StrEnum

from msgspec import Struct

from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import bindparam, delete, insert, select
from moothall.storage.tables import account_links


class LinkPurpose(StrEnum):
    """What a link is for. The values are stored."""

    VERIFY = "verify"
    RESET = "reset"
    RECOVERY = "recovery"
    """Calls off that lost second factors are removed."""


class LinkRow(Struct):
    """A row of `account_links`."""

    hash: bytes
    user_id: UserId
    purpose: str
    address: str | None
    created_at: Timestamp
    expires_at: Timestamp


_l = account_links.c
_insert = Query(lambda: insert(account_links))
_select_live = Query(
    lambda: select(account_links).where(
        _l.hash == bindparam("hash"), _l.purpose == bindparam("purpose"), _l.expires_at > bindparam("now")
    ),
    into=LinkRow,
)
_delete = Query(lambda: delete(account_links).where(_l.hash == bindparam("hash")))
_delete_of_user = Query(lambda: delete(account_links).where(_l.user_id == bindparam("user_id")))
_delete_of_purpose = Query(
    lambda: delete(account_links).where(_l.user_id == bindparam("user_id"), _l.purpose == bindparam("purpose"))
)
_delete_expired = Query(lambda: delete(account_links).where(_l.expires_at <= bindparam("now")))


async def insert_link(
    tx: Transaction,
    digest: bytes,
    user_id: UserId,
    purpose: LinkPurpose,
    address: str | None,
    *,
    now: Timestamp,
    expires_at: Timestamp,
) -> None:
    """Store a link by the hash of its token, and delete those of all users that have expired."""
    await tx.execute(_delete_expired, now=now)
    await tx.execute(
        _insert, hash=digest, user_id=user_id, purpose=purpose, address=address, created_at=now, expires_at=expires_at
    )


async def select_link(reader: Reader, digest: bytes, purpose: LinkPurpose, now: Timestamp) -> LinkRow | None:
    """Read a link that is still good; None for any other."""
    return await reader.one(_select_live, hash=digest, purpose=purpose, now=now)


async def delete_link(tx: Transaction, digest: bytes) -> bool:
    """Delete a link; False if another transaction has deleted it."""
    return await tx.execute(_delete, hash=digest) > 0


async def delete_links(tx: Transaction, user_id: UserId, purpose: LinkPurpose | None = None) -> None:
    """Delete the links of a user, of one purpose or all."""
    if purpose is None:
        await tx.execute(_delete_of_user, user_id=user_id)
    else:
        await tx.execute(_delete_of_purpose, user_id=user_id, purpose=purpose)
