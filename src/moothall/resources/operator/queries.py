"""The SQL of operators, their tokens, and the link for the first one."""

from msgspec import Struct

from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import bindparam, delete, func, insert, select, update
from moothall.storage.tables import meta, operator_tokens, operators

_CLAIM = "operator_claim"
"""The key in `meta` of the hash of the link."""


class TokenRow(Struct, frozen=True):
    """A row of `operator_tokens`, without its hash."""

    id: Snowflake
    user_id: UserId
    name: str
    permissions: str
    created_at: Timestamp
    expires_at: Timestamp


_t = operator_tokens.c
_count = Query(lambda: select(func.count()).select_from(operators))
_insert = Query(lambda: insert(operators))
_update = Query(
    lambda: update(operators).where(operators.c.user_id == bindparam("of_user")).values(permissions=bindparam("text"))
)
_delete = Query(lambda: delete(operators).where(operators.c.user_id == bindparam("user_id")))
_insert_token = Query(lambda: insert(operator_tokens))
_select_tokens = Query(
    lambda: (
        select(_t.id, _t.user_id, _t.name, _t.permissions, _t.created_at, _t.expires_at)
        .where(_t.expires_at > bindparam("now"))
        .order_by(_t.id)
    ),
    into=TokenRow,
)
_delete_token = Query(lambda: delete(operator_tokens).where(_t.id == bindparam("token_id")))
_delete_tokens_of = Query(lambda: delete(operator_tokens).where(_t.user_id == bindparam("user_id")))
_delete_expired = Query(lambda: delete(operator_tokens).where(_t.expires_at <= bindparam("now")))
_set_claim = Query(lambda: upsert(meta, key=("key",), update=("value",)))
_select_claim = Query(lambda: select(meta.c.value).where(meta.c.key == _CLAIM))
_delete_claim = Query(lambda: delete(meta).where(meta.c.key == _CLAIM, meta.c.value == bindparam("hash")))


async def count_operators(reader: Reader) -> int:
    """Count the operators."""
    return int(await reader.scalar(_count))


async def insert_operator(tx: Transaction, user_id: UserId, permissions: str, now: Timestamp) -> None:
    """Store an operator."""
    await tx.execute(_insert, user_id=user_id, permissions=permissions, created_at=now)


async def update_permissions(tx: Transaction, user_id: UserId, permissions: str) -> None:
    """Store what an operator may do."""
    await tx.execute(_update, of_user=user_id, text=permissions)


async def delete_operator(tx: Transaction, user_id: UserId) -> None:
    """Delete an operator, and their tokens."""
    await tx.execute(_delete, user_id=user_id)
    await tx.execute(_delete_tokens_of, user_id=user_id)


async def insert_token(
    tx: Transaction,
    digest: bytes,
    token_id: Snowflake,
    user_id: UserId,
    *,
    name: str,
    permissions: str,
    now: Timestamp,
    expires_at: Timestamp,
) -> None:
    """Store a token by its hash, and delete those that have expired."""
    await tx.execute(_delete_expired, now=now)
    await tx.execute(
        _insert_token,
        hash=digest,
        id=token_id,
        user_id=user_id,
        name=name,
        permissions=permissions,
        created_at=now,
        expires_at=expires_at,
    )


async def select_tokens(reader: Reader, now: Timestamp) -> list[TokenRow]:
    """Read the tokens that have not expired, oldest first."""
    return await reader.all(_select_tokens, now=now)


async def delete_token(tx: Transaction, token_id: Snowflake) -> bool:
    """Delete a token; False if there is none."""
    return await tx.execute(_delete_token, token_id=token_id) > 0


async def set_claim(tx: Transaction, digest: bytes) -> None:
    """Store the hash of the link for the first operator, in place of one before."""
    await tx.execute(_set_claim, key=_CLAIM, value=digest.hex())


async def is_claim(reader: Reader, digest: bytes) -> bool:
    """Whether this is the hash of the link for the first operator."""
    stored: str | None = await reader.scalar(_select_claim)
    return stored == digest.hex()


async def delete_claim(tx: Transaction, digest: bytes) -> bool:
    """Delete the link for the first operator; False if this is not its hash."""
    return await tx.execute(_delete_claim, hash=digest.hex()) > 0
