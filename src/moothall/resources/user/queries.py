"""SQL of users and their tokens."""

from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from typing import Final

from msgspec import Struct

from moothall.api.authenticate import TokenKind
from moothall.objects.ids import ApplicationId, UserId
from moothall.objects.user import User
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.rows import MemberRow, UserRow, user_from_row
from moothall.storage.sql import ColumnElement, and_, bindparam, delete, func, insert, or_, select, update
from moothall.storage.tables import members, registration_consents, tokens, users


class ConsentRow(Struct, frozen=True):
    """A row of `registration_consents`."""

    user_id: UserId
    terms_version: str | None
    min_age: int | None
    created_at: Timestamp


class AccountState(StrEnum):
    """What operators list accounts by."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    CLOSED = "closed"
    PENDING = "pending"
    UNVERIFIED = "unverified"


_IN_STATE: Final[dict[AccountState, Callable[[], ColumnElement[bool]]]] = {
    AccountState.ACTIVE: lambda: and_(~users.c.suspended, ~users.c.disabled, users.c.pending == 0),
    AccountState.SUSPENDED: lambda: users.c.suspended,
    AccountState.CLOSED: lambda: users.c.disabled,
    AccountState.PENDING: lambda: users.c.pending != 0,
    AccountState.UNVERIFIED: lambda: ~users.c.verified,
}

_select_user = Query(lambda: select(users).where(users.c.id == bindparam("user_id")), into=UserRow, key=("user_id",))
_lock_user = Query(lambda: select(users.c.id).where(users.c.id == bindparam("user_id")).with_for_update())
_select_users = Query(lambda: select(users).where(in_list(users.c.id, "user_ids")), into=UserRow)
_select_by_username = Query(
    lambda: select(users).where(users.c.username_key == bindparam("key"), ~users.c.bot, ~users.c.deleted), into=UserRow
)
_select_by_email = Query(
    lambda: select(users).where(users.c.email_key == bindparam("key"), ~users.c.deleted), into=UserRow
)
_insert_consent = Query(lambda: insert(registration_consents))
_select_consent = Query(
    lambda: select(registration_consents).where(registration_consents.c.user_id == bindparam("user_id")),
    into=ConsentRow,
)
_delete_consent = Query(
    lambda: delete(registration_consents).where(registration_consents.c.user_id == bindparam("user_id"))
)
_insert_user = Query(lambda: insert(users))
_insert_token = Query(lambda: insert(tokens))
_select_token_time = Query(lambda: select(tokens.c.created_at).where(tokens.c.hash == bindparam("digest")))
_delete_token = Query(lambda: delete(tokens).where(tokens.c.hash == bindparam("hash")))
_delete_tokens = Query(
    lambda: delete(tokens).where(tokens.c.user_id == bindparam("user_id"), tokens.c.kind == bindparam("kind"))
)
_update_username_key = Query(
    lambda: update(members).where(members.c.user_id == bindparam("user_id")).values(username_key=bindparam("new_key"))
)
_select_memberships = Query(lambda: select(members).where(members.c.user_id == bindparam("user_id")), into=MemberRow)


async def select_user(reader: Reader, user_id: UserId) -> UserRow | None:
    """Read the row of an account; None for an unknown id."""
    return await reader.one(_select_user, user_id=user_id)


async def insert_consent(
    tx: Transaction, user_id: UserId, *, terms_version: str | None, min_age: int | None, now: Timestamp
) -> None:
    """Store what a user has confirmed when they registered."""
    await tx.execute(_insert_consent, user_id=user_id, terms_version=terms_version, min_age=min_age, created_at=now)


async def select_consent(reader: Reader, user_id: UserId) -> ConsentRow | None:
    """Read what a user has confirmed when they registered; None if nothing was asked."""
    return await reader.one(_select_consent, user_id=user_id)


async def delete_consent(tx: Transaction, user_id: UserId) -> None:
    """Delete what the user of a deleted account has confirmed."""
    await tx.execute(_delete_consent, user_id=user_id)


async def lock_user(tx: Transaction, user_id: UserId) -> None:
    """Lock the row of an account until the transaction ends.

    Of two transactions that lock a user and then count what the user has, the second counts what the first added.
    """
    await tx.one(_lock_user, user_id=user_id)


async def get_user(reader: Reader, user_id: UserId) -> User | None:
    """Read a user's public object; None for an unknown id."""
    row = await reader.one(_select_user, user_id=user_id)
    return None if row is None else user_from_row(row)


async def get_users(reader: Reader, user_ids: Iterable[UserId]) -> dict[UserId, User]:
    """Read public user objects by id, in one query; unknown ids are left out."""
    unique_ids = list(set(user_ids))
    if not unique_ids:
        return {}
    return {row.id: user_from_row(row) for row in await reader.all(_select_users, user_ids=unique_ids)}


async def select_by_username(reader: Reader, key: str) -> UserRow | None:
    """Read the user, no bot, whose username has a search key; None if there is none."""
    return await reader.one(_select_by_username, key=key)


async def select_by_email(reader: Reader, key: str) -> UserRow | None:
    """Read the user whose email address has a search key; None if there is none."""
    return await reader.one(_select_by_email, key=key)


async def insert_user(tx: Transaction, **columns: object) -> None:
    """Store a new account."""
    await tx.execute(_insert_user, **columns)


async def update_user(tx: Transaction, user_id: UserId, **columns: object) -> None:
    """Update columns of an account."""
    await tx.execute(update_columns(users, key=("id",), columns=frozenset(columns)), id=user_id, **columns)


async def update_username_key_in_guilds(tx: Transaction, user_id: UserId, key: str) -> None:
    """Update the username search key in all of a user's member rows."""
    await tx.execute(_update_username_key, user_id=user_id, new_key=key)


async def list_users(
    reader: Reader, *, search: str | None, states: Collection[AccountState], after: UserId | None, maximum: int
) -> list[UserRow]:
    """Select people's accounts that are not deleted, by id, after one of them; for operators.

    `search` is part of a username, display name or email address in any case, `states` are those of which one applies.
    """
    conditions = [~users.c.bot, ~users.c.deleted]
    if search is not None:
        texts = (users.c.username_key, func.lower(users.c.global_name), func.lower(users.c.email))
        conditions.append(or_(*(text.contains(search.lower(), autoescape=True) for text in texts)))
    if states:
        conditions.append(or_(*(_IN_STATE[state]() for state in states)))
    if after is not None:
        conditions.append(users.c.id > after)
    return await reader.all_long(
        Query(select(users).where(*conditions).order_by(users.c.id).limit(maximum), into=UserRow)
    )


async def select_memberships(reader: Reader, user_id: UserId) -> list[MemberRow]:
    """Read a user's member row in each of their guilds."""
    return await reader.all(_select_memberships, user_id=user_id)


async def insert_token(
    tx: Transaction,
    digest: bytes,
    kind: TokenKind,
    user_id: UserId,
    now: Timestamp,
    *,
    application_id: ApplicationId | None = None,
    scopes: str = "",
    expires_at: Timestamp | None = None,
) -> None:
    """Store a token by its hash."""
    await tx.execute(
        _insert_token,
        hash=digest,
        kind=int(kind),
        user_id=user_id,
        application_id=application_id,
        scopes=scopes,
        created_at=now,
        expires_at=expires_at,
    )


async def select_token_time(reader: Reader, digest: bytes) -> Timestamp | None:
    """When a token was made; None for an unknown one."""
    created_at = await reader.scalar(_select_token_time, digest=digest)
    return None if created_at is None else Timestamp(created_at)


async def delete_token(tx: Transaction, digest: bytes) -> None:
    """Delete a token by its hash."""
    await tx.execute(_delete_token, hash=digest)


async def delete_tokens(tx: Transaction, user_id: UserId, kind: TokenKind) -> None:
    """Delete all tokens of one kind of a user."""
    await tx.execute(_delete_tokens, user_id=user_id, kind=int(kind))
