"""Operations of operators on applications. Each is a row of their log."""

from functools import partial

from moothall.api import unit_of_work
from moothall.api.context import Context
from moothall.api.operators import OperatorAuthority, may_act
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, UserId
from moothall.objects.operator import OperatorPermission
from moothall.resources.application import operations as applications
from moothall.resources.application.queries import ApplicationRow, lock_application, owns_guild, update_application
from moothall.resources.operator.operations import check_may_act_on, check_rank
from moothall.resources.operator_log.operations import record_act
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.factor.proof import require_proof


async def set_disabled(ctx: Context, application_id: ApplicationId, *, disabled: bool) -> None:
    """Disable an application, which ends the sessions of its bot, or enable it again with all its tokens.

    While it is disabled its tokens, those of its users and its webhooks' are refused, no user can use its commands or
    authorize it, and it receives no interactions and webhook events. Without a difference nothing is recorded.
    Raises Refusal: 404/10002, as `check_may_act_on` for the application of an operator.
    """
    row = await lock_application(ctx.tx, application_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    await check_may_act_on(ctx, row.owner_id)
    if row.disabled is disabled:
        return
    await update_application(ctx.tx, application_id, disabled=disabled)
    if disabled:
        ctx.emit(SessionsClose(user_id=_bot_of(row)))
    act = "application.disable" if disabled else "application.enable"
    await record_act(ctx, act, application_id, changes={"disabled": (not disabled, disabled)})


async def delete_application(ctx: Context, application_id: ApplicationId) -> None:
    """Delete an application with its bot, which leaves every guild. Call it outside a transaction.

    It is disabled first, so that a deletion that is interrupted leaves nothing that can be used; a second call
    completes it. Raises Refusal: 404/10002, 400/50055 while the bot owns a guild, as `check_may_act_on` for the
    application of an operator.
    """
    if ctx.find_resource(OperatorAuthority) is not None:
        await require_proof(ctx)
    row = await unit_of_work.run(
        ctx.services, ctx.actor, partial(_begin_deletion, application_id), fires=(SessionsClose,), reason=ctx.reason
    )
    await applications.delete_application(ctx, row)


async def _begin_deletion(application_id: ApplicationId, ctx: Context) -> ApplicationRow:
    if ctx.actor.signed_in:
        # Meanwhile the operator may have lost the permission.
        await may_act(OperatorPermission.APPLICATIONS).check(ctx, {})
    row = await lock_application(ctx.tx, application_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    await check_rank(ctx, row.owner_id)
    if await owns_guild(ctx.tx, _bot_of(row)):
        raise Refusal(errors.INVALID_GUILD)
    await update_application(ctx.tx, application_id, disabled=True)
    ctx.emit(SessionsClose(user_id=_bot_of(row)))
    await record_act(ctx, "application.delete", application_id, changes={"name": (row.name, None)})
    return row


def _bot_of(row: ApplicationRow) -> UserId:
    return UserId(row.id) if row.bot_user_id is None else row.bot_user_id
