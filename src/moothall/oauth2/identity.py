"""OpenID Connect: who a person is, in words that the platform signs (OpenID Connect Core 1.0)."""

import asyncio
import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET, Struct, UnsetType

from moothall.kernel import unit_of_work
from moothall.kernel.authenticate import ANONYMOUS
from moothall.kernel.context import Context, Services
from moothall.oauth2.queries import insert_value, select_value
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, UserId
from moothall.objects.scopes import EMAIL
from moothall.resources.user.queries import select_user
from moothall.storage.rows import UserRow

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import rsa

# What id tokens take is imported when the first one is made: most installations never make any.

_KEY: Final = "openid_key"
_BITS: Final = 2048
_SECONDS: Final = 3600
_ALGORITHM: Final = "RS256"


class UserInfo(Struct, frozen=True, kw_only=True):
    """The claims about a person; those of the address are there with the scope email."""

    sub: UserId
    preferred_username: str
    nickname: str | None
    picture: str | UnsetType = UNSET
    locale: str
    email: str | UnsetType | None = UNSET
    email_verified: bool | UnsetType = UNSET


class PublicKey(Struct, frozen=True):
    """A key to verify id tokens with (RFC 7517)."""

    kty: str
    use: str
    kid: str
    n: str
    e: str
    alg: str


class PublicKeys(Struct, frozen=True):
    """The keys of this platform."""

    keys: list[PublicKey]


class SigningKey:
    """The RSA key of this installation: made when it is first needed, kept under the server key."""

    __slots__ = ("id", "private")

    def __init__(self, private: "rsa.RSAPrivateKey") -> None:
        self.private = private
        numbers = private.public_key().public_numbers()
        self.id = f"{numbers.n % (1 << 64):016x}"

    @classmethod
    async def of(cls, services: Services) -> "SigningKey":
        """The one key, whichever process made it."""
        found: SigningKey | None = services.extra.get(cls)
        if found is None:
            async with services.database.read() as reader:
                stored = await select_value(reader, _KEY)
            if stored is None:
                # Finding the primes takes a good part of a second.
                made = await asyncio.to_thread(_generate)
                text = _seal(services, made)

                async def keep(ctx: Context) -> str | None:
                    await insert_value(ctx.tx, _KEY, text)
                    return await select_value(ctx.tx, _KEY)

                stored = await unit_of_work.run(services, ANONYMOUS, keep, fires=())
            found = services.extra[cls] = cls(_open(services, stored or ""))
        return found

    def public(self) -> PublicKey:
        """What others need of it."""
        from jwt.algorithms import RSAAlgorithm  # noqa: PLC0415

        told = RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        return PublicKey(kty="RSA", use="sig", kid=self.id, n=told["n"], e=told["e"], alg=_ALGORITHM)


async def public_keys(services: Services) -> PublicKeys:
    """What id tokens are verified with."""
    return PublicKeys([(await SigningKey.of(services)).public()])


async def user_info(ctx: Context, user_id: UserId, scopes: Sequence[str] | frozenset[str]) -> UserInfo:
    """The claims that some scopes tell. Raises Refusal 401 for somebody who is gone."""
    row = await select_user(ctx.tx, user_id)
    if row is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    public_url = ctx.services.limits.public_url
    return UserInfo(
        sub=row.id,
        preferred_username=row.username,
        nickname=row.global_name,
        picture=UNSET if row.avatar is None else f"{public_url}/avatars/{int(row.id)}/{_file_of(row)}",
        locale=row.locale,
        email=row.email if EMAIL in scopes else UNSET,
        email_verified=row.verified if EMAIL in scopes else UNSET,
    )


async def id_token(
    ctx: Context, application_id: ApplicationId, user_id: UserId, scopes: Sequence[str], nonce: str | None
) -> str:
    """Who has consented, signed for one application and valid for an hour."""
    import jwt  # noqa: PLC0415

    info = await user_info(ctx, user_id, scopes)
    # Made before the transaction that asks for it: see `ready`.
    key = ctx.services.extra[SigningKey]
    issued = int(ctx.now) // 1000
    claims: dict[str, Any] = {
        "iss": ctx.services.limits.public_url,
        "sub": str(int(user_id)),
        "aud": str(int(application_id)),
        "iat": issued,
        "exp": issued + _SECONDS,
        "preferred_username": info.preferred_username,
        "nickname": info.nickname,
        "locale": info.locale,
    }
    claims |= {
        name: value for name in ("picture", "email", "email_verified") if (value := getattr(info, name)) is not UNSET
    }
    if nonce is not None:
        claims["nonce"] = nonce
    return jwt.encode(claims, key.private, algorithm=_ALGORITHM, headers={"kid": key.id})


async def ready(services: Services) -> None:
    """Have the signing key at hand, for id tokens that are made inside a transaction."""
    await SigningKey.of(services)


def _file_of(row: UserRow) -> str:
    avatar = row.avatar or ""
    return f"{avatar}.{'gif' if avatar.startswith('a_') else 'png'}"


def _generate() -> "rsa.RSAPrivateKey":
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415

    return rsa.generate_private_key(public_exponent=65537, key_size=_BITS)


def _seal(services: Services, key: "rsa.RSAPrivateKey") -> str:
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415

    data = key.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return base64.b64encode(services.box.encrypt(data, about=_KEY.encode())).decode()


def _open(services: Services, stored: str) -> "rsa.RSAPrivateKey":
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415

    data = services.box.decrypt(base64.b64decode(stored), about=_KEY.encode())
    key = serialization.load_der_private_key(data, password=None)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise TypeError("the key of id tokens is no RSA key")
    return key
