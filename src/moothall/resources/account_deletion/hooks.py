"""Accounts whose address is not verified in time are deleted."""

from typing import Final

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp
from moothall.resources.account_deletion.operations.deletion import DeleteAccount
from moothall.resources.user.account.operations import PENDING_CREATED
from moothall.resources.user.queries import update_user

_PENDING_MS: Final = 7 * 86_400_000


async def _delete_unless_verified(ctx: Context, user_id: UserId) -> None:
    """Enqueue the deletion of a new account. Verifying its address clears the moment, which calls it off."""
    deletes_at = Timestamp(ctx.now + _PENDING_MS)
    await update_user(ctx.tx, user_id, deletes_at=deletes_at)
    await enqueue(ctx, DeleteAccount(user_id=user_id, deletes_at=deletes_at), at=deletes_at)


PENDING_CREATED.register(_delete_unless_verified)
