"""Disabling and deleting accounts over HTTP (resources: user; the paths of the usual clients)."""

from msgspec import UNSET, Struct, UnsetType

from moothall.api import unit_of_work
from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import post
from moothall.resources.account_deletion import operations
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.factor.proof import require_password_or_proof


class CloseAccount(Struct, frozen=True):
    """The caller's password; a fresh proof replaces it, and is needed with a second factor."""

    password: str | UnsetType | None = UNSET


# Verifying a password takes tens of milliseconds on a thread, so these endpoints open their transaction afterwards.


@post("/users/@me/disable", permission=PERSON, fires=(SessionsClose,), status=204, writes=False)
async def disable_user_account(ctx: Context, body: CloseAccount) -> None:
    """Disable the caller's account, until a login with `undelete`. Ends every login."""
    await require_password_or_proof(ctx, body.password)
    await unit_of_work.run(ctx.services, ctx.actor, operations.disable_account, fires=(SessionsClose,))


@post("/users/@me/delete", permission=PERSON, fires=(SessionsClose,), status=204, writes=False)
async def delete_user_account(ctx: Context, body: CloseAccount) -> None:
    """Delete the caller's account after `account_deletion_days`; until then a login with `undelete` restores it."""
    await require_password_or_proof(ctx, body.password)
    await unit_of_work.run(ctx.services, ctx.actor, operations.schedule_deletion, fires=(SessionsClose,))
