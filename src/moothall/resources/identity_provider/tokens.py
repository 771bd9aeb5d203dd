"""Tokens of identity providers: their signatures and claims (OpenID Connect Core 1.0, section 3.1.3.7).

PyJWT checks signatures. It is imported with the first token, as most servers have no provider.
"""

import hmac
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from moothall.objects.json_object import JsonObject
from moothall.resources.identity_provider.metadata import ProviderFailed

if TYPE_CHECKING:
    import jwt

LEEWAY: Final = 60
"""Seconds by which the clocks may differ."""
TOKEN_MAX: Final = 64 * 1024
SUBJECT_MAX: Final = 255
LOGOUT_MAX_AGE: Final = 300
"""Seconds for which a logout token is good, whatever it says."""
_LOGOUT_EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"


class UnknownKey(ProviderFailed):
    """A token is signed with a key that is not among those known: they may have been replaced."""


def read_id_token(
    token: str,
    keys: Sequence["jwt.PyJWK"],
    *,
    issuer: str,
    client_id: str,
    algorithms: Sequence[str],
    nonce: str,
    now: float,
) -> JsonObject:
    """Check an id token and return its claims.

    Raises ProviderFailed unless it is signed by one of `keys`, of this issuer, for this client, valid at `now` (in
    seconds) and made for the request with this nonce; UnknownKey if the key is another.
    """
    claims = _read(
        token, keys, issuer=issuer, client_id=client_id, algorithms=algorithms, now=now, needed=("exp", "sub")
    )
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise ProviderFailed("the id token is of another request")
    audience = claims["aud"]
    if isinstance(audience, list) and len(audience) > 1 and claims.get("azp") != client_id:
        raise ProviderFailed("the id token is for several clients, and was issued to another one")
    if "azp" in claims and claims["azp"] != client_id:
        raise ProviderFailed("the id token was issued to another client")
    check_subject(claims)
    return claims


def read_logout_token(
    token: str, keys: Sequence["jwt.PyJWK"], *, issuer: str, client_id: str, algorithms: Sequence[str], now: float
) -> JsonObject:
    """Check a logout token and return its claims, `sub` or `sid` among them (OpenID Connect Back-Channel Logout 1.0).

    Raises ProviderFailed, UnknownKey.
    """
    claims = _read(token, keys, issuer=issuer, client_id=client_id, algorithms=algorithms, now=now, needed=("jti",))
    events = claims.get("events")
    if not isinstance(events, Mapping) or not isinstance(events.get(_LOGOUT_EVENT), Mapping):
        raise ProviderFailed("it is no logout token")
    if "nonce" in claims:
        raise ProviderFailed("it is an id token")
    if claims["iat"] < now - LOGOUT_MAX_AGE - LEEWAY:
        raise ProviderFailed("the logout token is too old")
    if "sub" in claims:
        check_subject(claims)
    elif not isinstance(claims.get("sid"), str) or not claims["sid"]:
        raise ProviderFailed("the logout token names no user")
    return claims


def check_subject(claims: Mapping[str, Any]) -> None:
    """Raise ProviderFailed unless `sub` is a text of 1 to 255 characters."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 1 <= len(subject) <= SUBJECT_MAX or "\0" in subject:
        raise ProviderFailed("the subject is no text of 1 to 255 characters")


def read_keys(data: bytes) -> list["jwt.PyJWK"]:
    """The public keys of a key set that can sign tokens, the first 20; others are left out. Raises ProviderFailed."""
    import jwt  # noqa: PLC0415 with the first token
    import msgspec  # noqa: PLC0415

    try:
        listed = msgspec.json.decode(data, type=JsonObject)["keys"]
        described = [each for each in listed if isinstance(each, dict)][:20]
    except (msgspec.DecodeError, KeyError, TypeError):
        raise ProviderFailed("its keys cannot be read") from None
    keys = []
    for each in described:
        # A symmetric key in public is no secret: who reads it could sign with it.
        if each.get("use", "sig") != "sig" or each.get("kty") not in {"RSA", "EC", "OKP"}:
            continue
        try:
            keys.append(jwt.PyJWK(each))
        except (jwt.PyJWTError, TypeError, ValueError):
            continue
    return keys


def _read(
    token: str,
    keys: Sequence["jwt.PyJWK"],
    *,
    issuer: str,
    client_id: str,
    algorithms: Sequence[str],
    now: float,
    needed: tuple[str, ...],
) -> JsonObject:
    import jwt  # noqa: PLC0415 with the first token

    if len(token) > TOKEN_MAX:
        raise ProviderFailed("the token is too large")
    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError as problem:
        raise ProviderFailed(f"the token cannot be read: {problem}") from None
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in algorithms:
        raise ProviderFailed(f"the token is signed by {algorithm!r}")
    candidates = [key for key in keys if key.key_id == key_id] if key_id is not None else list(keys)
    if not candidates:
        raise UnknownKey("the token is signed with an unknown key")
    reason: Exception | None = None
    for key in candidates:
        try:
            claims: JsonObject = jwt.decode(
                token,
                key.key,
                algorithms=[algorithm],
                audience=client_id,
                issuer=issuer,
                # The times are compared below, with the server's own clock.
                options={
                    "require": ["iss", "aud", "iat", *needed],
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                },
            )
        except (jwt.PyJWTError, TypeError, ValueError) as error:
            reason = error
        else:
            _check_times(claims, now)
            return claims
    if isinstance(reason, jwt.InvalidSignatureError):
        # Providers may use the name of a key again.
        raise UnknownKey("the signature of the token is wrong")
    raise ProviderFailed(f"the token is not accepted: {reason}")


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    for name in ("iat", "exp", "nbf"):
        value = claims.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ProviderFailed(f"{name} is no time")
    if claims["iat"] > now + LEEWAY or claims.get("nbf", now) > now + LEEWAY:
        raise ProviderFailed("the token is of the future")
    if claims.get("exp", now) < now - LEEWAY:
        raise ProviderFailed("the token has expired")
