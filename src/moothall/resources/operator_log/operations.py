"""The operation that writes down what an operator does."""

import getpass
import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import structs

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.operator_log import queries
from moothall.resources.operator_log.chain import START, hash_of
from moothall.resources.operator_log.queries import LogRow

log = logging.getLogger("moothall.operators")

SETUP: Final = "setup"
ACCOUNT: Final = "account"
COMMAND: Final = "command"
_ORIGINS: Final = {TokenKind.SESSION: "session", TokenKind.OPERATOR: "token", None: COMMAND}


async def record_act(
    ctx: Context,
    act: str,
    target_id: Snowflake | None = None,
    *,
    changes: Mapping[str, tuple[Any, Any]] | None = None,
    by_setup: UserId | None = None,
    by_account: UserId | None = None,
) -> None:
    """Add a row to the log of operators: who does what to what, old and new values by name, the request's reason.

    The actor is the operator of the request, without one the system's user who runs a command; `by_setup` is the
    account that the link for the first operator has made, `by_account` one whose user does it to their own. Secrets are
    no values. Each act but those of the setup is also a line of the server's log.
    """
    user_id = by_setup or by_account or ctx.actor.user_id or None
    if user_id is None:
        actor, origin = _system_user(), COMMAND
    else:
        actor = await queries.select_username(ctx.tx, user_id) or str(int(user_id))
        origin = SETUP if by_setup else ACCOUNT if by_account else _ORIGINS[ctx.actor.kind]
    await queries.lock_log(ctx.tx, ctx.now)
    last = await queries.select_last(ctx.tx)
    row = LogRow(
        number=Snowflake(1 if last is None else int(last.number) + 1),
        created_at=Timestamp(ctx.now),
        user_id=user_id,
        actor=actor,
        origin=origin,
        act=act,
        target_id=target_id,
        changes=msgspec.json.encode(changes or {}, order="sorted").decode(),
        reason=ctx.reason,
        hash=b"",
    )
    row = structs.replace(row, hash=hash_of(START if last is None else last.hash, row))
    await queries.insert_row(ctx.tx, **structs.asdict(row))
    if origin == SETUP:
        return
    # The chain's head in the server's log, which may be kept elsewhere, shows later if rows at its end are missing.
    fields = {"act": act, "operator": actor, "number": int(row.number), "hash": row.hash.hex()}
    ctx.tx.on_commit(lambda: log.info("an operator has acted", extra=fields))


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
