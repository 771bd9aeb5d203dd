"""Operations of the operator: suspend an account, end its suspension, delete it."""

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.objects.errors import refuse_field
from moothall.objects.wire import Timestamp
from moothall.resources.account_deletion import queries
from moothall.resources.account_deletion.operations.deletion import DeleteAccount
from moothall.resources.user.account_mail.queries import delete_links
from moothall.resources.user.auth_session.queries import delete_sessions
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.factor.queries import delete_tickets
from moothall.resources.user.queries import lock_user, update_user
from moothall.storage.rows import UserRow

_DAY_MS = 86_400_000


async def suspend_account(ctx: Context, row: UserRow) -> None:
    """Suspend an account: end its logins, authorizations of applications and links; no new login is possible.

    Its bots keep their tokens. Suspending it again ends what is left.
    """
    await lock_user(ctx.tx, row.id)
    await update_user(ctx.tx, row.id, suspended=True)
    await _end_access(ctx, row)
    row.suspended = True


async def end_suspension(ctx: Context, row: UserRow) -> None:
    """Let a user log in again: end the suspension of an account, and call off its deletion."""
    await lock_user(ctx.tx, row.id)
    await update_user(ctx.tx, row.id, suspended=False, disabled=False, deletes_at=None)
    row.suspended, row.disabled, row.deletes_at = False, False, None


async def delete_account(ctx: Context, row: UserRow, *, days: int) -> None:
    """Suspend an account, and enqueue its deletion in so many days; until then `end_suspension` restores it.

    Its guilds go to their oldest members. Raises Refusal: 50035 for the owner of a team with other members, who would
    lose the team's applications.
    """
    if await queries.owns_shared_team(ctx.tx, row.id):
        refuse_field("user", "OWNS_TEAMS", f"{row.username} owns a team that has other members.")
    await lock_user(ctx.tx, row.id)
    deletes_at = Timestamp(ctx.now + days * _DAY_MS)
    await update_user(ctx.tx, row.id, suspended=True, disabled=True, deletes_at=deletes_at)
    await _end_access(ctx, row)
    await enqueue(ctx, DeleteAccount(user_id=row.id, deletes_at=deletes_at), at=deletes_at)
    row.suspended, row.disabled, row.deletes_at = True, True, deletes_at


async def _end_access(ctx: Context, row: UserRow) -> None:
    await queries.delete_all_tokens(ctx.tx, row.id)
    await delete_sessions(ctx.tx, row.id)
    await delete_links(ctx.tx, row.id)
    await delete_tickets(ctx.tx, row.id)
    ctx.emit(SessionsClose(user_id=row.id))
