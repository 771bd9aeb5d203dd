"""From the Authorization header to an Actor."""

from enum import IntEnum

from msgspec import Struct
from sqlalchemy import bindparam, select

from moothall.kernel.secrets import hash_token
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, Snowflake, UserId, system_clock
from moothall.objects.wire import Timestamp
from moothall.storage.database import Database, Query, Reader
from moothall.storage.schema import applications, tokens, users


class TokenKind(IntEnum):
    """What a stored token lets in."""

    SESSION = 1
    """A person's login."""
    BOT = 2
    BEARER = 3
    """An OAuth2 access token."""
    REFRESH = 4
    """An OAuth2 refresh token: opens no row."""


class Actor(Struct, frozen=True):
    """Who makes a request."""

    kind: TokenKind | None
    """None: nobody, on a row that lets anybody in."""
    user_id: UserId
    """0 for nobody."""
    application_id: ApplicationId | None = None
    """The bot's own application, or the one that an access token was given to."""
    application_flags: int = 0
    scopes: frozenset[str] = frozenset()
    mfa: bool = False
    """Whether two-factor authentication stands behind it; for a bot its owner's."""
    token_hash: bytes = b""

    @property
    def bot(self) -> bool:
        """Whether it is a bot user."""
        return self.kind is TokenKind.BOT

    @property
    def signed_in(self) -> bool:
        """Whether it is anybody at all."""
        return self.kind is not None


ANONYMOUS = Actor(kind=None, user_id=UserId(Snowflake(0)))

_owners = users.alias("owners")

_select_token = Query(
    select(
        tokens.c.kind,
        tokens.c.user_id,
        tokens.c.application_id,
        tokens.c.scopes,
        tokens.c.expires_at,
        users.c.deleted,
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
)

_KIND_BY_SCHEME = {"bot": TokenKind.BOT, "bearer": TokenKind.BEARER}


_MAX_REMEMBERED = 20_000
_REMEMBER_MS = 1_000
_LONGEST_HEADER = 256
"""Blanks around a token do not matter to `authenticate`; here each spelling would be kept for itself."""


class Remembered:
    """Actors of tokens seen in the last second, where no other process changes tokens.

    Whatever this process commits about tokens, users or applications empties it before anyone is
    answered, so that a revoked token is refused from the very next request on. The second bounds
    what somebody at the database's own prompt can do unnoticed.
    """

    def __init__(self, database: Database) -> None:
        self._actors: dict[str, tuple[Actor, int]] = {}
        alone = [database.watch(table.name, self._actors.clear) for table in (tokens, users, applications)]
        self._on = all(alone)

    def get(self, header: str) -> Actor | None:
        """The actor of a header, if that is known for sure."""
        found = self._actors.get(header)
        return found[0] if found is not None and found[1] > system_clock() else None

    def put(self, header: str, actor: Actor) -> None:
        """Remember an actor that was just read."""
        if self._on and len(header) <= _LONGEST_HEADER:
            if len(self._actors) >= _MAX_REMEMBERED:
                self._actors.clear()
            self._actors[header] = (actor, system_clock() + _REMEMBER_MS)


async def authenticate(reader: Reader, header: str | None) -> Actor:
    """The actor of an Authorization header; nobody if there is none.

    `Bot TOKEN`, `Bearer TOKEN`, or a person's session token bare. Raises Refusal 401 for anything
    that is given but not valid.
    """
    if header is None:
        return ANONYMOUS
    scheme, _, token = header.partition(" ")
    kind = TokenKind.SESSION
    if token:
        kind = _KIND_BY_SCHEME.get(scheme.lower(), TokenKind.REFRESH)
    else:
        token = scheme
    actor = await actor_of_token(reader, token.strip())
    if actor is None or actor.kind is not kind:
        raise Refusal(errors.NOT_AUTHENTICATED)
    return actor


async def actor_of_token(reader: Reader, token: str) -> Actor | None:
    """Whom a token belongs to; None if it is unknown, expired, revoked or a refresh token."""
    if not token:
        return None
    digest = hash_token(token)
    row = await reader.one(_select_token, hash=digest)
    if row is None:
        return None
    kind, user_id, application_id, scopes, expires_at, deleted, mfa, flags, owner_mfa = row
    if deleted or kind == TokenKind.REFRESH or (expires_at is not None and expires_at <= Timestamp.now()):
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
