"""The SQL of authorizations."""

from sqlalchemy import bindparam, select

from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader
from moothall.storage.schema import tokens

_select_expiry = Query(select(tokens.c.expires_at).where(tokens.c.hash == bindparam("hash")))


async def select_expiry(reader: Reader, digest: bytes) -> Timestamp | None:
    """When a token ends; None if it does not."""
    found: Timestamp | None = await reader.scalar(_select_expiry, hash=digest)
    return found
