"""What PostgreSQL's errors mean."""

import asyncio

import asyncpg

from moothall.storage.database import (
    ConstraintFailed,
    StorageConflict,
    StorageError,
    StorageFull,
    StorageUnavailable,
)

DRIVER_ERRORS = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    asyncio.TimeoutError,
)
"""What asyncpg and its sockets raise; anything else is a mistake of ours."""

_CONFLICTS = (
    asyncpg.TransactionRollbackError,  # serialization failures and deadlocks
    asyncpg.LockNotAvailableError,
    asyncpg.InvalidCachedStatementError,  # another process has just migrated
)
_UNAVAILABLE = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.ReadOnlySQLTransactionError,  # a replica, after a failover
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.InternalClientError,
    OSError,
    asyncio.TimeoutError,
)


def postgres_error(error: BaseException) -> StorageError:
    """What an error of PostgreSQL or of the way to it means to those who do not know PostgreSQL."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, asyncpg.DiskFullError):
        return StorageFull(text)
    if isinstance(error, _CONFLICTS):
        return StorageConflict(text)
    if isinstance(error, asyncpg.IntegrityConstraintViolationError):
        return ConstraintFailed(text)
    if isinstance(error, _UNAVAILABLE):
        return StorageUnavailable(text)
    if isinstance(error, asyncpg.InterfaceError) and not isinstance(error, asyncpg.DataError):
        return StorageUnavailable(text)  # the connection went away under us
    return StorageError(text)
