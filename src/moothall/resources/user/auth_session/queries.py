"""SQL of logins."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.user.auth_session.client import LoginClient
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import bindparam, delete, insert, or_, select, update
from moothall.storage.tables import auth_sessions, tokens

MAX_LISTED = 500


class SessionRow(Struct):
    """A row of `auth_sessions`."""

    token_hash: bytes
    user_id: UserId
    last_used_at: Timestamp
    network: str | None
    os: str | None
    platform: str | None
    provider_id: Snowflake | None
    provider_session: str | None


class ExpiredRow(Struct):
    """A token that has expired or was not used."""

    hash: bytes
    kind: int | None
    """None for a login whose token is already deleted."""
    user_id: UserId


_of_user = auth_sessions.c.user_id == bindparam("user_id")
_insert = Query(lambda: insert(auth_sessions))
_select_live = Query(
    lambda: (
        select(auth_sessions)
        .join(tokens, tokens.c.hash == auth_sessions.c.token_hash)
        .where(_of_user, or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > bindparam("now")))
        .order_by(auth_sessions.c.last_used_at.desc(), auth_sessions.c.token_hash)
        .limit(MAX_LISTED)
    ),
    into=SessionRow,
)
_touch = Query(
    lambda: (
        update(auth_sessions)
        .where(auth_sessions.c.token_hash == bindparam("digest"), auth_sessions.c.last_used_at < bindparam("stale"))
        .values(last_used_at=bindparam("used_at"))
    )
)
_delete = Query(lambda: delete(auth_sessions).where(auth_sessions.c.token_hash == bindparam("token_hash")))
_delete_of_user = Query(lambda: delete(auth_sessions).where(_of_user))
_delete_token = Query(lambda: delete(tokens).where(tokens.c.hash == bindparam("hash")))
_select_unused = Query(
    lambda: (
        select(auth_sessions.c.token_hash.label("hash"), tokens.c.kind, auth_sessions.c.user_id)
        .join(tokens, tokens.c.hash == auth_sessions.c.token_hash, isouter=True)
        .where(auth_sessions.c.last_used_at < bindparam("before"))
        .limit(bindparam("limit"))
    ),
    into=ExpiredRow,
)
_select_expired = Query(
    lambda: (
        select(tokens.c.hash, tokens.c.kind, tokens.c.user_id)
        .where(tokens.c.expires_at < bindparam("before"))
        .limit(bindparam("limit"))
    ),
    into=ExpiredRow,
)


async def insert_session(tx: Transaction, digest: bytes, user_id: UserId, now: Timestamp, client: LoginClient) -> None:
    """Insert a login with the hash of its token."""
    await tx.execute(
        _insert,
        token_hash=digest,
        user_id=user_id,
        last_used_at=now,
        network=client.network,
        os=client.os,
        platform=client.platform,
        provider_id=client.provider_id,
        provider_session=client.provider_session,
    )


async def select_live(reader: Reader, user_id: UserId, now: Timestamp) -> list[SessionRow]:
    """Select a user's logins, the last used first, at most `MAX_LISTED`."""
    return await reader.all(_select_live, user_id=user_id, now=now)


async def touch(tx: Transaction, digests: Collection[bytes], now: Timestamp, *, stale: Timestamp) -> None:
    """Set the last use of logins whose last use is before `stale`."""
    await tx.execute_many(_touch, [{"digest": digest, "used_at": now, "stale": stale} for digest in digests])


async def delete_session(tx: Transaction, digest: bytes) -> None:
    """Delete the login of a deleted token."""
    await tx.execute(_delete, token_hash=digest)


async def delete_sessions(tx: Transaction, user_id: UserId) -> None:
    """Delete all logins of a user whose session tokens are deleted."""
    await tx.execute(_delete_of_user, user_id=user_id)


async def end_tokens(tx: Transaction, digests: Sequence[bytes]) -> None:
    """Delete tokens and their logins."""
    await tx.execute_many(_delete_token, [{"hash": digest} for digest in digests])
    await tx.execute_many(_delete, [{"token_hash": digest} for digest in digests])


async def select_expired(reader: Reader, before: Timestamp, limit: int) -> list[ExpiredRow]:
    """Select tokens of any kind that expired before a time."""
    return await reader.all(_select_expired, before=before, limit=limit)


async def select_unused(reader: Reader, before: Timestamp, limit: int) -> list[ExpiredRow]:
    """Select tokens of logins that were last used before a time."""
    return await reader.all(_select_unused, before=before, limit=limit)
