"""Maps errors of PostgreSQL to StorageErrors."""

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
"""Exceptions of asyncpg and its sockets; any other exception is a bug of this program."""

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
    """The StorageError for an error of PostgreSQL or of the connection to it."""
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
        return StorageUnavailable(text)  # the connection was lost
    return StorageError(text)
