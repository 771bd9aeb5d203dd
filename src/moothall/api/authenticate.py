"""Authentication: finding the actor of an Authorization header."""

from enum import IntEnum
from typing import Final

from msgspec import Struct

from moothall.objects import errors
from moothall.objects.clock import CLOCK
from moothall.objects.errors import Refusal
from moothall.objects.ids import NO_USER, ApplicationId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.runtime.cache import Cache
from moothall.runtime.secrets import hash_token
from moothall.storage.database import Database, Query, Reader
from moothall.storage.sql import bindparam, func, or_, select
from moothall.storage.tables import applications, operator_tokens, tokens, users


class TokenKind(IntEnum):
    """The kinds of stored tokens."""

    SESSION = 1
    """A session token of a person."""
    BOT = 2
    BEARER = 3
    """An OAuth2 access token."""
    REFRESH = 4
    """An OAuth2 refresh token, which no endpoint accepts for authentication."""
    OPERATOR = 5
    """A token of an operator for programs, which only the endpoints of operators accept. It has a table of its own."""


_BOT: Final = TokenKind.BOT
"""A name of its own: to read a member of an enumeration takes several times as long."""


class Actor(Struct, frozen=True):
    """The caller of an endpoint."""

    kind: TokenKind | None
    """None for an anonymous caller of a public endpoint."""
    user_id: UserId
    """0 for an anonymous caller."""
    application_id: ApplicationId | None = None
    """The bot's own application, or the one that an access token was issued to."""
    application_flags: int = 0
    scopes: frozenset[str] = frozenset()
    mfa: bool = False
    """Whether the user has two-factor authentication enabled; for a bot, whether its owner has."""
    token_hash: bytes = b""

    @property
    def bot(self) -> bool:
        """Whether the caller is a bot."""
        return self.kind is _BOT

    @property
    def signed_in(self) -> bool:
        """Whether the caller is authenticated."""
        return self.kind is not None


ANONYMOUS = Actor(kind=None, user_id=NO_USER)

_owners = users.alias("owners")

_select_token = Query(
    lambda: (
        select(
            tokens.c.kind,
            tokens.c.user_id,
            tokens.c.application_id,
            tokens.c.scopes,
            tokens.c.expires_at,
            or_(users.c.deleted, users.c.disabled, func.coalesce(applications.c.disabled, False)).label("closed"),
            users.c.mfa_enabled,
            applications.c.flags,
            _owners.c.mfa_enabled.label("owner_mfa"),
        )
        .select_from(
            tokens.join(users, users.c.id == tokens.c.user_id)
            .outerjoin(applications, applications.c.id == tokens.c.application_id)
            .outerjoin(_owners, _owners.c.id == applications.c.owner_id)
        )
        .where(tokens.c.hash == bindparam("hash"))
    ),
    key=("hash",),
)

_select_operator_token = Query(
    lambda: (
        select(
            operator_tokens.c.user_id,
            operator_tokens.c.permissions,
            operator_tokens.c.expires_at,
            or_(users.c.deleted, users.c.disabled, users.c.suspended),
            users.c.mfa_enabled,
        )
        .select_from(operator_tokens.join(users, users.c.id == operator_tokens.c.user_id))
        .where(operator_tokens.c.hash == bindparam("hash"))
    )
)

_KIND_BY_SCHEME = {"bot": TokenKind.BOT, "bearer": TokenKind.BEARER, "operator": TokenKind.OPERATOR}


_MAX_CACHED = 20_000
_CACHE_MS = 1_000
_MAX_HEADER_LENGTH = 256
"""Longer headers are not cached. `authenticate` ignores spaces around a token; here each spelling is another key."""


class ActorCache:
    """Caches the actors of Authorization headers for a second, if no other process changes tokens.

    A commit of this process to tokens, users or applications clears the cache before the response is sent, so that a
    revoked token is refused from the next request on. Changes made with another database client take effect within a
    second.
    """

    def __init__(self, database: Database) -> None:
        self._actors: Cache[str, tuple[Actor, int]] = Cache(_MAX_CACHED)
        self._actors.watch(database, tokens.name, users.name, applications.name)

    def get(self, header: str) -> Actor | None:
        """The cached actor of a header; None if there is none or it has expired."""
        entry = self._actors.get(header)
        return entry[0] if entry is not None and entry[1] > CLOCK.now_ms() else None

    def put(self, header: str, actor: Actor) -> None:
        """Cache an actor that was just read."""
        if len(header) <= _MAX_HEADER_LENGTH:
            self._actors.keep(header, (actor, CLOCK.now_ms() + _CACHE_MS))


async def authenticate(reader: Reader, header: str | None) -> Actor:
    """The actor of an Authorization header; ANONYMOUS without one.

    The header is `Bot TOKEN`, `Bearer TOKEN`, `Operator TOKEN`, or a session token alone. Raises Refusal: 401 for any
    other header and for an invalid token.
    """
    if header is None:
        return ANONYMOUS
    scheme, _, token = header.partition(" ")
    kind = TokenKind.SESSION
    if token:
        kind = _KIND_BY_SCHEME.get(scheme.lower(), TokenKind.REFRESH)
    else:
        token = scheme
    if kind is TokenKind.OPERATOR:
        actor = await _actor_of_operator_token(reader, token.strip())
    else:
        actor = await actor_of_token(reader, token.strip())
    if actor is None or actor.kind is not kind:
        raise Refusal(errors.NOT_AUTHENTICATED)
    return actor


async def actor_of_token(reader: Reader, token: str) -> Actor | None:
    """The actor of a token; None if it is unknown, expired, revoked or a refresh token."""
    if not token:
        return None
    digest = hash_token(token)
    row = await reader.one(_select_token, hash=digest)
    if row is None:
        return None
    kind, user_id, application_id, scopes, expires_at, closed, mfa, flags, owner_mfa = row
    if closed or kind == TokenKind.REFRESH or (expires_at is not None and expires_at <= Timestamp.now()):
        return None
    kind = TokenKind(kind)
    return Actor(
        kind=kind,
        user_id=UserId(Snowflake(user_id)),
        application_id=None if application_id is None else ApplicationId(Snowflake(application_id)),
        application_flags=flags or 0,
        scopes=frozenset(scopes.split()) if scopes else frozenset(),
        mfa=bool(owner_mfa if kind is TokenKind.BOT else mfa),
        token_hash=digest,
    )


async def _actor_of_operator_token(reader: Reader, token: str) -> Actor | None:
    """The actor of an operator's token, whose `scopes` are its permissions; None if it is unknown or expired."""
    digest = hash_token(token)
    row = await reader.one(_select_operator_token, hash=digest)
    if row is None:
        return None
    user_id, permissions, expires_at, closed, mfa = row
    if closed or expires_at <= Timestamp.now():
        return None
    return Actor(
        kind=TokenKind.OPERATOR,
        user_id=UserId(Snowflake(user_id)),
        scopes=frozenset(permissions.split()),
        mfa=bool(mfa),
        token_hash=digest,
    )
