"""SQL of second factors."""

from collections.abc import Collection
from enum import StrEnum

from msgspec import Struct, structs

from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore, update_columns, upsert
from moothall.storage.sql import and_, bindparam, delete, func, insert, or_, select, update
from moothall.storage.tables import authenticators, backup_codes, factor_recoveries, factor_tickets, factors


class TicketPurpose(StrEnum):
    """What a ticket is for. The values are stored."""

    LOGIN = "login"
    RESET = "reset"
    BACKUP_CODES = "backup_codes"
    AUTHENTICATOR = "authenticator"
    USED = "used"
    """No ticket: the hash of one that is not stored, and has been used."""


class FactorRow(Struct):
    """A row of `factors`."""

    user_id: UserId
    totp_secret: bytes | None
    """Encrypted with the server's key; None without TOTP."""
    totp_step: int
    failures: int
    failures_end_at: Timestamp


class AuthenticatorRow(Struct):
    """A row of `authenticators`."""

    id: Snowflake
    user_id: UserId
    credential_id: bytes
    public_key: bytes
    sign_count: int
    name: str
    created_at: Timestamp


class TicketRow(Struct):
    """A row of `factor_tickets`."""

    hash: bytes
    user_id: UserId
    purpose: str
    undelete: bool
    key_hash: bytes | None
    failures: int
    expires_at: Timestamp
    provider_id: Snowflake | None = None
    """The identity provider by which a login came so far."""
    provider_session: str | None = None
    provider_groups: list[str] | None = None
    """The groups of the person there."""


class RecoveryRow(Struct):
    """A row of `factor_recoveries`."""

    user_id: UserId
    requested_at: Timestamp
    due_at: Timestamp


_r = factor_recoveries.c
_t = factor_tickets.c
_b = backup_codes.c
_select_factors = Query(lambda: select(factors).where(factors.c.user_id == bindparam("user_id")), into=FactorRow)
_lock_factors = Query(
    lambda: select(factors).where(factors.c.user_id == bindparam("user_id")).with_for_update(), into=FactorRow
)
_upsert_secret = Query(lambda: upsert(factors, key=("user_id",), update=("totp_secret", "totp_step")))
_delete_factors = Query(lambda: delete(factors).where(factors.c.user_id == bindparam("user_id")))
_insert_code = Query(lambda: insert(backup_codes))
_delete_codes = Query(lambda: delete(backup_codes).where(_b.user_id == bindparam("user_id")))
_count_codes = Query(
    lambda: select(func.count()).select_from(backup_codes).where(_b.user_id == bindparam("user_id"), ~_b.consumed)
)
_consume_code = Query(
    lambda: (
        update(backup_codes)
        .where(_b.user_id == bindparam("id"), in_list(_b.hash, "hashes"), ~_b.consumed)
        .values(consumed=True)
    )
)
_insert_ticket = Query(lambda: insert(factor_tickets))
_insert_new_ticket = Query(lambda: insert_ignore(factor_tickets, key=("hash",)))
_select_ticket = Query(
    lambda: select(factor_tickets).where(
        _t.hash == bindparam("hash"), _t.purpose == bindparam("purpose"), _t.expires_at > bindparam("now")
    ),
    into=TicketRow,
)
_delete_ticket = Query(lambda: delete(factor_tickets).where(_t.hash == bindparam("hash")))
_delete_tickets = Query(
    lambda: delete(factor_tickets).where(_t.user_id == bindparam("user_id"), _t.purpose != TicketPurpose.USED)
)
_delete_expired = Query(lambda: delete(factor_tickets).where(_t.expires_at <= bindparam("now")))


_insert_recovery = Query(lambda: insert(factor_recoveries))
_select_recovery = Query(lambda: select(factor_recoveries).where(_r.user_id == bindparam("user_id")), into=RecoveryRow)
_delete_recovery = Query(lambda: delete(factor_recoveries).where(_r.user_id == bindparam("user_id")))

_a = authenticators.c
_of_user = _a.user_id == bindparam("user_id")
_select_authenticators = Query(lambda: select(authenticators).where(_of_user).order_by(_a.id), into=AuthenticatorRow)
_select_by_credential = Query(
    lambda: select(authenticators).where(_a.credential_id == bindparam("credential_id")), into=AuthenticatorRow
)
_insert_authenticator = Query(lambda: insert(authenticators))
_count_use = Query(
    lambda: (
        update(authenticators)
        .where(
            _a.id == bindparam("key"),
            or_(_a.sign_count < bindparam("new_count"), and_(_a.sign_count == 0, bindparam("new_count") == 0)),
        )
        .values(sign_count=bindparam("new_count"))
    )
)
_rename = Query(
    lambda: (
        update(authenticators)
        .where(_a.id == bindparam("key"), _a.user_id == bindparam("owner_id"))
        .values(name=bindparam("new_name"))
    )
)
_delete_authenticator = Query(lambda: delete(authenticators).where(_a.id == bindparam("id"), _of_user))
_delete_authenticators = Query(lambda: delete(authenticators).where(_of_user))


async def select_authenticators(reader: Reader, user_id: UserId) -> list[AuthenticatorRow]:
    """Read the passkeys and security keys of a user, by id."""
    return await reader.all(_select_authenticators, user_id=user_id)


async def select_by_credential(reader: Reader, credential_id: bytes) -> AuthenticatorRow | None:
    """Read the authenticator with a credential id; None if there is none."""
    return await reader.one(_select_by_credential, credential_id=credential_id)


async def insert_authenticator(tx: Transaction, row: AuthenticatorRow) -> None:
    """Store an authenticator."""
    await tx.execute(
        _insert_authenticator,
        id=row.id,
        user_id=row.user_id,
        credential_id=row.credential_id,
        public_key=row.public_key,
        sign_count=row.sign_count,
        name=row.name,
        created_at=row.created_at,
    )


async def count_use(tx: Transaction, authenticator_id: Snowflake, sign_count: int) -> bool:
    """Store the counter of a use. False for one that is not above the last one: the authenticator was copied."""
    return await tx.execute(_count_use, key=authenticator_id, new_count=sign_count) > 0


async def rename_authenticator(tx: Transaction, user_id: UserId, authenticator_id: Snowflake, name: str) -> bool:
    """Rename an authenticator of a user; False if there is none."""
    return await tx.execute(_rename, key=authenticator_id, owner_id=user_id, new_name=name) > 0


async def delete_authenticator(tx: Transaction, user_id: UserId, authenticator_id: Snowflake) -> bool:
    """Delete an authenticator of a user; False if there is none."""
    return await tx.execute(_delete_authenticator, id=authenticator_id, user_id=user_id) > 0


async def select_factors(reader: Reader, user_id: UserId) -> FactorRow | None:
    """Read the second factors of a user; None for one who never had any."""
    return await reader.one(_select_factors, user_id=user_id)


async def lock_factors(tx: Transaction, user_id: UserId) -> FactorRow | None:
    """Read and lock the second factors of a user, so that codes are checked one after another."""
    return await tx.one(_lock_factors, user_id=user_id)


async def upsert_secret(tx: Transaction, user_id: UserId, secret: bytes, *, step: int) -> None:
    """Store the encrypted TOTP secret of a user, and the step of the code that confirmed it."""
    await tx.execute(
        _upsert_secret, user_id=user_id, totp_secret=secret, totp_step=step, failures=0, failures_end_at=Timestamp(0)
    )


async def update_factors(tx: Transaction, user_id: UserId, **columns: object) -> None:
    """Update columns of a user's second factors."""
    await tx.execute(update_columns(factors, key=("user_id",), columns=frozenset(columns)), user_id=user_id, **columns)


async def delete_factors(tx: Transaction, user_id: UserId) -> None:
    """Delete the second factors of a user, with backup codes and tickets."""
    await tx.execute(_delete_authenticators, user_id=user_id)
    await tx.execute(_delete_factors, user_id=user_id)
    await tx.execute(_delete_codes, user_id=user_id)
    await tx.execute(_delete_tickets, user_id=user_id)
    await tx.execute(_delete_recovery, user_id=user_id)


async def insert_recovery(tx: Transaction, user_id: UserId, requested_at: Timestamp, due_at: Timestamp) -> None:
    """Store when the second factors of a user are removed."""
    await tx.execute(_insert_recovery, user_id=user_id, requested_at=requested_at, due_at=due_at)


async def select_recovery(reader: Reader, user_id: UserId) -> RecoveryRow | None:
    """Read when the second factors of a user are removed; None if they stay."""
    return await reader.one(_select_recovery, user_id=user_id)


async def delete_recovery(tx: Transaction, user_id: UserId) -> bool:
    """Let the second factors of a user stay; False if they do anyway."""
    return await tx.execute(_delete_recovery, user_id=user_id) > 0


async def replace_backup_codes(tx: Transaction, user_id: UserId, hashes: Collection[str]) -> None:
    """Replace the backup codes of a user, by their keyed hashes."""
    await tx.execute(_delete_codes, user_id=user_id)
    await tx.execute_many(_insert_code, [{"user_id": user_id, "hash": each, "consumed": False} for each in hashes])


async def count_backup_codes(reader: Reader, user_id: UserId) -> int:
    """How many backup codes a user has left."""
    return int(await reader.scalar(_count_codes, user_id=user_id))


async def consume_backup_code(tx: Transaction, user_id: UserId, hashes: Collection[str]) -> bool:
    """Consume a backup code that has one of several keyed hashes. False if there is none, or it is consumed."""
    return await tx.execute(_consume_code, id=user_id, hashes=list(hashes)) > 0


async def insert_ticket(tx: Transaction, row: TicketRow, now: Timestamp) -> None:
    """Store a ticket, and delete those of all users that have expired."""
    await tx.execute(_delete_expired, now=now)
    await tx.execute(_insert_ticket, **structs.asdict(row))


async def insert_new_ticket(tx: Transaction, row: TicketRow, now: Timestamp) -> bool:
    """The same; False, and nothing is stored, if there is one with the hash."""
    await tx.execute(_delete_expired, now=now)
    return await tx.execute(_insert_new_ticket, **structs.asdict(row)) > 0


async def select_ticket(reader: Reader, digest: bytes, purpose: TicketPurpose, now: Timestamp) -> TicketRow | None:
    """Read a ticket that is still good; None for any other."""
    return await reader.one(_select_ticket, hash=digest, purpose=purpose, now=now)


async def update_ticket(tx: Transaction, digest: bytes, *, failures: int) -> None:
    """Set how many wrong keys were tried with a ticket."""
    await tx.execute(
        update_columns(factor_tickets, key=("hash",), columns=frozenset({"failures"})), hash=digest, failures=failures
    )


async def delete_ticket(tx: Transaction, digest: bytes) -> bool:
    """Delete a ticket; False if another transaction has deleted it."""
    return await tx.execute(_delete_ticket, hash=digest) > 0


async def delete_tickets(tx: Transaction, user_id: UserId) -> None:
    """Delete all tickets of a user."""
    await tx.execute(_delete_tickets, user_id=user_id)
