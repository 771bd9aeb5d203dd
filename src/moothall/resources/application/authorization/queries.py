"""SQL of authorizations, their codes and their tokens."""

from msgspec import Struct

from moothall.api.authenticate import TokenKind
from moothall.objects.ids import ApplicationId, AuthorizationId, GuildId, UserId, WebhookId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import bindparam, delete, func, insert, select, update
from moothall.storage.tables import authorization_codes, authorizations, device_codes, tokens


class AuthorizationRow(Struct):
    """A row of `authorizations`."""

    user_id: UserId
    application_id: ApplicationId
    id: AuthorizationId
    scopes: str
    user_install: bool
    created_at: Timestamp


class CodeRow(Struct):
    """A row of `authorization_codes`."""

    hash: bytes
    application_id: ApplicationId
    user_id: UserId
    grant_id: AuthorizationId
    scopes: str
    redirect_uri: str | None
    challenge: str | None
    nonce: str | None
    guild_id: GuildId | None
    webhook_id: WebhookId | None
    created_at: Timestamp
    expires_at: Timestamp
    used: bool


class DeviceCodeRow(Struct):
    """A row of `device_codes`."""

    hash: bytes
    user_code_hash: bytes
    application_id: ApplicationId
    scopes: str
    status: int
    user_id: UserId | None
    interval: int
    """The seconds that the device waits between two polls."""
    polled_at: Timestamp | None
    created_at: Timestamp
    expires_at: Timestamp


class TokenRow(Struct):
    """A row of `tokens`."""

    hash: bytes
    kind: int
    user_id: UserId
    application_id: ApplicationId | None
    scopes: str
    created_at: Timestamp
    expires_at: Timestamp | None
    grant_id: AuthorizationId | None
    current_hash: bytes | None = None
    """In the row of a refresh token family: the hash of the valid token; None if that is `hash`."""


_OAUTH2_KINDS = (int(TokenKind.BEARER), int(TokenKind.REFRESH))
_DELETION_ORDER = (int(TokenKind.REFRESH), int(TokenKind.BEARER))
_own = (authorizations.c.user_id == bindparam("user_id")) & (
    authorizations.c.application_id == bindparam("application_id")
)
_select_authorization = Query(lambda: select(authorizations).where(_own), into=AuthorizationRow)
_select_by_id = Query(
    lambda: select(authorizations).where(
        authorizations.c.user_id == bindparam("user_id"), authorizations.c.id == bindparam("authorization_id")
    ),
    into=AuthorizationRow,
)
_select_of_user = Query(
    lambda: (
        select(authorizations).where(authorizations.c.user_id == bindparam("user_id")).order_by(authorizations.c.id)
    ),
    into=AuthorizationRow,
)
_select_installed = Query(
    lambda: select(authorizations.c.application_id).where(
        authorizations.c.user_id == bindparam("user_id"), authorizations.c.user_install
    )
)
_insert_authorization = Query(lambda: insert(authorizations))
_update_authorization = Query(
    lambda: (
        update(authorizations)
        .where(_own)
        .values(scopes=bindparam("new_scopes"), user_install=bindparam("new_user_install"))
    )
)
_delete_authorization = Query(lambda: delete(authorizations).where(_own))
_delete_of_application = Query(
    lambda: delete(authorizations).where(authorizations.c.application_id == bindparam("application_id"))
)
_delete_authorizations = Query(lambda: delete(authorizations).where(authorizations.c.user_id == bindparam("user_id")))
_delete_codes_of_user = Query(
    lambda: delete(authorization_codes).where(authorization_codes.c.user_id == bindparam("user_id"))
)
_delete_oauth2_tokens_of_user = Query(
    lambda: delete(tokens).where(tokens.c.user_id == bindparam("user_id"), tokens.c.kind == bindparam("kind"))
)
_insert_code = Query(lambda: insert(authorization_codes))
_select_code = Query(
    lambda: select(authorization_codes).where(authorization_codes.c.hash == bindparam("hash")), into=CodeRow
)
_use_code = Query(
    lambda: (
        update(authorization_codes)
        .where(authorization_codes.c.hash == bindparam("hash"), ~authorization_codes.c.used)
        .values(used=True)
    )
)
_delete_codes = Query(
    lambda: delete(authorization_codes).where(
        authorization_codes.c.user_id == bindparam("user_id"),
        authorization_codes.c.application_id == bindparam("application_id"),
    )
)
_delete_codes_of_application = Query(
    lambda: delete(authorization_codes).where(authorization_codes.c.application_id == bindparam("application_id"))
)
_delete_expired = Query(lambda: delete(authorization_codes).where(authorization_codes.c.expires_at < bindparam("now")))
_insert_device_code = Query(lambda: insert(device_codes))
_select_device_code = Query(
    lambda: select(device_codes).where(device_codes.c.hash == bindparam("hash")), into=DeviceCodeRow
)
_select_by_user_code = Query(
    lambda: select(device_codes).where(
        device_codes.c.user_code_hash == bindparam("hash"), device_codes.c.expires_at > bindparam("now")
    ),
    into=DeviceCodeRow,
)
_answer_device_code = Query(
    lambda: (
        update(device_codes)
        .where(device_codes.c.hash == bindparam("hash"), device_codes.c.status == 0)
        .values(status=bindparam("new_status"), user_id=bindparam("new_user_id"))
    )
)
_note_poll = Query(
    lambda: (
        update(device_codes)
        .where(device_codes.c.hash == bindparam("hash"))
        .values(polled_at=bindparam("new_polled_at"), interval=bindparam("new_interval"))
    )
)
_delete_device_code = Query(lambda: delete(device_codes).where(device_codes.c.hash == bindparam("hash")))
_delete_expired_device_codes = Query(lambda: delete(device_codes).where(device_codes.c.expires_at < bindparam("now")))
_delete_device_codes = Query(
    lambda: delete(device_codes).where(
        device_codes.c.user_id == bindparam("user_id"), device_codes.c.application_id == bindparam("application_id")
    )
)
_delete_device_codes_of_user = Query(lambda: delete(device_codes).where(device_codes.c.user_id == bindparam("user_id")))
_delete_device_codes_of_application = Query(
    lambda: delete(device_codes).where(device_codes.c.application_id == bindparam("application_id"))
)
_insert_token = Query(lambda: insert(tokens))
_select_token = Query(
    lambda: select(tokens).where(tokens.c.hash == bindparam("hash"), tokens.c.kind.in_(_OAUTH2_KINDS)), into=TokenRow
)
_replace_refresh_token = Query(
    lambda: (
        update(tokens)
        .where(
            tokens.c.hash == bindparam("family_hash"),
            func.coalesce(tokens.c.current_hash, tokens.c.hash) == bindparam("presented_hash"),
        )
        .values(current_hash=bindparam("new_hash"), expires_at=bindparam("new_expires_at"))
    )
)
_delete_of_grant = Query(
    lambda: delete(tokens).where(
        tokens.c.user_id == bindparam("user_id"),
        tokens.c.grant_id == bindparam("grant_id"),
        tokens.c.kind == bindparam("kind"),
    )
)
_delete_oauth2_tokens = Query(
    lambda: delete(tokens).where(
        tokens.c.user_id == bindparam("user_id"),
        tokens.c.application_id == bindparam("application_id"),
        tokens.c.kind == bindparam("kind"),
    )
)
_delete_ended = Query(
    lambda: delete(tokens).where(tokens.c.user_id == bindparam("user_id"), tokens.c.expires_at < bindparam("now"))
)


async def select_authorization(
    reader: Reader, user_id: UserId, application_id: ApplicationId
) -> AuthorizationRow | None:
    """Select a user's authorization of an application; None if there is none."""
    return await reader.one(_select_authorization, user_id=user_id, application_id=application_id)


async def select_by_id(reader: Reader, user_id: UserId, authorization_id: AuthorizationId) -> AuthorizationRow | None:
    """Select an authorization of a user by id; None if there is none."""
    return await reader.one(_select_by_id, user_id=user_id, authorization_id=authorization_id)


async def select_of_user(reader: Reader, user_id: UserId) -> list[AuthorizationRow]:
    """Select a user's authorizations, oldest first."""
    return await reader.all(_select_of_user, user_id=user_id)


async def select_installed(reader: Reader, user_id: UserId) -> list[ApplicationId]:
    """Select the applications that a user has installed to the account."""
    return [ApplicationId(row[0]) for row in await reader.all(_select_installed, user_id=user_id)]


async def insert_authorization(tx: Transaction, row: AuthorizationRow) -> None:
    """Insert an authorization."""
    await tx.execute(_insert_authorization, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_authorization(tx: Transaction, row: AuthorizationRow, *, scopes: str, user_install: bool) -> None:
    """Update the scopes and installation of an authorization."""
    await tx.execute(
        _update_authorization,
        user_id=row.user_id,
        application_id=row.application_id,
        new_scopes=scopes,
        new_user_install=user_install,
    )


async def delete_authorization(tx: Transaction, user_id: UserId, application_id: ApplicationId) -> None:
    """Delete an authorization with its codes and tokens."""
    await tx.execute(_delete_authorization, user_id=user_id, application_id=application_id)
    await tx.execute(_delete_codes, user_id=user_id, application_id=application_id)
    await tx.execute(_delete_device_codes, user_id=user_id, application_id=application_id)
    await delete_oauth2_tokens(tx, user_id, application_id)


async def delete_authorizations(tx: Transaction, user_id: UserId) -> None:
    """Delete all authorizations of a user with their codes and tokens."""
    await tx.execute(_delete_authorizations, user_id=user_id)
    await tx.execute(_delete_codes_of_user, user_id=user_id)
    await tx.execute(_delete_device_codes_of_user, user_id=user_id)
    # Refresh tokens first: that waits for a concurrent refresh, whose access token the next statement then sees.
    for kind in _DELETION_ORDER:
        await tx.execute(_delete_oauth2_tokens_of_user, user_id=user_id, kind=kind)


async def delete_of_application(tx: Transaction, application_id: ApplicationId) -> None:
    """Delete all authorizations of an application with their codes; the caller deletes the tokens."""
    await tx.execute(_delete_of_application, application_id=application_id)
    await tx.execute(_delete_codes_of_application, application_id=application_id)
    await tx.execute(_delete_device_codes_of_application, application_id=application_id)


async def insert_code(tx: Transaction, row: CodeRow) -> None:
    """Insert a code, and delete expired ones."""
    await tx.execute(_delete_expired, now=row.created_at)
    await tx.execute(_insert_code, **{name: getattr(row, name) for name in row.__struct_fields__})


async def select_code(reader: Reader, digest: bytes) -> CodeRow | None:
    """Select a code; None if it is unknown."""
    return await reader.one(_select_code, hash=digest)


async def use_code(tx: Transaction, digest: bytes) -> bool:
    """Mark a code as used; False if it was used before."""
    return await tx.execute(_use_code, hash=digest) == 1


async def insert_device_code(tx: Transaction, row: DeviceCodeRow) -> None:
    """Insert a device code, and delete expired ones."""
    await tx.execute(_delete_expired_device_codes, now=row.created_at)
    await tx.execute(_insert_device_code, **{name: getattr(row, name) for name in row.__struct_fields__})


async def select_device_code(reader: Reader, digest: bytes) -> DeviceCodeRow | None:
    """Select a device code, expired or not; None if it is unknown."""
    return await reader.one(_select_device_code, hash=digest)


async def select_by_user_code(reader: Reader, digest: bytes, now: Timestamp) -> DeviceCodeRow | None:
    """Select the device code of a user code; None if there is none that is still good."""
    return await reader.one(_select_by_user_code, hash=digest, now=now)


async def answer_device_code(tx: Transaction, digest: bytes, *, status: int, user_id: UserId) -> bool:
    """Store a user's answer; False if the device code has one already, or was deleted."""
    return await tx.execute(_answer_device_code, hash=digest, new_status=status, new_user_id=user_id) == 1


async def note_poll(tx: Transaction, digest: bytes, *, polled_at: Timestamp, interval: int) -> None:
    """Store when a device has polled, and how long it is to wait until it does again."""
    await tx.execute(_note_poll, hash=digest, new_polled_at=polled_at, new_interval=interval)


async def delete_device_code(tx: Transaction, digest: bytes) -> bool:
    """Delete a device code; False if it was deleted before."""
    return await tx.execute(_delete_device_code, hash=digest) == 1


async def insert_token(tx: Transaction, row: TokenRow) -> None:
    """Insert a token, and delete the user's expired ones."""
    await tx.execute(_delete_ended, user_id=row.user_id, now=row.created_at)
    await tx.execute(_insert_token, **{name: getattr(row, name) for name in row.__struct_fields__})


async def select_token(reader: Reader, digest: bytes) -> TokenRow | None:
    """Select an access token or a refresh token family; None if it is unknown."""
    return await reader.one(_select_token, hash=digest)


async def replace_refresh_token(
    tx: Transaction, family_hash: bytes, presented_hash: bytes, *, new_hash: bytes, expires_at: Timestamp
) -> bool:
    """Replace the presented refresh token of a family by the next; False if it was used before."""
    values = {"family_hash": family_hash, "presented_hash": presented_hash, "new_hash": new_hash}
    return await tx.execute(_replace_refresh_token, **values, new_expires_at=expires_at) == 1


async def delete_grant(tx: Transaction, user_id: UserId, grant_id: AuthorizationId | None) -> None:
    """Delete the tokens issued for one code, and those issued by refreshing them."""
    # Refresh tokens first: that waits for a concurrent refresh, whose access token the next statement then sees.
    for kind in _DELETION_ORDER:
        await tx.execute(_delete_of_grant, user_id=user_id, grant_id=grant_id, kind=kind)


async def delete_oauth2_tokens(tx: Transaction, user_id: UserId, application_id: ApplicationId) -> None:
    """Delete the tokens that an application has for a user."""
    for kind in _DELETION_ORDER:
        await tx.execute(_delete_oauth2_tokens, user_id=user_id, application_id=application_id, kind=kind)
