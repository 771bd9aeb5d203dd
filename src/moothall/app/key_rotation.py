"""Key rotation: encrypts stored secrets again with the current server key, and finds what still needs an older one."""

import base64
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, Final

from msgspec import Struct

from moothall.objects.ids import Snowflake
from moothall.resources.identity_provider.provider_client import secret_about
from moothall.resources.mail.sender import sealed_about
from moothall.resources.server_setting.mail import PASSWORD_ABOUT
from moothall.resources.user.factor.operations import totp_about
from moothall.resources.webhook.rules import encryption_context
from moothall.runtime.secrets import SecretBox, SecretUnreadable, key_id_of
from moothall.storage.database import Database, Query, Reader, Transaction
from moothall.storage.query import Row
from moothall.storage.sql import ClauseElement, Table, bindparam, delete, func, select, update
from moothall.storage.tables import (
    applications,
    backup_codes,
    factors,
    identity_providers,
    mails,
    meta,
    server_settings,
    webhooks,
)

_BATCH: Final = 200


class SealedColumn:
    """A column of encrypted secrets of rows with an id; `about` makes what binds a secret to its row of that."""

    def __init__(self, table: Table, key: str, column: str, about: Callable[[Any], bytes]) -> None:
        self.column = column
        self.about = about
        self.select: Query[Row] = Query(partial(_select, table, key, column))
        self.update: Query[Row] = Query(partial(_update, table, key, column))


def _select(table: Table, key: str, column: str) -> ClauseElement:
    row_key, secret = getattr(table.c, key), getattr(table.c, column)
    after = row_key > bindparam("after", type_=row_key.type)
    return select(row_key, secret).where(secret.is_not(None), after).order_by(row_key).limit(bindparam("maximum"))


def _update(table: Table, key: str, column: str) -> ClauseElement:
    same = (getattr(table.c, key) == bindparam("row_key"), getattr(table.c, column) == bindparam("before"))
    return update(table).where(*same).values(**{column: bindparam("after")})


def _application_about(application_id: Snowflake) -> bytes:
    return b"application %d" % int(application_id)


SEALED_COLUMNS: Final = (
    SealedColumn(webhooks, "id", "token", encryption_context),
    SealedColumn(applications, "id", "private_key", _application_about),
    SealedColumn(factors, "user_id", "totp_secret", totp_about),
    SealedColumn(mails, "id", "sealed", sealed_about),
    SealedColumn(identity_providers, "id", "client_secret", secret_about),
)
"""Every column of encrypted secrets."""


class SealedValue:
    """An encrypted secret in Base64, in the row with a name of a table of names and texts; `about` binds it to that.

    A `quoted` one is a JSON string.
    """

    def __init__(self, table: Table, key: str, name: str, about: bytes, *, quoted: bool = False) -> None:
        self.about = about
        self._quote = '"' if quoted else ""
        row_key, value = getattr(table.c, key), table.c.value
        self._select: Query[Row] = Query(lambda: select(value).where(row_key == name))
        self._update: Query[Row] = Query(
            lambda: update(table).where(row_key == name, value == bindparam("before")).values(value=bindparam("after"))
        )

    async def read(self, reader: Reader) -> bytes | None:
        """The encrypted secret; None without one."""
        text: str | None = await reader.scalar(self._select)
        return None if text is None else base64.b64decode(text.strip('"'))

    async def replace(self, tx: Transaction, before: bytes, after: bytes) -> int:
        """Store another encrypted secret; return 0 if the one before has changed since."""
        return await tx.execute(self._update, before=self._text(before), after=self._text(after))

    def _text(self, secret: bytes) -> str:
        return f"{self._quote}{base64.b64encode(secret).decode()}{self._quote}"


SEALED_VALUES: Final = (
    SealedValue(meta, "key", "openid_key", b"openid_key"),
    SealedValue(meta, "key", "demo", b"demo"),
    SealedValue(server_settings, "name", "smtp_password", PASSWORD_ABOUT, quoted=True),
)
"""Every encrypted secret that is no column's."""

_count_accounts = Query(
    lambda: select(func.count(backup_codes.c.user_id.distinct())).where(
        ~backup_codes.c.consumed, func.substr(backup_codes.c.hash, 1, 8) != bindparam("key_id")
    )
)
_delete_codes = Query(lambda: delete(backup_codes).where(func.substr(backup_codes.c.hash, 1, 8) != bindparam("key_id")))


class Rotated(Struct):
    """What a rotation has done."""

    encrypted: int = 0
    """The number of secrets that were encrypted again."""
    unreadable: int = 0
    """The number of secrets that no key can read: of keys that were lost before, or damaged."""


async def encrypt_again(database: Database, box: SecretBox) -> Rotated:
    """Encrypt every stored secret again that has another key than the current one, in a transaction for each batch.

    What is written meanwhile stays as it is. It can be interrupted at any time, and run again.
    """
    result = Rotated()
    for sealed in SEALED_COLUMNS:
        async for rows in _batches(database, sealed):
            changes = []
            for key, secret in rows:
                if (renewed := _renewed(box, secret, sealed.about(key), result)) is not None:
                    changes.append({"row_key": key, "before": secret, "after": renewed})
            if changes:
                async with database.transaction() as tx:
                    await tx.execute_many(sealed.update, changes)
                result.encrypted += len(changes)
    for value in SEALED_VALUES:
        async with database.transaction() as tx:
            before = await value.read(tx)
            after = None if before is None else _renewed(box, before, value.about, result)
            if before is not None and after is not None:
                result.encrypted += await value.replace(tx, before, after)
    return result


async def count_dependent(database: Database, box: SecretBox, retired: set[bytes]) -> int:
    """Count the stored secrets that need one of the retired keys with these ids."""
    count = 0
    for sealed in SEALED_COLUMNS:
        async for rows in _batches(database, sealed):
            count += sum(_needs(box, secret, sealed.about(key), retired) for key, secret in rows)
    async with database.read() as reader:
        for value in SEALED_VALUES:
            stored = await value.read(reader)
            if stored is not None:
                count += _needs(box, stored, value.about, retired)
    return count


async def count_accounts_with_old_codes(reader: Reader, box: SecretBox) -> int:
    """Count the accounts with backup codes that were hashed with another key than the current one."""
    return int(await reader.scalar(_count_accounts, key_id=box.key_id.hex()))


async def delete_old_codes(tx: Transaction, box: SecretBox) -> int:
    """Delete the backup codes that were hashed with another key than the current one; return how many."""
    return await tx.execute(_delete_codes, key_id=box.key_id.hex())


async def _batches(database: Database, sealed: SealedColumn) -> AsyncIterator[list[tuple[Snowflake, bytes]]]:
    """Read the secrets of a column, by the keys of their rows."""
    after = Snowflake(0)
    while True:
        async with database.read() as reader:
            rows = await reader.all(sealed.select, after=after, maximum=_BATCH)
        if not rows:
            return
        yield [(Snowflake(key), bytes(secret)) for key, secret in rows]
        after = Snowflake(rows[-1][0])


def _renewed(box: SecretBox, secret: bytes, about: bytes, result: Rotated) -> bytes | None:
    """A secret, encrypted with the current key; None for one that is, and for one that cannot be read."""
    if not box.stale(secret):
        return None
    try:
        return box.encrypt(box.decrypt(secret, about=about), about=about)
    except SecretUnreadable:
        result.unreadable += 1
        return None


def _needs(box: SecretBox, secret: bytes, about: bytes, retired: set[bytes]) -> bool:
    """Whether a secret can be read with a retired key alone. What is damaged needs none."""
    if key_id_of(secret) not in retired:
        return False
    try:
        box.decrypt(secret, about=about)
    except SecretUnreadable:
        return False
    return True
