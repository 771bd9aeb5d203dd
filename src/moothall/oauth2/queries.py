"""The SQL of tokens' ends, and of what is kept once for the whole installation."""

from sqlalchemy import bindparam, select

from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, insert_ignore
from moothall.storage.schema import meta, tokens

_select_expiry = Query(select(tokens.c.expires_at).where(tokens.c.hash == bindparam("hash")))
_select_value = Query(select(meta.c.value).where(meta.c.key == bindparam("key")))
_insert_value = Query(insert_ignore(meta, key=("key",)))


async def select_expiry(reader: Reader, digest: bytes) -> Timestamp | None:
    """When a token ends; None if it does not."""
    found: Timestamp | None = await reader.scalar(_select_expiry, hash=digest)
    return found


async def select_value(reader: Reader, key: str) -> str | None:
    """A fact about the installation; None if it is not known yet."""
    found: str | None = await reader.scalar(_select_value, key=key)
    return found


async def insert_value(tx: Transaction, key: str, value: str) -> None:
    """Store a fact about the installation, unless somebody was first."""
    await tx.execute(_insert_value, key=key, value=value)
