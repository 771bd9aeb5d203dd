"""The caller's logins over HTTP (the usual clients' paths): listing and ending them."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api import unit_of_work
from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import get, post
from moothall.objects.wire import Timestamp
from moothall.resources.user.auth_session import operations, queries
from moothall.resources.user.auth_session.operations import id_hash_of
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.factor.proof import require_password, require_password_or_proof

_IdHash = Annotated[str, Meta(max_length=64)]


class ClientInfo(Struct, frozen=True, kw_only=True):
    """The client of a login, as it describes itself."""

    os: str | None
    platform: str | None
    """The browser or program."""
    location: str | None
    """The network address, which the client cannot choose."""


class AuthSession(Struct, frozen=True, kw_only=True):
    """A login. The time of its last use is accurate to an hour."""

    id_hash: str
    approx_last_used_time: Timestamp
    client_info: ClientInfo
    is_current: bool
    """Whether it makes this request."""


class AuthSessions(Struct, frozen=True, kw_only=True):
    """A user's logins."""

    user_sessions: list[AuthSession]


class EndSessions(Struct, frozen=True, kw_only=True):
    """The logins to end. Needs the password or a fresh proof, so that a stolen session cannot log its owner out."""

    session_id_hashes: Annotated[list[_IdHash], Meta(min_length=1, max_length=queries.MAX_LISTED)]
    password: str | UnsetType = UNSET


@get("/auth/sessions", permission=PERSON)
async def list_auth_sessions(ctx: Context) -> AuthSessions:
    """List the caller's logins, the last used first."""
    return AuthSessions(user_sessions=await read_sessions(ctx))


@post("/auth/sessions/logout", permission=PERSON, fires=(SessionsClose,), status=204, writes=False)
async def log_out_auth_sessions(ctx: Context, body: EndSessions) -> None:
    """End logins of the caller, and close their gateway sessions."""
    await (require_password_or_proof(ctx, UNSET) if body.password is UNSET else require_password(ctx, body.password))

    async def work(inner: Context) -> None:
        await operations.end_sessions(inner, set(body.session_id_hashes))

    await unit_of_work.run(ctx.services, ctx.actor, work, fires=(SessionsClose,))


async def read_sessions(ctx: Context) -> list[AuthSession]:
    """The caller's logins, the last used first."""
    return [
        AuthSession(
            id_hash=id_hash_of(row.token_hash),
            approx_last_used_time=row.last_used_at,
            client_info=ClientInfo(os=row.os, platform=row.platform, location=row.network),
            is_current=row.token_hash == ctx.actor.token_hash,
        )
        for row in await queries.select_live(ctx.tx, ctx.actor.user_id, ctx.now)
    ]
