"""SQL of registration tokens."""

from msgspec import Struct

from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import bindparam, delete, insert, select, update
from moothall.storage.tables import registration_tokens


class TokenRow(Struct):
    """A row of `registration_tokens`."""

    hash: bytes
    id: Snowflake
    note: str | None
    address: str | None
    uses_left: int
    created_at: Timestamp
    expires_at: Timestamp


_t = registration_tokens.c
_insert = Query(lambda: insert(registration_tokens))
_select = Query(
    lambda: select(registration_tokens).where(
        _t.hash == bindparam("hash"), _t.expires_at > bindparam("now"), _t.uses_left > 0
    ),
    into=TokenRow,
)
_count_use = Query(
    lambda: (
        update(registration_tokens)
        .where(_t.hash == bindparam("digest"), _t.expires_at > bindparam("now"), _t.uses_left > 0)
        .values(uses_left=_t.uses_left - 1)
    )
)
_delete_ended = Query(
    lambda: delete(registration_tokens).where((_t.uses_left <= 0) | (_t.expires_at <= bindparam("now")))
)
_select_all = Query(
    lambda: select(registration_tokens).where(_t.expires_at > bindparam("now"), _t.uses_left > 0).order_by(_t.id),
    into=TokenRow,
)
_delete = Query(lambda: delete(registration_tokens).where(_t.id == bindparam("token_id")))


async def insert_token(
    tx: Transaction,
    digest: bytes,
    token_id: Snowflake,
    *,
    note: str | None,
    address: str | None,
    uses: int,
    now: Timestamp,
    expires_at: Timestamp,
) -> None:
    """Store a token by its hash, and delete those that have expired."""
    await tx.execute(_delete_ended, now=now)
    await tx.execute(
        _insert,
        hash=digest,
        id=token_id,
        note=note,
        address=address,
        uses_left=uses,
        created_at=now,
        expires_at=expires_at,
    )


async def is_good(reader: Reader, digest: bytes, now: Timestamp) -> bool:
    """Whether a token can still be used."""
    return await reader.one(_select, hash=digest, now=now) is not None


async def count_use(tx: Transaction, digest: bytes, now: Timestamp) -> bool:
    """Use a token once, and delete a used up one; False if it cannot be used."""
    if not await tx.execute(_count_use, digest=digest, now=now):
        return False
    await tx.execute(_delete_ended, now=now)
    return True


async def select_tokens(reader: Reader, now: Timestamp) -> list[TokenRow]:
    """Read the tokens that can still be used, oldest first."""
    return await reader.all(_select_all, now=now)


async def delete_token(tx: Transaction, token_id: Snowflake) -> bool:
    """Delete a token; False if there is none."""
    return await tx.execute(_delete, token_id=token_id) > 0
