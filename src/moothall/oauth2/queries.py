"""SQL of token expiry and of installation-wide values."""

from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, insert_ignore
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import meta, tokens

_select_expiry = Query(lambda: select(tokens.c.expires_at).where(tokens.c.hash == bindparam("hash")))
_select_value = Query(lambda: select(meta.c.value).where(meta.c.key == bindparam("key")))
_insert_value = Query(lambda: insert_ignore(meta, key=("key",)))


async def select_expiry(reader: Reader, digest: bytes) -> Timestamp | None:
    """Select when a token expires; None if it never does or does not exist."""
    expires_at: Timestamp | None = await reader.scalar(_select_expiry, hash=digest)
    return expires_at


async def select_value(reader: Reader, key: str) -> str | None:
    """Select an installation-wide value; None if it is not stored."""
    value: str | None = await reader.scalar(_select_value, key=key)
    return value


async def insert_value(tx: Transaction, key: str, value: str) -> None:
    """Insert an installation-wide value, unless one exists."""
    await tx.execute(_insert_value, key=key, value=value)
