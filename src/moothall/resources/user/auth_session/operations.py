"""Login operations: begin and end."""

import hashlib
from collections.abc import Collection, Sequence

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp
from moothall.resources.user.auth_session import queries
from moothall.resources.user.auth_session.client import LoginClient
from moothall.resources.user.auth_session.queries import ExpiredRow
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.password.queries import upsert_known
from moothall.resources.user.queries import delete_tokens, insert_token
from moothall.runtime.secrets import hash_token, new_account_token


def id_hash_of(digest: bytes) -> str:
    """The public id of a login in hexadecimal, derived from the hash of its token."""
    return hashlib.sha256(b"auth session " + digest).hexdigest()


async def begin_session(ctx: Context, user_id: UserId, client: LoginClient, *, seconds: int | None) -> str:
    """Log a user in for `seconds` or without expiry, but for `session_max_days` at most; return the token.

    The client's network becomes known: wrong passwords from other networks do not lock it out.
    """
    token = new_account_token(user_id)
    digest = hash_token(token)
    max_seconds = ctx.services.limits.session_max_days * 86_400 or None
    seconds = min((each for each in (seconds, max_seconds) if each is not None), default=None)
    ends = None if seconds is None else Timestamp(ctx.now + seconds * 1000)
    await insert_token(ctx.tx, digest, TokenKind.SESSION, user_id, ctx.now, expires_at=ends)
    await queries.insert_session(ctx.tx, digest, user_id, ctx.now, client)
    if client.network is not None:
        await upsert_known(ctx.tx, user_id, client.network, ctx.now)
    return token


async def end_sessions(ctx: Context, id_hashes: Collection[str]) -> None:
    """End logins of the caller, and close their gateway sessions. Unknown ids are ignored."""
    rows = await queries.select_live(ctx.tx, ctx.actor.user_id, ctx.now)
    await _end(ctx, [row.token_hash for row in rows if id_hash_of(row.token_hash) in id_hashes])


async def end_other_sessions(ctx: Context) -> None:
    """End every login of the caller except the one that makes the request."""
    # More logins than one query lists end in several rounds.
    while digests := [
        row.token_hash
        for row in await queries.select_live(ctx.tx, ctx.actor.user_id, ctx.now)
        if row.token_hash != ctx.actor.token_hash
    ]:
        await _end(ctx, digests)


async def delete_tokens_of_kind(ctx: Context, user_id: UserId, kind: TokenKind) -> None:
    """Delete a user's tokens of a kind, and close all their gateway sessions."""
    await delete_tokens(ctx.tx, user_id, kind)
    if kind is TokenKind.SESSION:
        await queries.delete_sessions(ctx.tx, user_id)
    ctx.emit(SessionsClose(user_id=user_id))


async def _end(ctx: Context, digests: list[bytes]) -> None:
    await queries.end_tokens(ctx.tx, digests)
    for digest in digests:
        ctx.emit(SessionsClose(user_id=ctx.actor.user_id, token_hash=digest.hex()))


async def end_tokens(rows: Sequence[ExpiredRow], ctx: Context) -> None:
    """Delete expired and unused tokens, and close the gateway sessions of logins among them."""
    await queries.end_tokens(ctx.tx, [row.hash for row in rows])
    for row in rows:
        if row.kind in {None, TokenKind.SESSION}:
            ctx.emit(SessionsClose(user_id=row.user_id, token_hash=row.hash.hex()))
