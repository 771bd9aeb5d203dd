"""Passkeys and security keys (WebAuthn, level 2): options for browsers, and checking what they answer.

The challenge of a ticket is derived from it, so that it is stored nowhere and good for that ticket alone.
"""

import base64
import binascii
import ipaddress
import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from moothall.api.context import Context
from moothall.objects.ids import UserId
from moothall.resources.user.factor import queries
from moothall.resources.user.factor.queries import AuthenticatorRow
from moothall.storage.rows import UserRow

_TIMEOUT_MS: Final = 300_000
_ALGORITHMS: Final = (-8, -7, -257)
"""EdDSA, ES256 and RS256, as COSE numbers them."""


class Assertion(Struct, frozen=True):
    """A signature that an authenticator of a user has made just now."""

    authenticator: AuthenticatorRow
    sign_count: int


class NewCredential(Struct, frozen=True):
    """What a browser has made."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


def relying_party(ctx: Context) -> str | None:
    """The id of this server for authenticators: the host of its public URL; None where browsers allow none.

    They need a name, and https but for localhost.
    """
    parts = urlsplit(ctx.services.limits.public_url)
    host = parts.hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host if parts.scheme == "https" or host == "localhost" else None
    return None


def creation_options(ctx: Context, ticket: str, row: UserRow, existing: Iterable[AuthenticatorRow]) -> str:
    """The options for making a credential, as JSON."""
    options = {
        "rp": {"id": relying_party(ctx), "name": relying_party(ctx)},
        "user": {"id": _text(_handle(row.id)), "name": row.username, "displayName": row.global_name or row.username},
        "challenge": _text(_challenge(ctx, ticket)),
        "pubKeyCredParams": [{"type": "public-key", "alg": each} for each in _ALGORITHMS],
        "timeout": _TIMEOUT_MS,
        "excludeCredentials": _descriptors(existing),
        "authenticatorSelection": {"residentKey": "preferred", "userVerification": "preferred"},
        "attestation": "none",
    }
    return json.dumps({"publicKey": options})


def request_options(ctx: Context, ticket: str, allowed: Iterable[AuthenticatorRow], *, alone: bool = False) -> str:
    """The options for a signature, as JSON; `alone` for one that also verifies the user, and needs no password."""
    options = {
        "challenge": _text(_challenge(ctx, ticket)),
        "timeout": _TIMEOUT_MS,
        "rpId": relying_party(ctx),
        "allowCredentials": _descriptors(allowed),
        "userVerification": "required" if alone else "preferred",
    }
    return json.dumps({"publicKey": options})


async def read_credential(ctx: Context, ticket: str, text: str) -> NewCredential | None:
    """Check the answer to `creation_options`; None for one that is not good."""
    verify = partial(_verify_registration, text, _challenge(ctx, ticket), relying_party(ctx) or "", _origin(ctx))
    return await ctx.services.passwords.run(ctx.payer, verify)


async def read_assertion(ctx: Context, ticket: str, text: str, *, alone: bool = False) -> Assertion | None:
    """Check the answer to `request_options`; None for one that is not good. `use_assertion` has the last word."""
    credential = _credential_of(text)
    if credential is None:
        return None
    credential_id, handle = credential
    row = await queries.select_by_credential(ctx.tx, credential_id)
    if row is None or (handle is not None and handle != _handle(row.user_id)):
        return None
    verify: Callable[[], int | None] = partial(
        _verify_assertion, text, _challenge(ctx, ticket), relying_party(ctx) or "", _origin(ctx), row, alone=alone
    )
    sign_count = await ctx.services.passwords.run(ctx.payer, verify)
    return None if sign_count is None else Assertion(row, sign_count)


def _verify_registration(text: str, challenge: bytes, rp_id: str, origin: str) -> NewCredential | None:
    # Imports certificates and CBOR: some tens of milliseconds, on a thread and only where passkeys are used.
    from webauthn import verify_registration_response  # noqa: PLC0415
    from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415

    try:
        made = verify_registration_response(
            credential=text, expected_challenge=challenge, expected_rp_id=rp_id, expected_origin=origin
        )
    except (WebAuthnException, ValueError, KeyError, TypeError):
        return None
    return NewCredential(made.credential_id, made.credential_public_key, made.sign_count)


def _verify_assertion(
    text: str, challenge: bytes, rp_id: str, origin: str, row: AuthenticatorRow, *, alone: bool
) -> int | None:
    from webauthn import verify_authentication_response  # noqa: PLC0415 as above
    from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415

    try:
        signed = verify_authentication_response(
            credential=text,
            expected_challenge=challenge,
            expected_rp_id=rp_id,
            expected_origin=origin,
            credential_public_key=row.public_key,
            credential_current_sign_count=row.sign_count,
            require_user_verification=alone,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError):
        return None
    return signed.new_sign_count


def _credential_of(text: str) -> tuple[bytes, bytes | None] | None:
    """The credential id and the user handle of an answer; None for one that cannot be read."""
    try:
        answer: Any = json.loads(text)
        handle = answer["response"].get("userHandle")
        return _bytes(answer["id"]), None if not handle else _bytes(handle)
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error, RecursionError):
        return None


def _descriptors(rows: Iterable[AuthenticatorRow]) -> list[dict[str, str]]:
    return [{"type": "public-key", "id": _text(row.credential_id)} for row in rows]


def _challenge(ctx: Context, ticket: str) -> bytes:
    return ctx.services.box.digests(ticket, about=b"webauthn challenge")[0]


def _handle(user_id: UserId) -> bytes:
    return str(int(user_id)).encode()


def _origin(ctx: Context) -> str:
    parts = urlsplit(ctx.services.limits.public_url)
    return f"{parts.scheme}://{parts.netloc}"


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
