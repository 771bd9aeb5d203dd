"""Operations: disable the caller's account, and schedule its deletion."""

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.wire import Timestamp
from moothall.resources.account_deletion import queries
from moothall.resources.account_deletion.operations.deletion import DeleteAccount
from moothall.resources.user.auth_session.queries import delete_sessions
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.queries import lock_user, update_user

_DAY_MS = 86_400_000


async def disable_account(ctx: Context) -> None:
    """Disable the caller's account.

    Raises Refusal: 400/40015 for the owner of a guild that has other members.
    """
    if await queries.owns_shared_guild(ctx.tx, ctx.actor.user_id):
        raise Refusal(errors.OWNS_GUILDS_ON_DISABLING)
    await _close(ctx, None)


async def schedule_deletion(ctx: Context) -> None:
    """Disable the caller's account, and enqueue its deletion in `account_deletion_days`.

    Raises Refusal: 400/40011 for the owner of a guild that has other members, 400 for the owner of such a team.
    """
    user_id = ctx.actor.user_id
    if await queries.owns_shared_guild(ctx.tx, user_id):
        raise Refusal(errors.OWNS_GUILDS_ON_DELETION)
    if await queries.owns_shared_team(ctx.tx, user_id):
        raise Refusal(
            errors.GENERAL_ERROR,
            message="You must transfer ownership of any owned teams before deleting your account",
        )
    deletes_at = Timestamp(ctx.now + ctx.services.limits.account_deletion_days * _DAY_MS)
    await _close(ctx, deletes_at)
    await enqueue(ctx, DeleteAccount(user_id=user_id, deletes_at=deletes_at), at=deletes_at)


async def _close(ctx: Context, deletes_at: Timestamp | None) -> None:
    """Disable the caller's account, and delete every token but those of the caller's bots."""
    user_id = ctx.actor.user_id
    await lock_user(ctx.tx, user_id)
    await update_user(ctx.tx, user_id, disabled=True, deletes_at=deletes_at)
    await queries.delete_all_tokens(ctx.tx, user_id)
    await delete_sessions(ctx.tx, user_id)
    ctx.emit(SessionsClose(user_id=user_id))
